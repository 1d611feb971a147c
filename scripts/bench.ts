/** `npm run bench -- NAME [ARGUMENTS]`: runs one benchmark of test/bench; without a name it lists them. */
import { spawn } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'

const [name, ...args] = process.argv.slice(2)
/** Modules without a benchmark of their own are excluded; each benchmark describes its use. */
const benches = readdirSync('test/bench').filter(
  file => file.endsWith('.ts') && !/^(rig|sink|load|subscriptions-seed)\.ts$/.test(file),
)

if (name && benches.includes(`${name}.ts`)) {
  spawn(process.execPath, [`test/bench/${name}.ts`, ...args], { stdio: 'inherit' }).once('exit', code =>
    process.exit(code ?? 1),
  )
} else {
  const line = (file: string) =>
    `  ${file.replace('.ts', '').padEnd(16)} ${readFileSync(`test/bench/${file}`, 'utf8')
      .split('\n')
      .find(text => /[a-z]{3}/.test(text))
      ?.replace(/^[/* ]+|[ */]+$/g, '')}`
  process.stdout.write(`npm run bench -- NAME [ARGUMENTS], with one of:\n${benches.map(line).join('\n')}\n`)
  process.exit(name ? 1 : 0)
}

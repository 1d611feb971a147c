/** `npm run check`: types, lint, import boundaries, dead code, ADRs, generated files. Runs two checks at a time and prints failures. */
import { spawn } from 'node:child_process'

interface Check {
  name: string
  command: string[]
  /** Returns a reason why an exit code of 0 is still a failure. */
  failure?: (output: string) => string | undefined
}

const bin = (name: string, ...args: string[]) => [process.execPath, `node_modules/${name}`, ...args]

const checks: Check[] = [
  { name: 'types', command: bin('typescript/bin/tsc', '--noEmit') },
  { name: 'types of the panel', command: bin('typescript/bin/tsc', '--noEmit', '-p', 'services/panel/tsconfig.json') },
  {
    name: 'types of the client',
    command: bin('typescript/bin/tsc', '--noEmit', '-p', 'clients/typescript/tsconfig.json'),
  },
  { name: 'lint', command: bin('@biomejs/biome/bin/biome', 'check', '--error-on-warnings', '.') },
  {
    name: 'import boundaries',
    command: bin(
      'dependency-cruiser/bin/dependency-cruiser.mjs',
      '--config',
      '.dependency-cruiser.cjs',
      'services',
      'operator',
      'scripts/admin.ts',
    ),
    // With an unsupported compiler the tool sees no module and exits with 0.
    failure: output =>
      Number(/\((\d+) modules/.exec(output)?.[1] ?? 0) < 100 ? 'fewer than 100 modules were seen' : undefined,
  },
  { name: 'dead code', command: bin('knip/bin/knip.js') },
  { name: 'decision records', command: [process.execPath, 'scripts/adr.ts'] },
  { name: 'generated documents are current', command: [process.execPath, 'scripts/docs.ts', '--check'] },
  { name: 'custom resource definitions are current', command: [process.execPath, 'scripts/crds.ts', '--check'] },
  { name: 'derived chart files are current', command: [process.execPath, 'scripts/chart.ts', '--check'] },
  { name: 'the base for Kustomize is current', command: [process.execPath, 'scripts/kustomize.ts', '--check'] },
  { name: 'the generated client is current', command: [process.execPath, 'scripts/client.ts', '--check'] },
]

let failed = 0
const queue = [...checks]
await Promise.all([work(), work()])
process.stdout.write(
  failed === 0 ? `check: all ${checks.length} passed\n` : `check: ${failed} of ${checks.length} failed\n`,
)
process.exit(failed === 0 ? 0 : 1)

async function work(): Promise<void> {
  for (let check = queue.shift(); check; check = queue.shift()) {
    const started = performance.now()
    const { code, output } = await execute(check.command)
    const failure = code === 0 ? check.failure?.(output) : undefined
    const ok = code === 0 && failure === undefined
    if (!ok) failed++
    const seconds = ((performance.now() - started) / 1000).toFixed(1)
    process.stdout.write(
      `${ok ? 'ok  ' : 'FAIL'} ${check.name} (${seconds} s)\n${ok ? '' : `${output}${failure ?? ''}\n`}`,
    )
  }
}

function execute([program = '', ...args]: string[]): Promise<{ code: number | null; output: string }> {
  return new Promise(resolve => {
    const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'] })
    let output = ''
    const collect = (chunk: Buffer) => {
      output += chunk
    }
    child.stdout.on('data', collect)
    child.stderr.on('data', collect)
    child.on('close', code => resolve({ code, output }))
  })
}

/** Programs of a release: output, failures and dry runs. */
import { expect, test } from 'vitest'
import { createRunner } from './run.ts'

function runner(dryRun = false) {
  const lines: string[] = []
  return { lines, ...createRunner(dryRun, line => lines.push(line)) }
}
const node = (script: string) => [process.execPath, ['-e', script]] as const

test('returns the output and prints the command as a shell would take it', async () => {
  const { run, lines } = runner()
  expect(await run(...node("process.stdout.write('it\\'s')"))).toBe("it's")
  expect(lines).toEqual([String.raw`run: ${process.execPath} -e 'process.stdout.write('\''it\'\''s'\'')'`])
})

test('gives input, variables and folder to the program', async () => {
  const script = "process.stdin.on('data', d => console.log(d + process.env.X + process.cwd()))"
  expect(await runner().run(...node(script), { input: 'in ', env: { X: 'x ' }, cwd: '/' })).toBe('in x /\n')
})

test('a failure is an error with exit code and messages', async () => {
  await expect(runner().run(...node("console.error('no disk'); process.exit(3)"))).rejects.toThrow(
    /failed with exit code 3:\nno disk/,
  )
})

test('a failure may be an answer', async () => {
  expect(await runner().attempt(...node('process.exit(4)'))).toEqual({ code: 4, stdout: '', stderr: '' })
})

test('a missing program is named', async () => {
  await expect(runner().run('no-such-program', [])).rejects.toThrow('there is no program "no-such-program" on PATH')
})

test('a dry run executes only what reads', async () => {
  const { run, attempt, lines } = runner(true)
  expect(await run(...node("process.stdout.write('written')"))).toBe('')
  expect(await run(...node("process.stdout.write('read')"), { reads: true })).toBe('read')
  expect(await attempt(...node('process.exit(0)'))).toEqual({ code: 1, stdout: '', stderr: '' })
  expect(lines.map(line => line.split(':')[0])).toEqual(['would run', 'run'])
})

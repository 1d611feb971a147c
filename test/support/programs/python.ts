/** Python, whose mail library is a second opinion on ours. */
import { execFile } from 'node:child_process'
import { program } from './programs.ts'

/** Runs a script with this on its standard input; answers what it prints. Rejects when it fails. */
export async function runPython(script: string, input: string | Buffer, python = program('python3')): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = execFile(python, ['-c', script], { timeout: 60_000 }, (error, stdout) =>
      error ? reject(error) : resolve(stdout),
    )
    child.stdin?.on('error', () => undefined).end(input)
  })
}

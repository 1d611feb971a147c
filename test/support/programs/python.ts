/** Python, whose mail library parses messages independently of ours. */
import { execFile } from 'node:child_process'
import { program } from './programs.ts'

/** Runs a script with this standard input and returns its output. Rejects if it fails. */
export async function runPython(script: string, input: string | Buffer, python = program('python3')): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = execFile(python, ['-c', script], { timeout: 60_000 }, (error, stdout) =>
      error ? reject(error) : resolve(stdout),
    )
    child.stdin?.on('error', () => undefined).end(input)
  })
}

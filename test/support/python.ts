/** Python, whose mail library is a second opinion on ours. */
import { execFile } from 'node:child_process'
import { MissingProgram } from './missing-program.ts'

/** Runs a script with this on its standard input; answers what it prints. Rejects when it fails. */
export function runPython(script: string, input: string | Buffer, program = 'python3'): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = execFile(program, ['-c', script], { timeout: 60_000 }, (error, stdout) => {
      if (error && 'code' in error && error.code === 'ENOENT')
        reject(new MissingProgram('Python is not installed', 'python3'))
      else if (error) reject(error)
      else resolve(stdout)
    })
    child.stdin?.on('error', () => undefined).end(input)
  })
}

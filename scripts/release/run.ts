/** Programs of a release: run with their output shown, or only printed in a dry run. */
import { spawn } from 'node:child_process'
import { ReleaseError } from './release-error.ts'

/** How a program is run. */
export interface RunOptions {
  cwd?: string
  /** Variables besides those of this process. */
  env?: Readonly<Record<string, string>>
  /** Text for the standard input. */
  input?: string
  /** The program only reads: a dry run executes it as well. */
  reads?: boolean
  /** Standard error is returned as well, after standard output. */
  messages?: boolean
}

/** Result of a program that may fail. */
export interface RunResult {
  code: number
  stdout: string
  stderr: string
}

/** Runs programs. */
export interface Runner {
  readonly dryRun: boolean
  /** Standard output of a program. Throws {@link ReleaseError} with its messages if it fails. */
  run(program: string, args: readonly string[], options?: RunOptions): Promise<string>
  /** The same for a program whose failure is an answer; a dry run does not execute it and returns code 1. */
  attempt(program: string, args: readonly string[], options?: RunOptions): Promise<RunResult>
}

/** Programs of this machine. `print` gets each command before it is run. `env`: variables for all of them. */
export function createRunner(
  dryRun: boolean,
  print: (line: string) => void,
  env: Readonly<Record<string, string>> = {},
): Runner {
  const skipped = (options: RunOptions) => dryRun && !options.reads
  return {
    dryRun,
    async run(program, args, options = {}) {
      print(`${skipped(options) ? 'would run' : 'run'}: ${commandLine(program, args)}`)
      if (skipped(options)) return ''
      const { code, stdout, stderr } = await execute(program, args, { ...options, env: { ...env, ...options.env } })
      if (code !== 0)
        throw new ReleaseError(`${commandLine(program, args)} failed with exit code ${code}:\n${stderr || stdout}`)
      return options.messages ? `${stdout}${stderr}` : stdout
    },
    async attempt(program, args, options = {}) {
      if (skipped(options)) return { code: 1, stdout: '', stderr: '' }
      return execute(program, args, { ...options, env: { ...env, ...options.env } })
    },
  }
}

/** As it would be typed into a shell. */
function commandLine(program: string, args: readonly string[]): string {
  return [program, ...args]
    .map(word => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`))
    .join(' ')
}

function execute(program: string, args: readonly string[], options: RunOptions): Promise<RunResult> {
  return new Promise((resolve, reject) => {
    const env = { ...process.env, ...options.env }
    const child = spawn(program, args, { cwd: options.cwd, env, stdio: ['pipe', 'pipe', 'pipe'] })
    let stdout = ''
    let stderr = ''
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      stdout += text
    })
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      stderr += text
    })
    child.on('error', (error: NodeJS.ErrnoException) =>
      reject(
        error.code === 'ENOENT'
          ? new ReleaseError(
              `there is no program "${program}" on PATH; "npm run release -- programs" installs most of them`,
            )
          : error,
      ),
    )
    child.on('close', code => resolve({ code: code ?? 1, stdout, stderr }))
    child.stdin.on('error', () => undefined) // a program that does not read its input
    child.stdin.end(options.input ?? '')
  })
}

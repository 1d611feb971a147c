/** The command line as a child process. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { until } from '../time/until.ts'

const MAIN = join(import.meta.dirname, '../../../clients/typescript/src/cli/main.ts')

/** How a process is started; its environment has these variables and PATH only. */
export interface CliOptions {
  env?: Record<string, string>
  stdin?: string
}

/** What a process printed. */
export interface CliResult {
  code: number | null
  stdout: string
  stderr: string
}

/** Runs the command line until it ends. */
export async function runCli(args: readonly string[], options: CliOptions = {}): Promise<CliResult> {
  return startCli(args, options).ended
}

/** Starts the command line. */
export function startCli(args: readonly string[], { env = {}, stdin = '' }: CliOptions = {}) {
  const child: ChildProcess = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', MAIN, ...args], {
    env: { PATH: process.env.PATH ?? '', ...env },
    stdio: 'pipe',
  })
  const result: CliResult = { code: null, stdout: '', stderr: '' }
  child.stdout?.on('data', (chunk: Buffer) => {
    result.stdout += chunk
  })
  child.stderr?.on('data', (chunk: Buffer) => {
    result.stderr += chunk
  })
  child.stdin?.on('error', () => undefined) // it may end before it reads
  child.stdin?.end(stdin)
  const ended = once(child, 'close').then(([code]) => Object.assign(result, { code: code as number | null }))
  return {
    result,
    ended,
    /** Waits until stdout and stderr contain the text. */
    printed: (text: string) => until(() => `${result.stdout}${result.stderr}`.includes(text), 60_000),
    kill: (signal: NodeJS.Signals) => void child.kill(signal),
  }
}

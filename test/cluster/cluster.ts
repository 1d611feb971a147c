/** A real cluster through one program: TEST_CLUSTER names it; its verbs are `up`, `load IMAGE` and `run COMMAND`. */
import { spawn } from 'node:child_process'
import { text } from 'node:stream/consumers'

/** Output and exit code of a command. */
export interface Result {
  code: number | null
  stdout: string
  stderr: string
}

const tool = process.env.TEST_CLUSTER ?? ''

/** Why there is no cluster; undefined if there is one. */
export const noCluster = tool ? undefined : 'TEST_CLUSTER is not set'

/** Runs a program next to the cluster; rejects with its output if it fails. */
export async function host(program: string, args: readonly string[], input = ''): Promise<string> {
  const { code, stdout, stderr } = await execute(program, args, input)
  if (code !== 0) throw new Error(`${program} ${args.join(' ')} ended with ${code}:\n${stderr || stdout}`)
  return stdout
}

/** Runs a verb of the program. */
export function cluster(...args: string[]): Promise<string> {
  return host(tool, args)
}

/** Runs a program with access to the cluster's network and API server. */
export function inside(program: string, args: readonly string[], input = ''): Promise<string> {
  return host(tool, ['run', program, ...args], input)
}

/** Runs it and returns the exit code as well. */
export function tryInside(program: string, args: readonly string[], input = ''): Promise<Result> {
  return execute(tool, ['run', program, ...args], input)
}

/** Starts a program inside that runs until its standard input ends; `end()` returns its output. */
export function startInside(program: string, args: readonly string[]): { end(): Promise<string> } {
  const child = spawn(tool, ['run', program, ...args], { stdio: ['pipe', 'pipe', 'inherit'] })
  const printed = text(child.stdout)
  return {
    end() {
      child.stdin.end()
      return printed
    },
  }
}

/** Runs kubectl. */
export function kubectl(...args: string[]): Promise<string> {
  return inside('kubectl', args)
}

/** Applies a manifest. */
export function apply(manifest: string): Promise<string> {
  return inside('kubectl', ['apply', '-f', '-'], manifest)
}

function execute(program: string, args: readonly string[], input: string): Promise<Result> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { stdio: ['pipe', 'pipe', 'pipe'] })
    let stdout = ''
    let stderr = ''
    child.stdout.on('data', chunk => {
      stdout += chunk
    })
    child.stderr.on('data', chunk => {
      stderr += chunk
    })
    child.once('error', reject)
    child.once('close', code => resolve({ code, stdout, stderr }))
    child.stdin.end(input)
  })
}

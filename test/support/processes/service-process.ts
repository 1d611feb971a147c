/** Services as separate processes, for tests that kill them and benchmarks that measure their CPU time. */
import { type ChildProcess, spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'

/** A running process of a main. */
export interface ServiceProcess {
  pid: number
  /** Log lines until now, parsed. */
  lines: Record<string, unknown>[]
  /** The first past or future line with this message. Rejects if the process ends before it. */
  line(message: string): Promise<Record<string, unknown>>
  kill(signal: NodeJS.Signals): void
  /** Resolves with the exit code, or the signal that ended it. */
  exited: Promise<number | string>
}

/** How a process is started. */
export interface StartOptions {
  /** Flags of Node. */
  flags?: readonly string[]
  /** Folder of a cgroup that the process joins before it starts; mongod and clients of the test stay outside. */
  cgroup?: string | undefined
  /** Folder of another checkout, with its dependencies, whose program is started. */
  tree?: string | undefined
}

/** Starts `services/<name>.ts` with this environment and PATH only. */
export function startService(name: string, env: Record<string, string>, options?: StartOptions): ServiceProcess {
  return startProgram(`services/${name}.ts`, env, options)
}

/** Starts a service as on a machine whose clock is ahead by `aheadMs` (negative: behind). */
export function startServiceWithClock(name: string, aheadMs: number, env: Record<string, string>): ServiceProcess {
  const flags = ['--import', './test/support/wrong-clock.ts']
  return startProgram(`services/${name}.ts`, { ...env, TEST_CLOCK_AHEAD_MS: String(aheadMs) }, { flags })
}

/** Starts a main with this environment and PATH only. */
export function startProgram(path: string, env: Record<string, string>, options: StartOptions = {}): ServiceProcess {
  const { flags = [], cgroup, tree = '.' } = options
  const command = [process.execPath, ...flags, join(tree, path)]
  const joining = ['sh', '-c', 'echo $$ > "$0/cgroup.procs" && exec "$@"', cgroup ?? '']
  const [program = '', ...words] = cgroup ? [...joining, ...command] : command
  const child: ChildProcess = spawn(program, words, {
    env: { PATH: process.env.PATH ?? '', ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const lines: Record<string, unknown>[] = []
  const waiting = new Map<string, PromiseWithResolvers<Record<string, unknown>>>()
  if (child.stdout)
    createInterface(child.stdout).on('line', text => {
      if (!text.startsWith('{')) return // V8's messages when memory is exhausted
      const line = JSON.parse(text) as Record<string, unknown>
      lines.push(line)
      waiting.get(String(line.msg))?.resolve(line)
    })
  const exited = new Promise<number | string>(resolve => {
    // Not `exit`: the last lines may still be in the pipe then.
    child.once('close', (code, signal) => {
      for (const { reject } of waiting.values()) reject(new Error(`${path} ended with ${code ?? signal}`))
      resolve(code ?? signal ?? 'unknown')
    })
  })
  return {
    pid: child.pid ?? 0,
    lines,
    line(message) {
      const found = lines.find(({ msg }) => msg === message)
      if (found) return Promise.resolve(found)
      const wanted = waiting.get(message) ?? Promise.withResolvers<Record<string, unknown>>()
      waiting.set(message, wanted)
      return wanted.promise
    },
    kill: signal => void child.kill(signal),
    exited,
  }
}

/** CPU time of a process until now, in milliseconds (Linux). */
export function cpuMs(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? []
  return (Number(fields[11]) + Number(fields[12])) * 10 // user and system, in ticks of 10 ms
}

/** Resident memory of a process in MiB (Linux). */
export function residentMiB(pid: number): number {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024
}

/** A complete Postwright as its users start it: a separate process on free ports, with an embedded database. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { freePort, mongodBinary } from '../database/test-mongod.ts'

const ROOT = join(import.meta.dirname, '../../..')
/** Longest wait for a printed text. */
const PRINT_MS = 180_000

/** A started process and its output. */
export interface Postwright {
  process: ChildProcess
  env: Record<string, string>
  output(): string
  /** Resolves when the text was printed; rejects if the process ends before, or after three minutes without it. */
  printed(text: string): Promise<void>
  /** Sends the signal and resolves to the exit code. */
  end(signal: NodeJS.Signals): Promise<number | null>
}

/** Free ports for all listeners, and a data folder. Rejects with MissingProgram without a mongod. */
export async function trialSettings(dataDir: string): Promise<Record<string, string>> {
  await mongodBinary()
  const [app, admin, compat, metrics, starttls, other, tls] = await Promise.all(Array.from({ length: 7 }, freePort))
  return {
    DATA_DIR: dataDir,
    APP_PORT: String(app),
    ADMIN_API_PORT: String(admin),
    COMPAT_PORT: String(compat),
    METRICS_PORT: String(metrics),
    SUBMISSION_LISTEN: `${starttls}:starttls,${other}:starttls,${tls}:tls`,
  }
}

/** Starts this program with these settings and a minimal environment. */
export function startPostwright(settings: Record<string, string>, program = 'services/all.ts'): Postwright {
  const inherited = Object.fromEntries(
    ['PATH', 'HOME', 'XDG_CACHE_HOME', 'MONGOD_BINARY'].flatMap(name =>
      process.env[name] ? [[name, process.env[name]]] : [],
    ),
  )
  const env = { ...inherited, ...settings } as Record<string, string>
  const child = spawn(process.execPath, [program], { cwd: ROOT, env, stdio: ['ignore', 'pipe', 'pipe'] })
  let output = ''
  const changed = new EventTarget()
  const collect = (chunk: Buffer) => {
    output += chunk
    changed.dispatchEvent(new Event('output'))
  }
  child.stdout.on('data', collect)
  child.stderr.on('data', collect)
  const ended = once(child, 'close')
  return {
    process: child,
    env,
    output: () => output,
    async printed(text) {
      const late = AbortSignal.timeout(PRINT_MS)
      while (!output.includes(text)) {
        const more = once(changed, 'output', { signal: late }).then(
          () => true,
          () => false,
        )
        if (!(await Promise.race([more, ended.then(() => false)])) && !output.includes(text))
          throw new Error(`it ${late.aborted ? 'runs' : 'ended'} without printing "${text}":\n${output}`)
      }
    },
    async end(signal) {
      child.kill(signal)
      const [code] = await ended
      return code
    },
  }
}

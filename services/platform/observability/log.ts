/** Structured logs: one line per finished thing, with its id, outcome and duration. Secrets and bodies never. */
import { writeSync } from 'node:fs'
import { pino } from 'pino'

/** The subset of pino that the code uses. `error` means that a person must act. */
export interface Log {
  debug(fields: object, message: string): void
  info(fields: object, message: string): void
  warn(fields: object, message: string): void
  error(fields: object, message: string): void
}

/** Keys whose values are cut out at the first and second level: a net below the rule "never log them". */
const SECRET = new Set([
  ...['password', 'secret', 'token', 'authorization', 'cookie', 'private_key'],
  ...['ciphertext', 'text', 'html', 'raw', 'body'],
])

/** Bytes of lines that wait for a slow reader; beyond it lines are dropped, because a log must neither stop mail nor fill memory. */
const WAITING_BYTES = 16 * 1024 * 1024

/** Lines are written together: each write is a task for the thread pool, which signatures need (4 % of a message's CPU). */
const TOGETHER = { minLength: 4_096, periodicFlush: 100 }

/** At the exit: time without progress of the reader, and interval of its checks. */
const READER_MS = 5_000
const PAUSE_MS = 20

/** The library's number of the level. */
const WARN = 40

/**
 * A logger that writes JSON lines to standard output without waiting for its reader: a write to a full pipe would block
 * for 100 ms at a time. Warnings and errors are written immediately unless a write is under way, the rest at most 100
 * ms later. Waiting lines are written at the exit, after an uncaught error too.
 */
export function createLog(level: string, service: string): Log {
  const output = pino.destination({ dest: 1, sync: false, maxLength: WAITING_BYTES, ...TOGETHER })
  surviveWriteErrors(output)
  return pino(
    {
      level,
      base: { service },
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: label => ({ level: label }), log: redact },
      serializers: { err: (error: Error) => redact({ ...pino.stdSerializers.err(error) }, 1) },
      hooks: {
        logMethod(line, write, number) {
          write.apply(this, line)
          if (number >= WARN) output.flush()
        },
      },
    },
    output,
  )
}

/** What the library holds back; private there. */
interface Held {
  fd: number
  /** Lines, in pieces. */
  _bufs: string[]
  /** The piece that is being written, or that could not be. */
  _writingBuf: string
  _writing: boolean
}

/**
 * A full disk or a closed terminal must not stop mail: lines wait and are retried. The library would throw, and at the
 * exit retry forever.
 */
function surviveWriteErrors(output: ReturnType<typeof pino.destination>): void {
  output.on('error', () => undefined)
  output.flushSync = () => {
    const held = output as unknown as Held
    const text = (held._writing ? '' : held._writingBuf) + held._bufs.join('')
    if (!held._writing) held._writingBuf = ''
    held._bufs = []
    writeAll(held.fd, Buffer.from(text))
  }
}

/** Writes as long as the reader makes progress; ends at an error, and after {@link READER_MS} without progress. */
function writeAll(fd: number, bytes: Buffer): void {
  let [at, stuckMs] = [0, 0]
  while (at < bytes.length && stuckMs < READER_MS)
    try {
      at += writeSync(fd, bytes, at)
      stuckMs = 0
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'EAGAIN')) return
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, PAUSE_MS)
      stuckMs += PAUSE_MS
    }
}

/** For tests of results, not of log lines. */
export const silentLog: Log = { debug() {}, info() {}, warn() {}, error() {} }

/** The fields without secrets; a copy only where there are some. The library's own way costs 10 µs a line. */
export function redact(fields: Record<string, unknown>, levels = 2): Record<string, unknown> {
  let clean = fields
  for (const key in fields) {
    const value = fields[key]
    const kept = SECRET.has(key) ? '[redacted]' : levels > 1 && isPlain(value) ? redact(value, levels - 1) : value
    if (kept === value) continue
    if (clean === fields) clean = { ...fields }
    clean[key] = kept
  }
  return clean
}

function isPlain(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Error)
}

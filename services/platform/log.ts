/** Structured logs: one line per finished thing, with its id, outcome and duration. Secrets and bodies never. */
import { pino } from 'pino'

/** The subset of pino that the code uses. `error` means that a person must act. */
export interface Log {
  debug(fields: object, message: string): void
  info(fields: object, message: string): void
  warn(fields: object, message: string): void
  error(fields: object, message: string): void
  child(fields: object): Log
}

/** Keys that are cut out wherever they appear at the first or second level: a net below the rule "never log them". */
const REDACTED = [
  'password',
  'secret',
  'token',
  'authorization',
  'cookie',
  'private_key',
  'ciphertext',
  'text',
  'html',
  'raw',
  'body',
]

/** A logger that writes JSON lines to standard output, synchronously, so that the last line before a crash is there. */
export function createLog(level: string, service: string): Log {
  return pino(
    {
      level,
      base: { service },
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: label => ({ level: label }) },
      redact: { paths: REDACTED.flatMap(key => [key, `*.${key}`]), censor: '[redacted]' },
      serializers: { err: pino.stdSerializers.err },
    },
    pino.destination({ dest: 1, sync: true }),
  )
}

/** For tests that look at results, not at lines. */
export const silentLog: Log = { debug() {}, info() {}, warn() {}, error() {}, child: () => silentLog }

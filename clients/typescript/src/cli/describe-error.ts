/** Failures as text: what happened, and what to do. */
import { PostwrightError } from '../runtime/errors.ts'
import { LoginError } from './config.ts'
import { printable, printableJson } from './printable.ts'

/** What to do about a refusal, by its code. */
const HINTS: Readonly<Record<string, string>> = {
  invalid_token: 'Make a token in the panel (API tokens), and run "postwright login".',
  not_logged_in: 'Run "postwright login".',
  insufficient_scope: 'Make a token with this scope in the panel (API tokens), and run "postwright login".',
  domain_not_verified: 'See what is missing: postwright domains show <domain>',
  sender_not_allowed: 'See from which domains you may send: postwright domains',
  network_error: 'Check the address (postwright login, or POSTWRIGHT_URL) and the network.',
  timeout: 'Check the address and the network, and try again.',
  invalid_answer: 'Check the address: postwright login, or POSTWRIGHT_URL.',
}

/** The text for stderr; with `json` one JSON object. */
export function describeError(error: unknown, json: boolean): string {
  if (!(error instanceof PostwrightError)) return describeOther(error, json)
  const { message, status, code, problems, requestId, retryAfterMs } = error
  if (json)
    return `${printableJson({ error: { status, code, message, problems, ...(requestId && { request_id: requestId }) } })}\n`
  const wait = retryAfterMs === undefined ? undefined : `Try again in ${Math.ceil(retryAfterMs / 1000)} s.`
  const hint = HINTS[code] ?? (status === 404 ? 'Check the id or the name, and the address of the login.' : undefined)
  const lines = [
    message,
    ...problems.filter(one => !message.includes(one.message)).map(one => `  ${one.field}: ${one.message}`),
    ...[wait, hint, requestId && `Request id: ${requestId}`].filter(line => line !== undefined && line !== ''),
  ]
  return `${printable(lines.join('\n'))}\n`
}

function describeOther(error: unknown, json: boolean): string {
  const message = error instanceof Error ? error.message : String(error)
  if (json) return `${printableJson({ error: { status: 0, code: codeOf(error), message, problems: [] } })}\n`
  return `${printable(message)}\n`
}

function codeOf(error: unknown): string {
  return error instanceof LoginError ? 'no_login' : 'failed'
}

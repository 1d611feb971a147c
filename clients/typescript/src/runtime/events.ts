/** The live stream of events, which goes on after a lost connection. */
import type { EmailEvent } from '../generated/mail-types.ts'
import type { Client } from './client.ts'
import { delay, withTimeout } from './delay.ts'
import { PostwrightError } from './errors.ts'
import { request } from './request.ts'

/** An event of a message; those of domains and suppressions have `data`, and no fields of a message. */
export type MailEvent = Pick<EmailEvent, 'id' | 'type' | 'timestamp'> &
  Partial<EmailEvent> & {
    data?: Record<string, unknown>
    /** Position in the stream, for `after`. */
    cursor: string
  }

/** Options of {@link followEvents}. */
export interface FollowOptions {
  /** Ends the loop quietly. */
  signal?: AbortSignal
  /** `cursor` of the last event that the caller has, at most a day old. Default: events from now on. */
  after?: string
  /** Called before each wait for another connection, with what ended the one before. */
  onReconnect?: (reason: PostwrightError | undefined) => void
}

/** The server sends a comment at least every 15 s: after this long without one the connection is lost. */
const SILENCE_MS = 45_000
const WAIT_MS = { first: 2_000, longest: 30_000 }
/** After a reconnection the server repeats some seconds of events. */
const REMEMBERED = 10_000

/**
 * Yields the events of the account as they happen, each once. Connects again after a lost connection and goes on after the
 * last event; throws a {@link PostwrightError} when the server refuses the token.
 */
export async function* followEvents(client: Client, options: FollowOptions = {}): AsyncGenerator<MailEvent, void> {
  const { signal, onReconnect } = options
  const reader: Reader = { cursor: options.after, seen: new Set(), failures: 0 }
  while (!signal?.aborted) {
    let reason: PostwrightError | undefined
    try {
      yield* newEvents(client, reader, signal)
    } catch (error) {
      if (signal?.aborted) return
      if (!(error instanceof PostwrightError) || isFinal(error)) throw error
      reason = error
      reader.failures++
    }
    if (signal?.aborted) return
    onReconnect?.(reason)
    const wait = reason?.retryAfterMs ?? WAIT_MS.first * 2 ** Math.max(0, reader.failures - 1)
    await delay(Math.min(wait, WAIT_MS.longest), signal).catch(() => undefined)
  }
}

/** What a reader knows between two connections. */
interface Reader {
  cursor: string | undefined
  seen: Set<string>
  /** Connections in a row that failed without a message. */
  failures: number
}

/** The events of one connection that the reader does not have. */
async function* newEvents(client: Client, reader: Reader, signal: AbortSignal | undefined) {
  for await (const { id, data } of connection(client, reader.cursor, signal)) {
    reader.failures = 0
    if (id === undefined || data === '') continue
    reader.cursor = id
    const event: MailEvent = { ...JSON.parse(data), cursor: id }
    if (reader.seen.has(event.id)) continue
    remember(reader.seen, event.id)
    yield event
  }
}

/** Refused for good; other answers and network failures pass. */
function isFinal({ status, code }: PostwrightError): boolean {
  return code === 'redirected' || (status >= 400 && status < 500 && status !== 408 && status !== 429)
}

function remember(seen: Set<string>, id: string): void {
  seen.add(id)
  for (const oldest of seen) {
    if (seen.size <= REMEMBERED) return
    seen.delete(oldest)
  }
}

interface Message {
  id: string | undefined
  data: string
}

/** The messages of one connection. A comment is a message without id. */
async function* connection(client: Client, after: string | undefined, outer: AbortSignal | undefined) {
  const { signal, renew, clear } = withTimeout(SILENCE_MS, outer)
  const headers = after === undefined ? {} : { 'last-event-id': after }
  const once = { ...client, retries: 0 }
  try {
    const response = (await request(once, 'GET /api/v1/events/stream', { raw: true }, { headers, signal })) as Response
    if (response.body) yield* messages(response.body, renew)
  } catch (error) {
    if (error instanceof PostwrightError) throw error
    throw new PostwrightError('The connection was lost.', { status: 0, code: 'network_error', cause: error })
  } finally {
    clear()
  }
}

/** Server-sent events of a body. */
async function* messages(body: ReadableStream<Uint8Array>, received: () => void): AsyncGenerator<Message> {
  const reader = body.getReader()
  const decoder = new TextDecoder()
  let text = ''
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return
      received()
      text += decoder.decode(value, { stream: true })
      const parts = text.split('\n\n')
      text = parts.pop() ?? ''
      yield* parts.map(toMessage)
    }
  } finally {
    await reader.cancel().catch(() => undefined)
  }
}

function toMessage(block: string): Message {
  const fields = block.split('\n').map(line => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 1)])
  const valuesOf = (name: string) =>
    fields.flatMap(([key, value = '']) => (key === name ? value.replace(/^ /, '') : []))
  return { id: valuesOf('id').at(-1), data: valuesOf('data').join('\n') }
}

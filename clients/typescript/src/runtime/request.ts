/** One request with its repeats. */
import type { Client } from './client.ts'
import { delay, withTimeout } from './delay.ts'
import { errorOf, PostwrightError } from './errors.ts'

/** How an operation differs from one with JSON and a Bearer token. */
export interface Traits {
  /** `token`: the header of that name, `none`: no credentials. */
  auth?: 'token' | 'none'
  /** The operation takes Idempotency-Key. */
  key?: true
  /** Media type of the request body. */
  type?: string
  /** The answer is not JSON: the result is the `Response`. */
  raw?: true
  /** The answer is an envelope: the result is its `data`. */
  envelope?: true
}

/** Everything that a call can have; operations narrow it to what they take. */
export interface RequestInput {
  path?: Readonly<Record<string, unknown>> | undefined
  query?: Readonly<Record<string, unknown>> | undefined
  headers?: Readonly<Record<string, unknown>> | undefined
  body?: unknown
  signal?: AbortSignal | undefined
  idempotencyKey?: string | undefined
  onResponse?: ((response: Response) => void) | undefined
}

/** Answers that another attempt may change. */
const PASSING = [408, 429, 502, 503, 504]
const FIRST_WAIT_MS = 250

/** Sends a request, and again while that is safe and of use; throws a {@link PostwrightError}, or the reason of `signal`. */
export async function request(client: Client, target: string, traits: Traits, input: RequestInput): Promise<unknown> {
  const [method = '', path = ''] = target.split(' ')
  const url = client.url + fillPath(path, input.path ?? {}) + queryOf(input.query ?? {})
  const headers = headersOf(client, traits, input)
  const repeatable = method === 'GET' || method === 'PUT' || headers.has('idempotency-key')
  for (let attempt = 0; ; attempt++) {
    try {
      return await attemptOnce(client, method, url, headers, traits, input)
    } catch (error) {
      const wait = waitAfter(error, attempt, repeatable)
      if (wait === undefined || attempt >= client.retries || wait > client.maxRetryWaitMs) throw error
      await delay(wait, input.signal)
    }
  }
}

async function attemptOnce(
  client: Client,
  method: string,
  url: string,
  headers: Headers,
  traits: Traits,
  input: RequestInput,
): Promise<unknown> {
  await addCredentials(client, headers, traits)
  const { signal, clear } = withTimeout(client.timeoutMs, input.signal)
  try {
    const body = input.body === undefined ? null : bodyOf(input.body, traits)
    const response = await client.fetch(url, { method, headers, body, signal, redirect: 'manual' })
    input.onResponse?.(response)
    return await resultOf(response, traits)
  } catch (error) {
    if (error instanceof PostwrightError) throw error
    input.signal?.throwIfAborted()
    const late = signal.aborted
    const reason = late ? `no answer within ${client.timeoutMs / 1000} s` : reasonOf(error)
    throw new PostwrightError(`The request to ${client.url} failed: ${reason}.`, {
      ...{ status: 0, code: late ? 'timeout' : 'network_error', cause: error },
    })
  } finally {
    clear()
  }
}

async function resultOf(response: Response, { raw, envelope }: Traits): Promise<unknown> {
  const { status, type, headers } = response
  const isRedirect = type === 'opaqueredirect' || (status >= 300 && status < 400 && status !== 304)
  if (isRedirect) {
    const to = headers.get('location') ?? 'another address'
    throw new PostwrightError(`The server redirects to ${to}; use that address.`, { status, code: 'redirected' })
  }
  if (status === 204 || status === 304) return undefined
  if (!response.ok) throw await errorOf(response)
  if (raw) return response
  const text = await response.text()
  try {
    const body: unknown = JSON.parse(text)
    return envelope ? (body as { data: unknown }).data : body
  } catch (cause) {
    const requestId = headers.get('x-request-id') ?? undefined
    throw new PostwrightError(
      'The answer is not JSON. Does the address belong to Postwright, and is no proxy answering in its place?',
      { status, code: 'invalid_answer', requestId, body: text, cause },
    )
  }
}

/**
 * Time to wait before the next attempt; undefined: another attempt is not safe or not of use. A 429 was not processed;
 * after any other failure the first attempt may have had its effect, so only what can be repeated is.
 */
function waitAfter(error: unknown, attempt: number, repeatable: boolean): number | undefined {
  if (!(error instanceof PostwrightError)) return undefined
  const { status, code, retryAfterMs } = error
  const passes =
    PASSING.includes(status) || code === 'idempotency_in_progress' || (status === 0 && code !== 'redirected')
  if (!passes || (!repeatable && status !== 429)) return undefined
  return retryAfterMs ?? FIRST_WAIT_MS * 2 ** attempt * (0.5 + Math.random())
}

function headersOf(client: Client, { key, type, raw }: Traits, input: RequestInput): Headers {
  const headers = new Headers(client.headers)
  headers.set('accept', raw ? '*/*' : 'application/json')
  if (input.body !== undefined) headers.set('content-type', type ?? 'application/json')
  for (const [name, value] of Object.entries(input.headers ?? {}))
    if (value !== undefined) headers.set(name, String(value))
  if (input.idempotencyKey !== undefined) headers.set('idempotency-key', input.idempotencyKey)
  // Without a key, a repeat after a lost answer could send a message twice.
  else if (key && client.retries > 0 && !headers.has('idempotency-key'))
    headers.set('idempotency-key', crypto.randomUUID())
  return headers
}

async function addCredentials(client: Client, headers: Headers, { auth }: Traits): Promise<void> {
  const token = auth === 'none' ? undefined : await client.token()
  if (token === undefined || token === '') return
  if (auth === 'token') headers.set('token', token)
  else headers.set('authorization', `Bearer ${token}`)
}

function bodyOf(body: unknown, { type }: Traits) {
  return type === undefined ? JSON.stringify(body) : (body as string)
}

/** Fills `{id}` and the like. Dots alone are refused: an address with them would be another operation. */
function fillPath(path: string, values: Readonly<Record<string, unknown>>): string {
  return path.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const value = String(values[name] ?? '')
    if (/^\.{0,2}$/.test(value)) throw new TypeError(`path.${name} must be an id or a name, not "${value}".`)
    return encodeURIComponent(value)
  })
}

function queryOf(values: Readonly<Record<string, unknown>>): string {
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries(values))
    for (const one of Array.isArray(value) ? value : [value]) if (one !== undefined) query.append(name, String(one))
  return query.size === 0 ? '' : `?${query}`
}

/** Node puts the reason into `cause`. */
function reasonOf(error: unknown): string {
  const { message, cause } = error as { message?: string; cause?: { code?: string; message?: string } }
  return (cause?.message || cause?.code || message || String(error)).replace(/\.$/, '')
}

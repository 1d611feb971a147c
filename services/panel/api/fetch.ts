/** HTTP requests to the service, with the session cookie and the CSRF header. */
import { problemOf, unreachable } from './problem.ts'

let shownAccount: string | undefined

/**
 * Sets the account that the panel shows. Requests name it, and the service refuses them when the session works in another
 * account, which another tab has chosen.
 */
export function setShownAccount(id: string): void {
  shownAccount = id
}

/** The account that the panel shows; undefined before it shows one. */
export function shownAccountId(): string | undefined {
  return shownAccount
}

export interface RequestParts {
  method: string
  query?: Readonly<Record<string, unknown>> | undefined
  body?: unknown
  /** Sent unchanged instead of a JSON body. */
  file?: { type: string; content: Blob } | undefined
  signal?: AbortSignal | undefined
  headers?: Readonly<Record<string, string>>
}

/** Throws {@link import('./problem.ts').ApiProblem} for error responses and network failures. */
export async function request(path: string, parts: RequestParts): Promise<Response> {
  const { method, query, body, file, signal, headers } = parts
  const response = await fetch(path + queryString(query), {
    method,
    credentials: 'same-origin',
    cache: 'no-store',
    signal: signal ?? null,
    headers: {
      accept: 'application/json',
      ...(method === 'GET' ? {} : { 'x-csrf': '1' }),
      ...(shownAccount === undefined ? {} : { 'x-account': shownAccount }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...(file ? { 'content-type': file.type } : {}),
      ...headers,
    },
    ...(file ? { body: file.content } : body === undefined ? {} : { body: JSON.stringify(body) }),
  }).catch((error: unknown) => {
    if (signal?.aborted) throw error
    throw unreachable(error)
  })
  if (!response.ok) throw await problemOf(response)
  return response
}

/** `?a=1&b=2` without undefined and empty values, and with a pair for each value of a list; empty if no value is set. */
export function queryString(query: Readonly<Record<string, unknown>> | undefined): string {
  const pairs = Object.entries(query ?? {})
    .flatMap(([name, value]) => (Array.isArray(value) ? value : [value]).map((one: unknown) => [name, one] as const))
    .filter(([, value]) => value !== undefined && value !== '')
  if (pairs.length === 0) return ''
  return `?${new URLSearchParams(pairs.map(([name, value]) => [name, String(value)])).toString()}`
}

/** Fills `/api/v1/domains/{id}`; parameters are percent-encoded. */
export function fillPath(template: string, params: Readonly<Record<string, unknown>> | undefined): string {
  return template.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(String(params?.[name] ?? '')))
}

/** The one place that talks to the service: same origin, the session cookie, the header that writes need. */
import { problemOf, unreachable } from './problem.ts'

/** What a request carries beside its address. */
export interface RequestParts {
  method: string
  query?: Readonly<Record<string, unknown>> | undefined
  body?: unknown
  /** A file as it is, in place of a JSON body. */
  file?: { type: string; content: Blob } | undefined
  signal?: AbortSignal | undefined
  headers?: Readonly<Record<string, string>>
}

/** Asks and gives the answer; a refusal or silence is thrown as {@link import('./problem.ts').ApiProblem}. */
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

/** `?a=1&b=2` without what is unset; empty when nothing is set. */
export function queryString(query: Readonly<Record<string, unknown>> | undefined): string {
  const pairs = Object.entries(query ?? {}).filter(([, value]) => value !== undefined && value !== '')
  if (pairs.length === 0) return ''
  return `?${new URLSearchParams(pairs.map(([name, value]) => [name, String(value)])).toString()}`
}

/** `/api/v1/domains/{id}` with its parameters put in, each encoded. */
export function fillPath(template: string, params: Readonly<Record<string, unknown>> | undefined): string {
  return template.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(String(params?.[name] ?? '')))
}

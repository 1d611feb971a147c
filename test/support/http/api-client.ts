/** An HTTP client that validates each response against the schema of its operation. */

import { z } from 'zod'
import type { AnyEndpoint } from '../../../services/platform/http/endpoint.ts'
import { problems } from '../../../services/platform/problems.ts'
import { english } from '../../../services/platform/sentences/en/index.ts'

/** A valid response; `body` is undefined if there is none, and text if it is not JSON. */
export interface Answer {
  status: number
  headers: Headers
  // biome-ignore lint/suspicious/noExplicitAny: tests read JSON of many shapes, which the client has validated
  body: any
}

/** Calls operations as one caller. */
export interface ApiClient {
  call(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Answer>
  get(path: string): Promise<Answer>
  post(path: string, body?: unknown): Promise<Answer>
  /** Opens a response that does not end; its body is not read. */
  open(path: string, signal: AbortSignal): Promise<Response>
  /** The same API with additional headers on each request. */
  with(headers: Record<string, string>): ApiClient
}

const problem = z.strictObject({
  type: z.string().startsWith('urn:postwright:problem:'),
  title: z.string(),
  status: z.number(),
  detail: z.string(),
  detail_code: z.enum(Object.keys(english) as [string, ...string[]]),
  detail_params: z.record(z.string(), z.unknown()),
  instance: z.string(),
  code: z.enum(Object.keys(problems) as [string, ...string[]]),
  message: z.string(),
  request_id: z.string(),
  challenge: z.string().optional(),
  errors: z
    .array(
      z.strictObject({
        pointer: z.string(),
        code: z.string(),
        message: z.string(),
      }),
    )
    .min(1)
    .optional(),
  errors_codes: z
    .array(
      z.strictObject({
        code: z.enum(Object.keys(english) as [string, ...string[]]),
        params: z.record(z.string(), z.unknown()),
      }),
    )
    .min(1)
    .optional(),
})

/** A client of the service at `url`, whose responses belong to these operations. */
export function apiClient(
  url: string,
  operations: readonly AnyEndpoint[],
  headers: Record<string, string> = {},
): ApiClient {
  const client: ApiClient = {
    async call(method, path, body, more = {}) {
      const response = await fetch(`${url}${path}`, {
        method,
        headers: { ...headers, ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...more },
        ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
      })
      const text = await response.text()
      const isJson = /json/.test(response.headers.get('content-type') ?? '')
      const parsed = isJson && text ? JSON.parse(text) : text || undefined
      const answer = { status: response.status, headers: response.headers, body: parsed }
      check(answer, find(operations, method, new URL(`${url}${path}`).pathname), `${method} ${path}`)
      return answer
    },
    get: path => client.call('GET', path),
    post: (path, body) => client.call('POST', path, body),
    open: (path, signal) => fetch(`${url}${path}`, { headers, signal }),
    with: more => apiClient(url, operations, { ...headers, ...more }),
  }
  return client
}

function find(operations: readonly AnyEndpoint[], method: string, path: string): AnyEndpoint | undefined {
  const fits = (template: string) => new RegExp(`^${template.replaceAll(/\{\w+\}/g, '[^/]+')}$`).test(path)
  const known = operations.filter(operation => operation.method === method && fits(operation.path))
  // As in the service, a path that is named literally is no value of a parameter.
  return known.find(operation => operation.path === path) ?? known[0]
}

function check(answer: Answer, operation: AnyEndpoint | undefined, what: string): void {
  if (answer.status >= 400) {
    const result = problem.safeParse(answer.body)
    if (!result.success) throw new Error(`${what}: not a problem document: ${z.prettifyError(result.error)}`)
    if (result.data.status !== answer.status) throw new Error(`${what}: status ${answer.status} is not in the body`)
    return
  }
  if (!operation) throw new Error(`${what} answered ${answer.status}, but no contract has this operation`)
  if (answer.status !== operation.status)
    throw new Error(`${what}: answered ${answer.status} instead of ${operation.status}`)
  if (operation.response) {
    const result = operation.response.safeParse(answer.body)
    if (!result.success) throw new Error(`${what}: the answer breaks its schema: ${z.prettifyError(result.error)}`)
  } else if (typeof answer.body === 'object') throw new Error(`${what}: an answer that the contract does not have`)
}

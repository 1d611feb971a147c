/** One HTTP call to a DNS provider: limited, timed and counted. Errors show whether a write may have taken effect. */

import type { z } from 'zod'
import { sentence } from '../../../platform/sentences/sentence.ts'
import { type CallBudget, DnsProviderError, type ProviderType } from './provider.ts'

/** Dependencies of the cloud providers' clients. */
export interface CloudContext {
  /** Base URL without a trailing slash. */
  endpoint: string
  budget: CallBudget
  now: () => Date
  /** Counts a finished call; outcome is `ok` or the kind of the error. */
  counted: (operation: string, outcome: string) => void
  /** Milliseconds for one call; default 15 s. */
  timeoutMs?: number
}

/** A `write` whose answer is lost has an unknown outcome. */
export interface HttpCall {
  operation: string
  write: boolean
  method: string
  url: string
  headers: Record<string, string>
  body?: string
}

/** A JSON object with any HTTP status. */
export interface JsonAnswer {
  status: number
  headers: Headers
  json: Record<string, unknown>
}

const TIMEOUT_MS = 15_000
/** Seconds to wait when the answer names no time, and the maximum that is accepted from an answer. */
const DEFAULT_WAIT = 60
const MAX_WAIT = 3_600

/** Makes the call. `errorOf` turns a well-formed refusal into an error, and returns undefined for success. */
export async function callJson(
  provider: ProviderType,
  context: CloudContext,
  call: HttpCall,
  errorOf: (answer: JsonAnswer) => DnsProviderError | undefined,
): Promise<JsonAnswer> {
  await context.budget.take()
  try {
    const answer = await send(provider, context, call)
    const refusal = errorOf(answer)
    if (refusal) throw call.write ? refusal : ofRead(refusal)
    context.counted(call.operation, 'ok')
    return answer
  } catch (error) {
    if (!(error instanceof DnsProviderError)) throw error
    context.counted(call.operation, error.kind)
    if (error.kind === 'rate_limited') await context.budget.block(error.retryAfter ?? DEFAULT_WAIT)
    throw error
  }
}

async function send(provider: ProviderType, context: CloudContext, call: HttpCall): Promise<JsonAnswer> {
  const lost = call.write ? 'unknown_outcome' : 'unavailable'
  let response: Response
  let body: string
  try {
    response = await fetch(call.url, {
      method: call.method,
      headers: call.headers,
      ...(call.body === undefined ? {} : { body: call.body }),
      redirect: 'error',
      signal: AbortSignal.timeout(context.timeoutMs ?? TIMEOUT_MS),
    })
    body = await response.text()
  } catch (error) {
    const refused = isRefused(error)
    throw new DnsProviderError(
      provider,
      refused ? 'unavailable' : lost,
      sentence(refused ? 'dns_provider.unreachable' : 'dns_provider.connection_lost'),
    )
  }
  const json = parseObject(body)
  // A limit of the gateway, which sends no JSON: the provider never saw the call.
  if (!json && response.status === 429) {
    const retryAfter = secondsToWait(response.headers.get('retry-after'), context.now(), DEFAULT_WAIT)
    throw new DnsProviderError(provider, 'rate_limited', sentence('dns_provider.wait', { seconds: retryAfter }), {
      code: '429',
      retryAfter,
    })
  }
  // A gateway in front of the provider answers with its own page; whether the provider executed the call is unknown.
  if (!json)
    throw new DnsProviderError(provider, lost, sentence('dns_provider.no_json', { status: response.status }), {
      code: String(response.status),
    })
  return { status: response.status, headers: response.headers, json }
}

/** Retry-After (RFC 9110 10.2.3), seconds or a date, as 1 to 3600 seconds; `otherwise` when it is missing or malformed. */
export function secondsToWait(header: string | null, now: Date, otherwise: number): number {
  const text = header?.trim() ?? ''
  const date = Date.parse(text)
  const seconds = /^\d+$/.test(text)
    ? Number(text)
    : /[a-z]/i.test(text) && !Number.isNaN(date)
      ? Math.ceil((date - now.getTime()) / 1000)
      : otherwise
  return Math.min(MAX_WAIT, Math.max(1, seconds))
}

/** Parses an answer. Throws {@link DnsProviderError}: after a write, an unknown form leaves the outcome unknown. */
export function readAnswer<S extends z.ZodType>(
  provider: ProviderType,
  schema: S,
  value: unknown,
  write = false,
): z.output<S> {
  const { success, data } = schema.safeParse(value)
  if (success) return data
  throw new DnsProviderError(provider, write ? 'unknown_outcome' : 'unavailable', sentence('dns_provider.unknown_form'))
}

/** A failed read has no outcome that could be unknown. */
function ofRead(error: DnsProviderError): DnsProviderError {
  if (error.kind !== 'unknown_outcome') return error
  const { provider, sentence: reason, code, requestId } = error
  return new DnsProviderError(provider, 'unavailable', reason, {
    ...(code === undefined ? {} : { code }),
    ...(requestId === undefined ? {} : { requestId }),
  })
}

/** For deletions: the record is gone already. */
export function ignoreNotFound(error: unknown): void {
  if (!(error instanceof DnsProviderError && error.kind === 'not_found')) throw error
}

function isRefused(error: unknown): boolean {
  const cause = error instanceof Error ? error.cause : undefined
  return cause instanceof Error && 'code' in cause && (cause.code === 'ECONNREFUSED' || cause.code === 'ENOTFOUND')
}

function parseObject(body: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(body)
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : undefined
  } catch {
    return undefined
  }
}

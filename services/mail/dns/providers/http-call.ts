/** One HTTP call to a DNS provider: limited, timed and counted. Errors show whether a write may have taken effect. */

import type { z } from 'zod'
import type { GuardedFetch } from '../../../platform/network/guarded-fetch.ts'
import { type Sentence, SentenceError, sentence } from '../../../platform/sentences/sentence.ts'
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
  /** Connects to some addresses only; absent: to all. */
  guardedFetch?: GuardedFetch
}

/** A `write` whose answer is lost has an unknown outcome. */
export interface HttpCall {
  operation: string
  write: boolean
  method: string
  url: string
  headers: Record<string, string>
  body?: string
  /** Bytes of the answer; default 32 MiB. */
  maxBytes?: number
}

/** The headers of an answer. */
export type AnswerHeaders = Pick<Headers, 'get'>

/** An answer with any HTTP status. */
export interface TextAnswer {
  status: number
  headers: AnswerHeaders
  body: string
}

/** A JSON object with any HTTP status. */
export interface JsonAnswer extends Omit<TextAnswer, 'body'> {
  json: Record<string, unknown>
}

const TIMEOUT_MS = 15_000
/** Bytes of an answer; the largest are lists of all records of an account. */
const MAX_ANSWER_BYTES = 32 * 1024 * 1024
/** Seconds to wait when the answer names no time, and the maximum that is accepted from an answer. */
const DEFAULT_WAIT = 60
const MAX_WAIT = 3_600

/** Makes the call. `errorOf` turns a well-formed refusal into an error, and returns undefined for success. */
export function callJson(
  provider: ProviderType,
  context: CloudContext,
  call: HttpCall,
  errorOf: (answer: JsonAnswer) => DnsProviderError | undefined,
): Promise<JsonAnswer> {
  return callProvider(provider, context, call, answer => jsonOf(provider, context, call, answer), errorOf)
}

/** The same for answers of any form. `parse` throws {@link DnsProviderError} for an answer that cannot be read. */
export async function callProvider<A>(
  provider: ProviderType,
  context: CloudContext,
  call: HttpCall,
  parse: (answer: TextAnswer) => A,
  errorOf: (answer: A) => DnsProviderError | undefined,
): Promise<A> {
  await context.budget.take()
  try {
    const answer = parse(await send(provider, context, call))
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

function jsonOf(provider: ProviderType, context: CloudContext, call: HttpCall, answer: TextAnswer): JsonAnswer {
  const { status, headers, body } = answer
  const json = parseObject(body)
  if (json) return { status, headers, json }
  throw gatewayError(provider, context, call, answer, sentence('dns_provider.no_json', { status }))
}

/**
 * The error for an answer that is not of the provider itself: a gateway in front of it answers with its own page, and
 * whether the provider executed the call is unknown. A limit of the gateway kept the call from the provider.
 */
export function gatewayError(
  provider: ProviderType,
  context: CloudContext,
  call: HttpCall,
  { status, headers }: Pick<TextAnswer, 'status' | 'headers'>,
  reason: Sentence,
): DnsProviderError {
  const code = String(status)
  if (status !== 429)
    return new DnsProviderError(provider, call.write ? 'unknown_outcome' : 'unavailable', reason, { code })
  const retryAfter = secondsToWait(headers.get('retry-after'), context.now(), DEFAULT_WAIT)
  const wait = sentence('dns_provider.wait', { seconds: retryAfter })
  return new DnsProviderError(provider, 'rate_limited', wait, { code, retryAfter })
}

async function send(provider: ProviderType, context: CloudContext, call: HttpCall): Promise<TextAnswer> {
  try {
    const { url, method, headers, body, maxBytes = MAX_ANSWER_BYTES } = call
    const options = {
      ...{ method, headers, redirect: 'error' as const },
      ...(body === undefined ? {} : { body }),
      signal: AbortSignal.timeout(context.timeoutMs ?? TIMEOUT_MS),
    }
    const { guardedFetch } = context
    const response = guardedFetch ? await guardedFetch(url, options) : await fetch(url, options)
    return { status: response.status, headers: response.headers, body: await readBody(response.body ?? [], maxBytes) }
  } catch (error) {
    throw callFailure(provider, call, error)
  }
}

/** Reads at most so many bytes. Throws {@link AnswerTooLong}. */
async function readBody(body: unknown, maxBytes: number): Promise<string> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of body as AsyncIterable<Uint8Array>) {
    size += chunk.length
    if (size > maxBytes) throw new AnswerTooLong()
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}

class AnswerTooLong extends Error {}

/** Why there is no answer. Only a connection that was never made proves that a write had no effect. */
function callFailure(
  provider: ProviderType,
  { write, url, maxBytes = MAX_ANSWER_BYTES }: HttpCall,
  error: unknown,
): DnsProviderError {
  const lost = write ? 'unknown_outcome' : 'unavailable'
  if (error instanceof AnswerTooLong)
    return new DnsProviderError(provider, lost, sentence('dns_provider.answer_too_long', { bytes: maxBytes }))
  const cause = error instanceof Error ? error.cause : undefined
  // guardedFetch refused the address.
  if (cause instanceof SentenceError)
    return new DnsProviderError(
      provider,
      'unavailable',
      sentence('dns_provider.private_host', { host: new URL(url).host }),
    )
  if (isRefused(cause)) return new DnsProviderError(provider, 'unavailable', sentence('dns_provider.unreachable'))
  if (error instanceof Error && error.name === 'TimeoutError')
    return new DnsProviderError(provider, lost, sentence('dns_provider.timeout'))
  return new DnsProviderError(provider, lost, sentence('dns_provider.connection_lost'))
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

function isRefused(cause: unknown): boolean {
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

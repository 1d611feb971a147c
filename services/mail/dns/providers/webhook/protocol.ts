/** The webhook protocol of external-dns, version 1: negotiation, records, adjustments and changes. */
import { z } from 'zod'
import { findTargetError } from '../../../../platform/network/guarded-fetch.ts'
import { sentence } from '../../../../platform/sentences/sentence.ts'
import { type CloudContext, callProvider, gatewayError, type HttpCall, type TextAnswer } from '../http-call.ts'
import { DnsProviderError, type ProviderErrorKind } from '../provider.ts'
import type { CredentialsOf } from '../rules/dns-credentials.ts'
import { type DomainFilter, domainFilter } from './domain-filter.ts'

/** Dependencies of a webhook provider's client. */
export interface WebhookContext extends CloudContext {
  /** Private addresses and plain HTTP are allowed. */
  allowPrivate: boolean
}

/** Bytes of an answer: the server is the account's choice, and the whole list is held in memory. */
const MAX_ANSWER_BYTES = 4 * 1024 * 1024
/** Endpoints of an answer, and values of one: a set of records must fit into a DNS message of 64 KiB. */
const MAX_ENDPOINTS = 50_000
const MAX_TARGETS = 5_000
/** Characters of a value: no record of DNS is longer, and each is read by regular expressions. */
const MAX_TARGET = 64 * 1024

/** All values of one name, type and set identifier. Fields that this program does not know are sent back as they came. */
export const endpoint = z.looseObject({
  dnsName: z.string().default(''),
  recordType: z.string().default(''),
  targets: z.array(z.string().max(MAX_TARGET)).max(MAX_TARGETS).nullish(),
  setIdentifier: z.string().nullish(),
  recordTTL: z.number().nullish(),
  labels: z.record(z.string(), z.string()).nullish(),
})
/** Go encodes an empty list as null. */
const endpoints = z
  .array(endpoint)
  .nullable()
  .transform(list => list ?? [])

export type Endpoint = z.output<typeof endpoint>

/** Endpoints of one call. `updateOld` and `updateNew` have the same order. */
export interface Changes {
  create: Endpoint[]
  updateOld: Endpoint[]
  updateNew: Endpoint[]
  delete: Endpoint[]
}

export const MEDIA_TYPE = 'application/external.dns.webhook+json;version=1'
const MEDIA_TYPE_FORM = /^application\/external\.dns\.webhook\+json\s*;\s*version="?1"?\s*(?:;|$)/i

/** One webhook provider. All methods throw {@link DnsProviderError}. */
export class WebhookClient {
  readonly #credentials: CredentialsOf<'webhook'>
  readonly #context: WebhookContext

  constructor(credentials: CredentialsOf<'webhook'>, context: WebhookContext) {
    this.#credentials = credentials
    this.#context = context
  }

  /** Which names the provider serves. Fails for a server that does not speak version 1. */
  async negotiate(): Promise<DomainFilter> {
    const { headers, body } = await this.#call('negotiate', 'GET', '/')
    const type = headers.get('content-type') ?? ''
    if (!MEDIA_TYPE_FORM.test(type))
      throw new DnsProviderError(
        'webhook',
        'unavailable',
        sentence('dns_provider.webhook_media_type', { type: short(type) }),
      )
    return parsed(domainFilter, jsonOf(body))
  }

  /** Every record of the account behind the provider, of all zones. */
  async records(): Promise<Endpoint[]> {
    return endpointsOf((await this.#call('records', 'GET', '/records')).body)
  }

  /** The endpoints in the form in which the provider stores them. */
  async adjust(wanted: readonly Endpoint[]): Promise<Endpoint[]> {
    return endpointsOf((await this.#call('adjust', 'POST', '/adjustendpoints', wanted)).body)
  }

  async apply(changes: Changes): Promise<void> {
    await this.#call('apply', 'POST', '/records', changes, true)
  }

  async #call(operation: string, method: string, path: string, body?: unknown, write = false): Promise<TextAnswer> {
    const { url, bearer } = this.#credentials
    const { allowPrivate } = this.#context
    const wrong = findTargetError(url, { allowPrivate })
    if (wrong) {
      const reason = wrong === 'tls_required' ? 'dns_provider.webhook_tls' : 'dns_provider.private_host'
      throw new DnsProviderError('webhook', 'unavailable', sentence(reason, { host: new URL(url).host }))
    }
    const call: HttpCall = {
      ...{ operation, write, method, maxBytes: MAX_ANSWER_BYTES },
      url: path === '/' ? url : `${url.replace(/\/+$/, '')}${path}`,
      headers: {
        accept: MEDIA_TYPE,
        ...(body === undefined ? {} : { 'content-type': MEDIA_TYPE }),
        ...(bearer === undefined ? {} : { authorization: `Bearer ${bearer}` }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    }
    const errorOf = (answer: TextAnswer) => this.#errorIn(answer, call, `${method} ${path}`)
    return callProvider('webhook', this.#context, call, answer => answer, errorOf)
  }

  /** The protocol has no error format: there is a status, and some providers add a text. */
  #errorIn(answer: TextAnswer, call: HttpCall, request: string): DnsProviderError | undefined {
    const { status, body } = answer
    if (status >= 200 && status < 300) return undefined
    const text = short(body)
    const reason = text
      ? sentence('dns_provider.webhook_refused_text', { request, status, text })
      : sentence('dns_provider.webhook_refused', { request, status })
    const kind = KINDS[status]
    if (!kind) return gatewayError('webhook', this.#context, call, answer, reason)
    const permission = kind === 'permission' ? { permission: request } : {}
    return new DnsProviderError('webhook', kind, reason, { code: String(status), ...permission })
  }
}

/** Other statuses leave open whether the provider executed the call. */
const KINDS: Readonly<Record<number, ProviderErrorKind>> = {
  400: 'invalid',
  401: 'auth',
  403: 'permission',
  404: 'unavailable',
  405: 'unavailable',
  413: 'invalid',
  422: 'invalid',
}
const MAX_TEXT = 200

/** The beginning of a text of the server, in one line of printable characters; empty for a web page. */
function short(text: string): string {
  if (/^\s*</.test(text)) return ''
  return text
    .slice(0, 4 * MAX_TEXT)
    .replace(/[\s\p{C}]+/gu, ' ')
    .trim()
    .slice(0, MAX_TEXT)
}

/** Counts the endpoints before it looks at any of them. */
function endpointsOf(body: string): Endpoint[] {
  const value = jsonOf(body)
  if (Array.isArray(value) && value.length > MAX_ENDPOINTS)
    throw new DnsProviderError(
      'webhook',
      'unavailable',
      sentence('dns_provider.webhook_too_many', { count: value.length, most: MAX_ENDPOINTS }),
    )
  return parsed(endpoints, value)
}

function parsed<S extends z.ZodType>(schema: S, value: unknown): z.output<S> {
  const { success, data } = schema.safeParse(value)
  if (success) return data
  throw unknownForm()
}

function jsonOf(body: string): unknown {
  try {
    return JSON.parse(body)
  } catch {
    throw unknownForm()
  }
}

function unknownForm(): DnsProviderError {
  return new DnsProviderError('webhook', 'unavailable', sentence('dns_provider.unknown_form'))
}

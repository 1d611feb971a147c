/** Access tokens (RFC 6749) for clouds whose APIs take them. */
import { readFile } from 'node:fs/promises'
import { z } from 'zod'
import { verbatim } from '../../../platform/sentences/compose.ts'
import { sentence } from '../../../platform/sentences/sentence.ts'
import { type CloudContext, callJson, type HttpCall, type JsonAnswer, readAnswer } from './http-call.ts'
import { DnsProviderError, type ProviderType } from './provider.ts'

const tokenSchema = z.object({ access_token: z.string().regex(/^[!-~]+$/) })
const errorSchema = z.object({
  error: z.string().catch('').default(''),
  error_description: z.string().catch('').default(''),
})
const MAX_REASON = 200

/** Exchanges a grant for an access token. Throws {@link DnsProviderError}, `auth` when the grant is refused. */
export async function requestToken(
  provider: ProviderType,
  context: CloudContext,
  url: string,
  grant: Readonly<Record<string, string>>,
): Promise<string> {
  return readToken(provider, context, {
    ...{ operation: 'token', write: false, method: 'POST', url },
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: new URLSearchParams(grant).toString(),
  })
}

/** Makes a call whose answer has an access token. */
export async function readToken(provider: ProviderType, context: CloudContext, call: HttpCall): Promise<string> {
  const errorOf = ({ status, json }: JsonAnswer) => {
    if (status < 400) return undefined
    const { error, error_description: description } = errorSchema.parse(json)
    const code = error || String(status)
    const reason = verbatim((description || error || String(status)).slice(0, MAX_REASON))
    const kind = status >= 500 ? 'unavailable' : status === 429 ? 'rate_limited' : 'auth'
    return new DnsProviderError(provider, kind, sentence('dns_provider.token_refused', { reason, code }), { code })
  }
  const { json } = await callJson(provider, context, call, errorOf)
  return readAnswer(provider, tokenSchema, json).access_token
}

/** The token that the cloud gives to the pod as a file. */
export async function readIdentityToken(provider: ProviderType, file: string): Promise<string> {
  try {
    return (await readFile(file, 'utf8')).trim()
  } catch {
    throw new DnsProviderError(provider, 'auth', sentence('dns_provider.identity_token_missing', { file }))
  }
}

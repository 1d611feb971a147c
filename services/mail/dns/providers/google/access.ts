/** Access to the APIs of Google Cloud: by the key of a service account, or as the pod. */
import type { CryptoKey } from 'jose'
import type { Config } from '../../../../platform/process/config.ts'
import { sentence } from '../../../../platform/sentences/sentence.ts'
import { type CloudContext, callProvider } from '../http-call.ts'
import { readToken, requestToken } from '../oauth-token.ts'
import { DnsProviderError } from '../provider.ts'
import type { ServiceAccountKey } from '../rules/service-account-key.ts'

/** Where tokens come from. */
export type GoogleSettings = Pick<Config, 'GOOGLE_TOKEN_URL' | 'GCE_METADATA_HOST'>

/** A token and the project that it is for. */
export interface GoogleAccess {
  token: string
  project: string
}

const SCOPE = 'https://www.googleapis.com/auth/ndev.clouddns.readwrite'
/** Seconds that an assertion is valid; it is used at once. */
const ASSERTION_SECONDS = 300

/** Exchanges an assertion that the key signs (RFC 7523). The address in the key is not used: users choose it. */
export async function keyAccess(
  key: ServiceAccountKey,
  { GOOGLE_TOKEN_URL: url }: GoogleSettings,
  context: CloudContext,
): Promise<GoogleAccess> {
  const { SignJWT } = await import('jose')
  const now = Math.floor(context.now().getTime() / 1000)
  const assertion = await new SignJWT({ scope: SCOPE })
    .setProtectedHeader({ alg: 'RS256', typ: 'JWT', kid: key.private_key_id })
    .setIssuer(key.client_email)
    .setAudience(url)
    .setIssuedAt(now)
    .setExpirationTime(now + ASSERTION_SECONDS)
    .sign(await privateKey(key))
  const grant = { grant_type: 'urn:ietf:params:oauth:grant-type:jwt-bearer', assertion }
  return { token: await requestToken('google', context, url, grant), project: key.project_id }
}

/** The identity of the pod, from the metadata server. */
export async function podAccess(
  { GCE_METADATA_HOST: host }: GoogleSettings,
  context: CloudContext,
): Promise<GoogleAccess> {
  const call = (path: string) => ({
    ...{ operation: 'metadata', write: false, method: 'GET', headers: { 'metadata-flavor': 'Google' } },
    url: `http://${host}/computeMetadata/v1/${path}`,
  })
  const token = await readToken('google', context, call('instance/service-accounts/default/token')).catch(noIdentity)
  const { body } = await callProvider(
    'google',
    context,
    call('project/project-id'),
    answer => answer,
    ({ status, body: text }) => (status === 200 && /^[a-z0-9.:-]+$/.test(text.trim()) ? undefined : noProject()),
  )
  return { token, project: body.trim() }
}

async function privateKey({ private_key }: ServiceAccountKey): Promise<CryptoKey> {
  const { importPKCS8 } = await import('jose')
  try {
    return await importPKCS8(private_key, 'RS256')
  } catch {
    throw new DnsProviderError('google', 'auth', sentence('dns_provider.google_key'))
  }
}

function noIdentity(error: unknown): never {
  if (error instanceof DnsProviderError && error.kind === 'unavailable')
    throw new DnsProviderError('google', 'auth', sentence('dns_provider.no_pod_identity', { provider: 'Google Cloud' }))
  throw error
}

function noProject(): DnsProviderError {
  return new DnsProviderError('google', 'auth', sentence('dns_provider.google_project'))
}

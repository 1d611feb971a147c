/**
 * The login provider: OpenID Connect with the authorization code flow and PKCE. `openid-client` reads the provider's
 * metadata and verifies what it sends: state, issuer, nonce, audience, times, and the signature of the ID token.
 */
import { readFile } from 'node:fs/promises'
import * as client from 'openid-client'
import type { Clock } from '../platform/clock.ts'
import { HOUR_MS } from '../platform/durations.ts'
import type { Log } from '../platform/observability/log.ts'
import { ProblemError } from '../platform/problems.ts'
import { sentence } from '../platform/sentences/sentence.ts'
import { createTtlCache } from '../platform/ttl-cache.ts'
import { type Claims, claimAt } from './rules/oidc-claims.ts'

/** Time for one answer of the provider: a person waits. */
const TIMEOUT_SECONDS = 5
/** Largest answer of the provider; metadata, keys and tokens have some kilobytes. */
const MAX_ANSWER_BYTES = 512 * 1024
/** Metadata and client secret are read again after this time; keys whenever a token names an unknown one. */
const METADATA_LIFE_MS = HOUR_MS
/** Difference to the clock of the provider that is tolerated. */
const CLOCK_TOLERANCE_SECONDS = 60

/** Settings of the provider. */
export interface OidcSettings {
  issuer: string
  clientId: string
  secret: string | undefined
  /** In place of `secret`. */
  secretFile: string | undefined
  scopes: readonly string[]
  /** Where the provider sends the browser back to: an address of the panel. */
  redirectUri: string
  /** Claims besides the address that are needed: when the ID token lacks one, the UserInfo endpoint is asked. */
  neededClaims: readonly string[]
}

/** What the answer of a login must match; secret to the browser that began it. */
export interface OidcChecks {
  state: string
  nonce: string
  verifier: string
}

/** The provider. */
export interface OidcProvider {
  /** The address to send the browser to. Throws `oidc_unavailable`. */
  begin(): Promise<{ url: string; checks: OidcChecks }>
  /**
   * The verified claims of the person who comes back with this query. Throws `login_expired` for another login's state,
   * `oidc_refused` when the provider refuses or its answer does not fit, and `oidc_unavailable`.
   */
  complete(query: string, checks: OidcChecks): Promise<Claims>
}

/** Creates the provider; nothing is requested before the first login. */
export function createOidcProvider(
  settings: OidcSettings,
  { clock, log }: { clock: Clock; log: Pick<Log, 'warn'> },
): OidcProvider {
  const cache = createTtlCache<client.Configuration>({
    ttlMs: METADATA_LIFE_MS,
    max: 1,
    clock,
    isCacheable: () => true,
  })
  const configuration = () =>
    cache
      .get('provider', () => discover(settings))
      .catch((error: unknown) => {
        log.warn(reasonOf(error), 'the login provider cannot be used')
        throw new ProblemError('oidc_unavailable', undefined, { cause: error })
      })
  return {
    async begin() {
      const provider = await configuration()
      const checks = {
        state: client.randomState(),
        nonce: client.randomNonce(),
        verifier: client.randomPKCECodeVerifier(),
      }
      const url = client.buildAuthorizationUrl(provider, {
        redirect_uri: settings.redirectUri,
        scope: [...new Set(['openid', ...settings.scopes])].join(' '),
        state: checks.state,
        nonce: checks.nonce,
        code_challenge: await client.calculatePKCECodeChallenge(checks.verifier),
        code_challenge_method: 'S256',
      })
      return { url: url.href, checks }
    },

    async complete(query, checks) {
      const answer = new URL(settings.redirectUri)
      answer.search = query
      if (answer.searchParams.get('state') !== checks.state) throw new ProblemError('login_expired')
      const provider = await configuration()
      try {
        return await exchange(provider, answer, checks, settings)
      } catch (error) {
        log.warn(reasonOf(error), 'a login at the provider failed')
        throw problemOf(error)
      }
    },
  }
}

async function discover({ issuer, clientId, secret, secretFile }: OidcSettings): Promise<client.Configuration> {
  const value = secretFile === undefined ? secret : (await readFile(secretFile, 'utf8')).trim()
  const plain = issuer.startsWith('http:') ? [client.allowInsecureRequests] : []
  return client.discovery(
    new URL(issuer),
    clientId,
    { [client.clockTolerance]: CLOCK_TOLERANCE_SECONDS },
    value === undefined ? client.None() : authenticationWith(value),
    {
      execute: [...plain, client.enableNonRepudiationChecks],
      timeout: TIMEOUT_SECONDS,
      [client.customFetch]: boundedFetch,
    },
  )
}

/** HTTP Basic unless the provider takes only the form: Basic is the default of OpenID Connect Discovery. */
function authenticationWith(secret: string): client.ClientAuth {
  const [basic, post] = [client.ClientSecretBasic(secret), client.ClientSecretPost(secret)]
  return (server, metadata, body, headers) => {
    const methods = server.token_endpoint_auth_methods_supported ?? ['client_secret_basic']
    return (methods.includes('client_secret_basic') ? basic : post)(server, metadata, body, headers)
  }
}

async function exchange(
  provider: client.Configuration,
  answer: URL,
  { state, nonce, verifier }: OidcChecks,
  { neededClaims }: OidcSettings,
): Promise<Claims> {
  const tokens = await client.authorizationCodeGrant(provider, answer, {
    expectedState: state,
    expectedNonce: nonce,
    pkceCodeVerifier: verifier,
    idTokenExpected: true,
  })
  const claims: Claims | undefined = tokens.claims()
  if (!claims) throw new TypeError('the provider sent no ID token')
  const isComplete = ['email', ...neededClaims].every(name => claimAt(claims, name) !== undefined)
  if (isComplete || provider.serverMetadata().userinfo_endpoint === undefined) return claims
  return { ...(await client.fetchUserInfo(provider, tokens.access_token, String(claims.sub))), ...claims }
}

/** Like fetch, but an answer of more than {@link MAX_ANSWER_BYTES} is an error. */
const boundedFetch: client.CustomFetch = async (url, { body, ...options }) => {
  // The library posts forms, and nothing else.
  const response = await fetch(url, { ...options, body: body instanceof URLSearchParams ? body : null })
  if (!response.body) return response
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of response.body as AsyncIterable<Uint8Array>) {
    size += chunk.length
    if (size > MAX_ANSWER_BYTES) throw new RangeError(`the answer has more than ${MAX_ANSWER_BYTES} bytes`)
    chunks.push(chunk)
  }
  const { status, statusText, headers } = response
  return new Response(Buffer.concat(chunks), { status, statusText, headers })
}

/** Longest part of an error that is logged. */
const MAX_LOGGED = 200

/** What an operator needs to find the reason. Never the whole error: its parts can have codes, claims and tokens. */
function reasonOf(error: unknown): object {
  const texts = [error, error instanceof Error ? error.cause : undefined].flatMap(one =>
    one instanceof Error ? [one.message.slice(0, MAX_LOGGED)] : [],
  )
  if (!(error instanceof client.ResponseBodyError || error instanceof client.AuthorizationResponseError))
    return { reason: texts.join(': ') }
  const { error: code, error_description: description = '' } = error
  return { reason: texts[0], error: code.slice(0, MAX_LOGGED), description: description.slice(0, MAX_LOGGED) }
}

/** The refusal behind an error of the library. */
function problemOf(cause: unknown): ProblemError {
  const refused = (detail: ReturnType<typeof sentence>) => new ProblemError('oidc_refused', detail, { cause })
  if (cause instanceof client.AuthorizationResponseError) {
    if (cause.error === 'access_denied') return refused(sentence('detail.oidc_denied'))
    return refused(sentence('detail.oidc_error', { error: /^[\w.-]{1,64}/.exec(cause.error)?.[0] ?? '?' }))
  }
  if (cause instanceof client.ResponseBodyError) {
    if (cause.status >= 500) return new ProblemError('oidc_unavailable', undefined, { cause })
    return refused(sentence('detail.oidc_invalid'))
  }
  if (isUnreachable(cause)) return new ProblemError('oidc_unavailable', undefined, { cause })
  return refused(sentence('detail.oidc_invalid'))
}

/** No answer, one that came late or was too long, or the error page of a proxy. */
function isUnreachable(error: unknown): boolean {
  if (error instanceof client.ClientError)
    return (
      ['OAUTH_TIMEOUT', 'OAUTH_ABORT', 'OAUTH_RESPONSE_IS_NOT_CONFORM', 'OAUTH_RESPONSE_IS_NOT_JSON'].includes(
        error.code ?? '',
      ) || error.cause instanceof RangeError
    )
  // fetch rejects with a TypeError that has the reason as its cause.
  return error instanceof TypeError && error.cause !== undefined && !('code' in error && error.code !== undefined)
}

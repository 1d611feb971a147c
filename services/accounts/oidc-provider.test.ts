/** What a login provider may answer: what is accepted, and what is refused and how. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { exportJWK, generateKeyPair, type JWTPayload, SignJWT, UnsecuredJWT } from 'jose'
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { freePort } from '../../test/support/database/test-mongod.ts'
import { testClock } from '../../test/support/time/test-clock.ts'
import { silentLog } from '../platform/observability/log.ts'
import { ProblemError } from '../platform/problems.ts'
import { createOidcProvider, type OidcSettings } from './oidc-provider.ts'

type Keys = Awaited<ReturnType<typeof generateKeyPair>>
type Claims = Record<string, unknown>
type Answer = { status?: number; headers?: Record<string, string>; body?: unknown }

let keys: Keys
let others: Keys
beforeAll(async () => {
  ;[keys, others] = await Promise.all([generateKeyPair('ES256'), generateKeyPair('ES256')])
})

const REDIRECT = 'https://panel.example.com/oidc-callback'
const CLIENT = 'postwright'

/** A provider whose answers a test may replace by path, and whose ID token has the claims of `token`. */
async function startProvider() {
  const requests: { path: string; headers: NodeJS.Dict<string | string[]>; body: string }[] = []
  const replaced: Record<string, () => Answer | Promise<Answer>> = {}
  const server = createServer(async (request, response) => {
    const path = (request.url ?? '').split('?')[0] ?? ''
    let body = ''
    for await (const chunk of request.setEncoding('utf8')) body += chunk
    requests.push({ path, headers: request.headers, body })
    const answer: Answer = await (replaced[path] ?? answers[path] ?? (() => ({ status: 404 })))()
    response.writeHead(answer.status ?? 200, { 'content-type': 'application/json', ...answer.headers })
    response.end(typeof answer.body === 'string' ? answer.body : JSON.stringify(answer.body ?? {}))
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close().closeAllConnections())
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const metadata = {
    issuer,
    authorization_endpoint: `${issuer}/authorize`,
    token_endpoint: `${issuer}/token`,
    jwks_uri: `${issuer}/keys`,
    userinfo_endpoint: `${issuer}/userinfo`,
    id_token_signing_alg_values_supported: ['ES256'],
  }
  const state = { nonce: '', sign: signed(keys) }
  const token = async (change: Claims = {}) => {
    const now = Math.floor(Date.now() / 1000)
    return state.sign({
      iss: issuer,
      sub: 'ann',
      aud: CLIENT,
      iat: now,
      exp: now + 60,
      nonce: state.nonce,
      email: 'a@example.org',
      ...change,
    })
  }
  const tokens = async (change?: Claims): Promise<Answer> => ({
    body: { access_token: 'access', token_type: 'Bearer', id_token: await token(change) },
  })
  const answers: typeof replaced = {
    '/.well-known/openid-configuration': () => ({ body: metadata }),
    '/keys': async () => ({ body: { keys: [{ ...(await exportJWK(keys.publicKey)), kid: 'one', alg: 'ES256' }] } }),
    '/token': () => tokens(),
    '/userinfo': () => ({ body: { sub: 'ann', email: 'a@example.org', groups: ['staff'] } }),
  }
  const logged: string[] = []
  const log = {
    ...silentLog,
    warn: (fields: object, text: string) => void logged.push(JSON.stringify({ ...fields, text })),
  }
  const create = (change: Partial<OidcSettings> = {}, clock = testClock()) =>
    createOidcProvider(
      {
        ...{ issuer, clientId: CLIENT, secret: 'secret', secretFile: undefined, scopes: ['email'] },
        ...{ redirectUri: REDIRECT, neededClaims: [], ...change },
      },
      { clock, log },
    )
  /** Begins a login and completes it with a code; `query` changes what comes back. */
  const logIn = async (provider = create(), query: Record<string, string> = {}) => {
    const { checks } = await provider.begin()
    state.nonce = checks.nonce
    return provider.complete(`?${new URLSearchParams({ code: 'code', state: checks.state, ...query })}`, checks)
  }
  return { issuer, metadata, requests, replaced, state, tokens, create, logIn, logged }
}

const signed =
  ({ privateKey }: Keys, kid = 'one') =>
  (claims: JWTPayload) =>
    new SignJWT(claims).setProtectedHeader({ alg: 'ES256', kid }).sign(privateKey)

/** The code of a refusal, and that of its sentence. */
const refusalOf = (login: Promise<unknown>) =>
  login.then(
    () => 'accepted',
    (error: unknown) => {
      if (!(error instanceof ProblemError)) throw error
      return `${error.code} ${error.sentence.code}`
    },
  )
const INVALID = 'oidc_refused detail.oidc_invalid'
const UNAVAILABLE = 'oidc_unavailable problem.oidc_unavailable'

test('claims of the ID token are returned; code, verifier and secret go to the provider', async () => {
  const provider = await startProvider()
  expect(await provider.logIn()).toMatchObject({ sub: 'ann', email: 'a@example.org' })
  const { headers, body } = provider.requests.find(({ path }) => path === '/token') ?? {}
  expect(headers?.authorization).toBe(`Basic ${btoa(`${CLIENT}:secret`)}`)
  expect(Object.fromEntries(new URLSearchParams(body))).toEqual({
    grant_type: 'authorization_code',
    code: 'code',
    redirect_uri: REDIRECT,
    code_verifier: expect.stringMatching(/^[\w-]{43}$/),
  })
  expect(provider.requests.map(({ path }) => path)).not.toContain('/userinfo')
})

describe('the client secret', () => {
  const credentialsOf = ({ requests }: Awaited<ReturnType<typeof startProvider>>) => {
    const { headers, body } = requests.findLast(({ path }) => path === '/token') ?? {}
    return [headers?.authorization, new URLSearchParams(body).get('client_secret')]
  }

  test('goes into the form where the provider takes no Basic', async () => {
    const provider = await startProvider()
    const metadata = { ...provider.metadata, token_endpoint_auth_methods_supported: ['client_secret_post'] }
    provider.replaced['/.well-known/openid-configuration'] = () => ({ body: metadata })
    await provider.logIn()
    expect(credentialsOf(provider)).toEqual([undefined, 'secret'])
  })

  test('may be absent: PKCE alone protects a public client', async () => {
    const provider = await startProvider()
    await provider.logIn(provider.create({ secret: undefined }))
    expect(credentialsOf(provider)).toEqual([undefined, null])
  })

  test('may be in a file, which is read again after an hour', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'pw-oidc-'))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    const file = join(folder, 'secret')
    const [provider, clock] = [await startProvider(), testClock()]
    const logins = provider.create({ secret: undefined, secretFile: file }, clock)
    expect(await refusalOf(provider.logIn(logins))).toBe(UNAVAILABLE)
    writeFileSync(file, 'first\n')
    await provider.logIn(logins)
    expect(credentialsOf(provider)[0]).toBe(`Basic ${btoa(`${CLIENT}:first`)}`)
    writeFileSync(file, 'second')
    clock.advance(3_600_000)
    await provider.logIn(logins)
    expect(credentialsOf(provider)[0]).toBe(`Basic ${btoa(`${CLIENT}:second`)}`)
  })
})

test('what the ID token lacks is asked for at the UserInfo endpoint, of the same person only', async () => {
  const provider = await startProvider()
  const withGroups = () => provider.create({ neededClaims: ['groups'] })
  expect(await provider.logIn(withGroups())).toMatchObject({ sub: 'ann', groups: ['staff'] })
  provider.replaced['/userinfo'] = () => ({ body: { sub: 'eve', groups: ['admins'] } })
  expect(await refusalOf(provider.logIn(withGroups()))).toBe(INVALID)
  // What both have is that of the signed token.
  provider.replaced['/userinfo'] = () => ({ body: { sub: 'ann', email: 'b@example.org', groups: [] } })
  expect(await provider.logIn(withGroups())).toMatchObject({ email: 'a@example.org' })
})

describe('an ID token is refused', () => {
  const now = Math.floor(Date.now() / 1000)
  test.each<[string, Claims]>([
    ['with another nonce', { nonce: 'another' }],
    ['without a nonce', { nonce: undefined }],
    ['for another client', { aud: 'another' }],
    ['for several clients of which another asked', { aud: [CLIENT, 'another'], azp: 'another' }],
    ['of another issuer', { iss: 'https://evil.example' }],
    ['that has expired', { exp: now - 120 }],
    ['that is not valid yet', { nbf: now + 600 }],
    ['without its end', { exp: undefined }],
    ['without a subject', { sub: undefined }],
  ])('%s', async (_, change) => {
    const provider = await startProvider()
    provider.replaced['/token'] = () => provider.tokens(change)
    expect(await refusalOf(provider.logIn())).toBe(INVALID)
  })

  test.each<[string, (claims: JWTPayload) => Promise<string>]>([
    ['signed with a key of somebody else', claims => signed(others)(claims)],
    ['signed with a key that the provider does not list', claims => signed(others, 'two')(claims)],
    ['without a signature', claims => Promise.resolve(new UnsecuredJWT(claims).encode())],
    [
      'signed with the client secret',
      claims => new SignJWT(claims).setProtectedHeader({ alg: 'HS256' }).sign(Buffer.from('secret'.repeat(8))),
    ],
    ['that is none', () => Promise.resolve('none')],
  ])('%s', async (_, sign) => {
    const provider = await startProvider()
    provider.state.sign = sign
    expect(await refusalOf(provider.logIn())).toBe(INVALID)
  })

  test('when there is none', async () => {
    const provider = await startProvider()
    provider.replaced['/token'] = () => ({ body: { access_token: 'access', token_type: 'Bearer' } })
    expect(await refusalOf(provider.logIn())).toBe(INVALID)
  })
})

test('the reason of a refusal is logged, without codes, tokens and claims', async () => {
  const provider = await startProvider()
  provider.replaced['/token'] = () => provider.tokens({ aud: 'another' })
  expect(await refusalOf(provider.logIn())).toBe(INVALID)
  provider.replaced['/token'] = () => ({ status: 400, body: { error: 'invalid_grant', error_description: 'expired' } })
  expect(await refusalOf(provider.logIn())).toBe(INVALID)
  expect(await refusalOf(provider.logIn(undefined, { error: 'access_denied' }))).toContain('oidc_denied')
  expect(await refusalOf(provider.create({ issuer: `http://127.0.0.1:${await freePort()}` }).begin())).toBe(UNAVAILABLE)
  expect(provider.logged).toEqual([
    expect.stringContaining('unexpected JWT claim value encountered'),
    expect.stringContaining('"error":"invalid_grant","description":"expired"'),
    expect.stringContaining('"error":"access_denied"'),
    expect.stringContaining('ECONNREFUSED'),
  ])
  expect(provider.logged.join()).not.toMatch(/example\.org|eyJ|another|verifier|"code"/)
})

test('a clock that differs by less than a minute is tolerated', async () => {
  const provider = await startProvider()
  provider.replaced['/token'] = () => provider.tokens({ exp: Math.floor(Date.now() / 1000) - 30 })
  expect(await refusalOf(provider.logIn())).toBe('accepted')
})

test.each<[string, Record<string, string>, string]>([
  ['of another login', { state: 'another' }, 'login_expired problem.login_expired'],
  ['without a code', { code: '' }, INVALID],
  ['with a denial', { error: 'access_denied' }, 'oidc_refused detail.oidc_denied'],
  ['with an error', { error: 'temporarily_unavailable' }, 'oidc_refused detail.oidc_error'],
])('an answer %s is refused', async (_, query, refusal) => {
  const provider = await startProvider()
  expect(await refusalOf(provider.logIn(undefined, query))).toBe(refusal)
})

test('an answer without the issuer that the provider promises to name is refused', async () => {
  const provider = await startProvider()
  const metadata = { ...provider.metadata, authorization_response_iss_parameter_supported: true }
  provider.replaced['/.well-known/openid-configuration'] = () => ({ body: metadata })
  expect(await refusalOf(provider.logIn())).toBe(INVALID)
  expect(await refusalOf(provider.logIn(undefined, { iss: 'https://evil.example' }))).toBe(INVALID)
  expect(await refusalOf(provider.logIn(undefined, { iss: provider.issuer }))).toBe('accepted')
})

describe('a provider that fails', () => {
  const huge = { body: `{"a":"${'x'.repeat(600_000)}"}` }
  test.each<[string, string, Answer, string]>([
    ['metadata', '/.well-known/openid-configuration', { status: 500 }, UNAVAILABLE],
    ['metadata', '/.well-known/openid-configuration', { status: 302, headers: { location: '/other' } }, UNAVAILABLE],
    ['metadata', '/.well-known/openid-configuration', { body: '<html>' }, UNAVAILABLE],
    ['metadata', '/.well-known/openid-configuration', { body: { issuer: 'https://evil.example' } }, UNAVAILABLE],
    ['metadata', '/.well-known/openid-configuration', huge, UNAVAILABLE],
    ['tokens', '/token', { status: 400, body: { error: 'invalid_grant' } }, INVALID],
    ['tokens', '/token', { status: 401, body: { error: 'invalid_client' } }, INVALID],
    ['tokens', '/token', { status: 502, headers: { 'content-type': 'text/html' }, body: '<html>' }, UNAVAILABLE],
    ['tokens', '/token', huge, UNAVAILABLE],
    ['keys', '/keys', { status: 503 }, UNAVAILABLE],
    ['keys', '/keys', { body: { keys: [] } }, INVALID],
    ['keys', '/keys', huge, UNAVAILABLE],
  ])('with its %s (%s: %j): %s', async (_, path, answer, refusal) => {
    const provider = await startProvider()
    provider.replaced[path] = () => answer
    expect(await refusalOf(provider.logIn())).toBe(refusal)
    delete provider.replaced[path]
    expect(await refusalOf(provider.logIn())).toBe('accepted')
  })

  test('because it is down is tried again at the next login', async () => {
    const provider = await startProvider()
    const logins = provider.create({ issuer: `http://127.0.0.1:${await freePort()}` })
    expect(await refusalOf(logins.begin())).toBe(UNAVAILABLE)
    expect(await refusalOf(logins.begin())).toBe(UNAVAILABLE)
  })

  test('because it does not answer ends after some seconds', async () => {
    const provider = await startProvider()
    provider.replaced['/token'] = () => new Promise<Answer>(() => undefined)
    expect(await refusalOf(provider.logIn())).toBe(UNAVAILABLE)
  }, 20_000)
})

/** Login with a real OpenID Connect provider: linking, creating, roles, second factor, refusals. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { codeOf, stepAt } from '../../../services/accounts/rules/totp.ts'
import { listAudit } from '../../../services/accounts/store/audit-log.ts'
import { identities } from '../../../services/accounts/store/identities.ts'
import { findUser, findUserByName, type UserDoc, updateUser } from '../../../services/accounts/store/users.ts'
import { collectionOf } from '../../../services/platform/database/mongo.ts'
import { PASSWORD } from '../../support/accounts/accounts-and-domains.ts'
import { type LoginProvider, logInAtProvider, startLoginProvider } from '../../support/accounts/login-provider.ts'
import type { ApiClient } from '../../support/http/api-client.ts'
import { type PanelApi, startPanelApi } from '../../support/http/panel-api.ts'
import { type TestClock, testClock } from '../../support/time/test-clock.ts'

const BASE = 'https://panel.example.com'
const SESSION = '/api/v1/session'
const ADMINS = { OIDC_ROLE_CLAIM: 'groups', OIDC_ADMIN_VALUES: 'mail-admins,root' }

let provider: LoginProvider
let clock: TestClock
/** Links only. */
let api: PanelApi
/** Creates accounts, and takes roles from the provider. */
let open: PanelApi
beforeAll(async () => {
  provider = await startLoginProvider(`${BASE}/oidc-callback`)
  clock = testClock()
  ;[api, open] = await Promise.all([startWith({}), startWith({ OIDC_CREATE_ACCOUNTS: 'true', ...ADMINS })])
})
afterAll(async () => {
  await Promise.all([api, open].map(one => one?.stop()))
  await provider?.stop()
})

function startWith(env: Record<string, string>): Promise<PanelApi> {
  const settings = {
    APP_BASE_URL: BASE,
    OIDC_ISSUER: provider.issuer,
    OIDC_CLIENT_ID: provider.clientId,
    OIDC_CLIENT_SECRET: provider.clientSecret,
  }
  return startPanelApi({ ...settings, ...env }, clock)
}

/** Begins a login; the client has the cookie of it. */
async function begin(at: PanelApi): Promise<{ client: ApiClient; url: string; setCookie: string }> {
  const answer = await at.anonymous.post(`${SESSION}/oidc`)
  expect(answer.status).toBe(200)
  const setCookie = answer.headers.get('set-cookie') ?? ''
  return { client: at.anonymous.with({ cookie: setCookie.split(';')[0] ?? '' }), url: answer.body.url, setCookie }
}

/** A whole login of a person, up to the answer of the panel. */
async function logIn(at: PanelApi, person: LoginProvider['person'], more: object = {}) {
  provider.person = person
  const { client, url } = await begin(at)
  const back = await logInAtProvider(url)
  expect(`${back.origin}${back.pathname}`).toBe(`${BASE}/oidc-callback`)
  return client.post(`${SESSION}/oidc/complete`, { query: back.search, ...more })
}

/** The client with the session cookie of an answer. */
function sessionOf(at: PanelApi, { headers }: { headers: Headers }): ApiClient {
  const cookie = headers.getSetCookie().find(line => line.startsWith('__Host-pw_session=')) ?? ''
  return at.anonymous.with({ cookie: cookie.split(';')[0] ?? '', 'x-csrf': '1' })
}

let count = 0
const newPerson = (change: object = {}) => {
  const sub = `person-${++count}`
  return { sub, email: `${sub}@example.org`, email_verified: true, preferred_username: sub, ...change }
}
const actionsOf = async (at: PanelApi, { _id }: UserDoc) =>
  (await listAudit(at.db, _id, { limit: 20 })).map(({ action, actor }) => `${action} ${actor.via}`).toSorted()

describe('ways to log in', () => {
  test('are public: the name of the provider is its host unless it is set', async () => {
    const named = await startWith({ OIDC_NAME: 'Company login', PASSWORD_LOGIN: 'false' })
    const none = await startPanelApi()
    try {
      const methods = (at: PanelApi) => at.anonymous.get(`${SESSION}/methods`)
      expect((await methods(api)).body).toMatchObject({ password: true, oidc: { name: '127.0.0.1' } })
      expect((await methods(named)).body).toMatchObject({ password: false, oidc: { name: 'Company login' } })
      expect((await methods(none)).body).toMatchObject({ password: true, oidc: null })
      expect(await none.anonymous.post(`${SESSION}/oidc`)).toMatchObject({
        status: 404,
        body: { detail_code: 'detail.oidc_off' },
      })
      expect((await none.anonymous.post(`${SESSION}/oidc/complete`, { query: '?code=1' })).status).toBe(404)

      const { user } = await named.newUser()
      const { username } = user
      for (const answer of [
        await named.anonymous.post(SESSION, { username, password: PASSWORD }),
        await named.anonymous.post(`${SESSION}/password-reset`, { username }),
      ])
        expect(answer).toMatchObject({ status: 403, body: { detail_code: 'detail.password_login_off' } })
    } finally {
      await Promise.all([named.stop(), none.stop()])
    }
  })
})

describe('a login begins', () => {
  test('with PKCE, state and nonce, and with a cookie that only this host gets', async () => {
    const { url, setCookie } = await begin(api)
    const asked = Object.fromEntries(new URL(url).searchParams)
    expect(asked).toMatchObject({
      response_type: 'code',
      client_id: 'postwright',
      redirect_uri: `${BASE}/oidc-callback`,
      scope: 'openid profile email',
      code_challenge_method: 'S256',
      code_challenge: expect.stringMatching(/^[\w-]{43}$/),
    })
    expect(asked.state).not.toBe(asked.nonce)
    expect(setCookie).toMatch(/^__Host-pw_oidc=v1\.[^;]+; Path=\/; HttpOnly; SameSite=Lax; Secure; Max-Age=600$/)
    for (const secret of [asked.state, asked.nonce]) expect(setCookie).not.toContain(secret)
    const other = await begin(api)
    expect(new URL(other.url).searchParams.get('state')).not.toBe(asked.state)
  })

  test('metadata of the provider is read once', async () => {
    await begin(api)
    const before = provider.requests.length
    await Promise.all([begin(api), begin(api)])
    expect(provider.requests.length).toBe(before)
  })
})

describe('a first login', () => {
  test('is linked to the account whose confirmed address the provider has verified', async () => {
    const person = newPerson()
    const { user } = await api.newUser({ email: person.email })
    const answer = await logIn(api, { ...person, email: person.email.toUpperCase() })
    expect(answer).toMatchObject({ status: 200, body: { user: { id: user._id } } })
    expect(answer.headers.getSetCookie().filter(line => line.includes('Max-Age=0'))).toHaveLength(1)
    const client = sessionOf(api, answer)
    const { data } = (await client.get('/api/v1/me/sessions')).body
    const shown = data.map(({ method, current }: { method: string; current: boolean }) => `${method} ${current}`)
    expect(shown.toSorted()).toEqual(['oidc true', 'password false'])
    expect(await actionsOf(api, user)).toEqual(['session.opened oidc', 'user.identity_linked oidc'])

    // From now on the subject decides, whatever the address is.
    await updateUser(api.db, user._id, { email: 'elsewhere@example.org' })
    const again = await logIn(api, { sub: person.sub })
    expect(again).toMatchObject({ status: 200, body: { user: { id: user._id } } })
    expect(await actionsOf(api, user)).toEqual([
      'session.opened oidc',
      'session.opened oidc',
      'user.identity_linked oidc',
    ])
  })

  test.each<[string, (email: string) => object, string]>([
    ['whose address nobody here has', () => ({}), 'detail.oidc_no_account'],
    ['whose address the provider has not verified', () => ({ email_verified: false }), 'detail.oidc_unverified'],
    ['without the claim email_verified', () => ({ email_verified: undefined }), 'detail.oidc_unverified'],
    ['without an address', () => ({ email: undefined }), 'detail.oidc_no_email'],
    ['whose address is none', () => ({ email: 'ann at example' }), 'detail.oidc_no_email'],
  ])('of a person %s is refused', async (name, change, code) => {
    const person = newPerson()
    // An account that waits for the confirmation of an address does not have it yet.
    await api.newUser(name.startsWith('whose address nobody') ? {} : { email: person.email })
    const answer = await logIn(api, { ...person, ...change(person.email) })
    expect(answer).toMatchObject({ status: 403, body: { code: 'oidc_refused', detail_code: code } })
    expect(answer.headers.getSetCookie().some(line => line.startsWith('__Host-pw_session'))).toBe(false)
  })

  test('is refused where two accounts have the address, and where the account has another person', async () => {
    const [shared, taken] = [newPerson(), newPerson()]
    await api.newUser({ email: shared.email })
    await api.newUser({ email: shared.email })
    expect(await logIn(api, shared)).toMatchObject({ body: { detail_code: 'detail.oidc_ambiguous' } })
    await api.newUser({ email: taken.email })
    expect((await logIn(api, taken)).status).toBe(200)
    expect(await logIn(api, { ...taken, sub: 'someone-else' })).toMatchObject({
      body: { detail_code: 'detail.oidc_linked' },
    })
  })

  test('creates an account where that is allowed, with name and address of the person', async () => {
    const person = newPerson()
    const answer = await logIn(open, person, { lang: 'zh', tz: 'Asia/Shanghai' })
    expect(answer).toMatchObject({
      status: 200,
      body: {
        user: { username: person.sub, email: person.email, role: 'user', lang: 'zh', tz: 'Asia/Shanghai' },
      },
    })
    const user = (await findUserByName(open.db, person.sub)) as UserDoc
    expect(await actionsOf(open, user)).toEqual([
      'session.opened oidc',
      'user.created oidc',
      'user.identity_linked oidc',
    ])
  })

  test.each([
    [
      'the name with a number',
      { preferred_username: 'Root', email: 'root@example.org' },
      ['root', 'root@example.org'],
      'root-2',
    ],
    ['the address', { preferred_username: 'not a name', email: 'Eve@example.org' }, [], 'eve@example.org'],
    [
      'its local part',
      { preferred_username: 'fay', email: 'fay.b@example.org' },
      ['fay', 'fay.b@example.org'],
      'fay.b',
    ],
  ])('creates an account with %s when the name cannot be used', async (_, change, taken, username) => {
    for (const name of taken) if (!(await findUserByName(open.db, name))) await open.newUser({ username: name })
    expect((await logIn(open, newPerson(change))).body.user.username).toBe(username)
  })

  test('creates an account without an address that is not verified', async () => {
    const person = newPerson({ email_verified: false })
    const { user: owner } = await open.newUser({ email: person.email })
    const { body } = await logIn(open, person)
    expect(body.user).toMatchObject({ username: person.sub, email: null })
    expect(body.user.id).not.toBe(owner._id)
  })

  test('twice at once makes one account', async () => {
    const person = newPerson()
    provider.person = person
    const queries = []
    for (let n = 0; n < 3; n++) {
      const { client, url } = await begin(open)
      queries.push({ client, query: (await logInAtProvider(url)).search })
    }
    const answers = await Promise.all(
      queries.map(({ client, query }) => client.post(`${SESSION}/oidc/complete`, { query })),
    )
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200])
    expect(new Set(answers.map(({ body }) => body.user.id)).size).toBe(1)
    expect(await collectionOf(open.db, identities).countDocuments({ subject: person.sub })).toBe(1)
  })
})

describe('roles', () => {
  test('are read at every login', async () => {
    await open.newUser({ role: 'admin' })
    const person = newPerson()
    const role = async (groups?: string[]) =>
      (await logIn(open, { ...person, ...(groups ? { groups } : {}) })).body.user.role
    expect(await role(['staff'])).toBe('user')
    expect(await role(['staff', 'root'])).toBe('admin')
    expect(await role(['Root'])).toBe('user')
    expect(await role(['mail-admins'])).toBe('admin')
    expect(await role()).toBe('user')
    const user = (await findUserByName(open.db, person.sub)) as UserDoc
    expect((await actionsOf(open, user)).filter(action => action === 'user.role_changed oidc')).toHaveLength(4)
  })

  test('stay those of Postwright without OIDC_ROLE_CLAIM', async () => {
    const person = newPerson({ groups: ['root'] })
    await api.newUser({ email: person.email })
    expect((await logIn(api, person)).body.user.role).toBe('user')
  })

  test('leave the last active admin one', async () => {
    const alone = await startWith({ OIDC_CREATE_ACCOUNTS: 'true', ...ADMINS })
    try {
      const person = newPerson()
      expect((await logIn(alone, { ...person, groups: ['root'] })).body.user.role).toBe('admin')
      expect((await logIn(alone, person)).body.user.role).toBe('admin')
      await alone.newUser({ role: 'admin' })
      expect((await logIn(alone, person)).body.user.role).toBe('user')
    } finally {
      await alone.stop()
    }
  })
})

test('a suspended account stays out, linked or not', async () => {
  const person = newPerson()
  const { user } = await api.newUser({ email: person.email })
  await updateUser(api.db, user._id, { status: 'suspended' })
  expect(await logIn(api, person)).toMatchObject({ status: 403, body: { code: 'account_suspended' } })
  await updateUser(api.db, user._id, { status: 'active' })
  const client = sessionOf(api, await logIn(api, person))
  await updateUser(api.db, user._id, { status: 'suspended' })
  expect((await client.get('/api/v1/me')).status).toBe(401)
  expect(await logIn(api, person)).toMatchObject({ status: 403, body: { code: 'account_suspended' } })
})

test('an account with a second factor is asked for it', async () => {
  const person = newPerson()
  const { user, client } = await api.newUser({ email: person.email })
  const { body } = await client.post('/api/v1/me/second-factor', { current_password: PASSWORD })
  const code = (ahead: number) => codeOf(fromBase32(body.secret), stepAt(clock.now().getTime()) + ahead)
  expect((await client.post('/api/v1/me/second-factor/confirm', { code: code(-1) })).status).toBe(200)
  const first = await logIn(api, person)
  expect(first).toMatchObject({ status: 401, body: { code: 'second_factor_required' } })
  expect(first.headers.getSetCookie().some(line => line.startsWith('__Host-pw_session'))).toBe(false)
  const { challenge } = first.body
  const second = await api.anonymous.post(`${SESSION}/second-factor`, { challenge, code: code(0) })
  expect(second.status).toBe(200)
  const { data } = (await sessionOf(api, second).get('/api/v1/me/sessions')).body
  expect(data.find((one: { current: boolean }) => one.current)).toMatchObject({ method: 'oidc' })
  expect((await findUser(api.db, user._id))?.status).toBe('active')
})

describe('the way back', () => {
  const complete = (client: ApiClient, query: string) => client.post(`${SESSION}/oidc/complete`, { query })
  const expired = { status: 401, body: { code: 'login_expired' } }
  async function arrived(answer: 'login' | 'deny' = 'login') {
    const person = newPerson()
    provider.person = person
    await api.newUser({ email: person.email })
    const { client, url } = await begin(api)
    return { client, query: (await logInAtProvider(url, answer)).search }
  }

  test('counts once: a repeated one is refused, with the same cookie as well', async () => {
    const { client, query } = await arrived()
    const answers = await Promise.all([complete(client, query), complete(client, query)])
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 401])
    expect(await complete(client, query)).toMatchObject(expired)
  })

  test('needs the browser that began the login', async () => {
    const [mine, theirs] = [await arrived(), await arrived()]
    expect(await complete(api.anonymous, mine.query)).toMatchObject(expired)
    expect(await complete(theirs.client, mine.query)).toMatchObject(expired)
    const forged = api.anonymous.with({ cookie: '__Host-pw_oidc=v1.a.b.c' })
    expect(await complete(forged, mine.query)).toMatchObject(expired)
    expect((await complete(mine.client, mine.query)).status).toBe(200)
  })

  test('ends with the time for a login', async () => {
    const { client, query } = await arrived()
    clock.advance(10 * 60_000)
    expect(await complete(client, query)).toMatchObject(expired)
  })

  test('with a denial says so', async () => {
    const { client, query } = await arrived('deny')
    expect(query).toContain('error=access_denied')
    expect(await complete(client, query)).toMatchObject({
      status: 403,
      body: { code: 'oidc_refused', detail_code: 'detail.oidc_denied' },
    })
  })

  test.each<[string, (query: URLSearchParams) => void, string]>([
    ['a code of nobody', query => query.set('code', 'guessed'), 'detail.oidc_invalid'],
    ['no code', query => query.delete('code'), 'detail.oidc_invalid'],
    ['two codes', query => query.append('code', 'another'), 'detail.oidc_invalid'],
    ['another issuer', query => query.set('iss', 'https://evil.example'), 'detail.oidc_invalid'],
    ['an error of the provider', query => query.set('error', 'server_error'), 'detail.oidc_error'],
    ['markup as error', query => query.set('error', '<b>'), 'detail.oidc_error'],
  ])('with %s is refused', async (_, change, code) => {
    const { client, query } = await arrived()
    const changed = new URLSearchParams(query)
    change(changed)
    const answer = await complete(client, `?${changed}`)
    expect(answer).toMatchObject({ status: 403, body: { code: 'oidc_refused', detail_code: code } })
    expect(JSON.stringify(answer.body)).not.toContain('<b>')
  })

  test.each(['', '?', 'x'.repeat(8_193)])('with a query of the wrong length is refused (%#)', async query => {
    const { client } = await arrived()
    expect((await complete(client, query)).status).toBeOneOf([401, 422])
  })
})

function fromBase32(secret: string): Buffer {
  const bits = [...secret].map(char => 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'.indexOf(char).toString(2).padStart(5, '0'))
  return Buffer.from((bits.join('').match(/.{8}/g) ?? []).map(byte => Number.parseInt(byte, 2)))
}

/** Passkeys: registration, logins, the list, and what must not get past them. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { MAX_PASSKEYS } from '../../../services/accounts/passkeys.ts'
import { listAudit } from '../../../services/accounts/store/audit-log.ts'
import { findPasskey, insertPasskey } from '../../../services/accounts/store/passkeys.ts'
import { type UserDoc, updateUser } from '../../../services/accounts/store/users.ts'
import { PASSWORD } from '../../support/accounts/accounts-and-domains.ts'
import { type PasskeyAnswer, type SoftwarePasskey, softwarePasskey } from '../../support/accounts/software-passkey.ts'
import type { ApiClient } from '../../support/http/api-client.ts'
import { type PanelApi, startPanelApi } from '../../support/http/panel-api.ts'
import { type TestClock, testClock } from '../../support/time/test-clock.ts'

const ORIGIN = 'https://panel.example.com'
const PASSKEYS = '/api/v1/me/passkeys'
const LOGIN = '/api/v1/session/passkey'

let api: PanelApi
let clock: TestClock
beforeAll(async () => {
  clock = testClock()
  api = await startPanelApi({ APP_BASE_URL: ORIGIN }, clock)
})
afterAll(() => api?.stop())

type Change = Partial<PasskeyAnswer>
const answerTo = (options: { challenge: string }, change: Change = {}): PasskeyAnswer => ({
  challenge: options.challenge,
  origin: ORIGIN,
  host: 'panel.example.com',
  ...change,
})

/** Asks for a passkey and registers the answer. */
async function register(client: ApiClient, passkey: SoftwarePasskey, change: Change = {}, name = 'My phone') {
  const { body } = await client.post(`${PASSKEYS}/options`, { current_password: PASSWORD })
  return client.post(PASSKEYS, { name, challenge: body.challenge, ...passkey.register(answerTo(body.options, change)) })
}

/** Asks for a login and answers it. */
async function logIn(passkey: SoftwarePasskey, change: Change = {}, more: object = {}) {
  const { body } = await api.anonymous.post(`${LOGIN}/options`)
  return api.anonymous.post(LOGIN, {
    challenge: body.challenge,
    ...passkey.logIn(answerTo(body.options, change)),
    ...more,
  })
}

async function withPasskey(options: { counts?: boolean } = {}) {
  const { user, client } = await api.newUser()
  const passkey = softwarePasskey(user._id, options)
  expect(await register(client, passkey)).toMatchObject({ status: 201 })
  return { user, client, passkey }
}

const REFUSED = { status: 401, body: { code: 'passkey_refused', detail_code: 'detail.passkey_invalid' } }
const EXPIRED = { status: 401, body: { code: 'login_expired' } }

describe('a registration', () => {
  test('asks for a passkey that finds its account itself and verifies its user', async () => {
    const { user, client } = await api.newUser()
    const { status, body } = await client.post(`${PASSKEYS}/options`, { current_password: PASSWORD })
    expect(status).toBe(200)
    expect(body.options).toMatchObject({
      rp: { id: 'panel.example.com', name: 'Postwright' },
      user: { id: Buffer.from(user._id).toString('base64url'), name: user.username },
      attestation: 'none',
      authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
      excludeCredentials: [],
      pubKeyCredParams: [-8, -7, -257].map(alg => ({ type: 'public-key', alg })),
    })
    expect(body.challenge).not.toContain(body.options.challenge)
  })

  test('needs the password', async () => {
    const { client } = await api.newUser()
    const answer = await client.post(`${PASSKEYS}/options`, { current_password: 'wrong' })
    expect(answer).toMatchObject({ status: 401, body: { code: 'invalid_login' } })
  })

  test('stores the public key, and nothing that logs in', async () => {
    const { user, client, passkey } = await withPasskey()
    const { data } = (await client.get(PASSKEYS)).body
    expect(data).toMatchObject([{ id: passkey.id, name: 'My phone', synced: false, last_used_at: null }])
    expect(await findPasskey(api.db, passkey.id)).toMatchObject({
      user_id: user._id,
      counter: 1,
      transports: ['internal'],
    })
    const { body } = await client.post(`${PASSKEYS}/options`, { current_password: PASSWORD })
    expect(body.options.excludeCredentials).toMatchObject([{ id: passkey.id }])
    expect(await actionsOf(user)).toContain('passkey.created session')
  })

  test.each<[string, Change]>([
    ['with another challenge', { challenge: 'AAAA' }],
    ['from another origin', { origin: 'https://panel.example.com.evil.example' }],
    ['from another port', { origin: `${ORIGIN}:8443` }],
    ['for another host', { host: 'evil.example' }],
    ['without a verified user', { isVerified: false }],
    ['that is a login', { type: 'webauthn.get' }],
  ])('%s is refused', async (_, change) => {
    const { user, client } = await api.newUser()
    const passkey = softwarePasskey(user._id)
    expect(await register(client, passkey, change)).toMatchObject(REFUSED)
    expect(await findPasskey(api.db, passkey.id)).toBeUndefined()
  })

  test('counts once, for the account and in the time that it was asked for', async () => {
    const [mine, theirs] = [await api.newUser(), await api.newUser()]
    const ask = async () => (await mine.client.post(`${PASSKEYS}/options`, { current_password: PASSWORD })).body
    const bodyFor = ({ challenge, options }: { challenge: string; options: { challenge: string } }) => ({
      ...{ name: 'x', challenge },
      ...softwarePasskey(mine.user._id).register(answerTo(options)),
    })
    const asked = await ask()
    expect(await theirs.client.post(PASSKEYS, bodyFor(asked))).toMatchObject(EXPIRED)
    const again = await ask()
    const answers = await Promise.all([1, 2].map(() => mine.client.post(PASSKEYS, bodyFor(again))))
    expect(answers.map(({ status }) => status).toSorted()).toEqual([201, 401])
    const late = await ask()
    clock.advance(5 * 60_000)
    expect(await mine.client.post(PASSKEYS, bodyFor(late))).toMatchObject(EXPIRED)
    const login = (await api.anonymous.post(`${LOGIN}/options`)).body
    expect(await mine.client.post(PASSKEYS, bodyFor(login))).toMatchObject(EXPIRED)
  })

  test('of a known passkey, and of one too many, is refused', async () => {
    const { user, client, passkey } = await withPasskey()
    expect(await register((await api.newUser()).client, passkey)).toMatchObject({
      status: 409,
      body: { detail_code: 'detail.passkey_known' },
    })
    const known = await findPasskey(api.db, passkey.id)
    for (let n = 1; n < MAX_PASSKEYS; n++)
      if (known) await insertPasskey(api.db, { ...known, _id: `${passkey.id}${n}` })
    expect((await client.get(PASSKEYS)).body.data).toHaveLength(MAX_PASSKEYS)
    const answer = await client.post(`${PASSKEYS}/options`, { current_password: PASSWORD })
    expect(answer).toMatchObject({ status: 409, body: { detail_code: 'detail.passkey_most' } })
    expect(user.username).toBeTruthy()
  })

  test.each<[string, object]>([
    ['an attestation that is none', { attestation: 'AAAA' }],
    ['client data that are none', { client_data: 'AAAA' }],
    ['the id of another', { id: 'AAAA' }],
  ])('with %s is refused', async (_, change) => {
    const { user, client } = await api.newUser()
    const { body } = await client.post(`${PASSKEYS}/options`, { current_password: PASSWORD })
    const made = softwarePasskey(user._id).register(answerTo(body.options))
    const answer = await client.post(PASSKEYS, { name: 'x', challenge: body.challenge, ...made, ...change })
    expect(answer.status).toBeOneOf([201, 401])
    if (answer.status === 201) expect(answer.body.id).toBe(made.id)
    else expect(answer).toMatchObject(REFUSED)
  })

  test.each<[string, object]>([
    ['name', { name: '' }],
    ['name', { name: 'x'.repeat(65) }],
    ['id', { id: 'not base64url!' }],
    ['id', { id: 'A'.repeat(1_365) }],
    ['attestation', { attestation: 'A'.repeat(32_769) }],
    ['transports', { transports: ['<b>'] }],
    ['challenge', { challenge: 'x'.repeat(1_025) }],
  ])('with a bad %s is not read (%#)', async (field, change) => {
    const { user, client } = await api.newUser()
    const made = softwarePasskey(user._id).register(answerTo({ challenge: 'AAAA' }))
    const answer = await client.post(PASSKEYS, { name: 'x', challenge: 'x', ...made, ...change })
    expect(answer.status).toBe(422)
    expect(answer.body.errors[0].pointer).toMatch(new RegExp(`^/${field}`))
  })
})

describe('a login', () => {
  test('needs nothing but the passkey, and asks for no second factor', async () => {
    const { user, passkey } = await withPasskey()
    const answer = await logIn(passkey)
    expect(answer).toMatchObject({ status: 200, body: { user: { id: user._id } } })
    const cookie = (answer.headers.get('set-cookie') ?? '').split(';')[0] ?? ''
    const client = api.anonymous.with({ cookie })
    const { data } = (await client.get('/api/v1/me/sessions')).body
    expect(data.find((one: { current: boolean }) => one.current)).toMatchObject({ method: 'passkey' })
    expect((await client.get(PASSKEYS)).body.data[0].last_used_at).not.toBeNull()
    expect(await findPasskey(api.db, passkey.id)).toMatchObject({ counter: 2 })
    expect(await actionsOf(user)).toContain('session.opened passkey')
  })

  test('does not tell which accounts exist: its question fits all', async () => {
    const { body } = await api.anonymous.post(`${LOGIN}/options`)
    expect(body.options).toMatchObject({ rpId: 'panel.example.com', userVerification: 'required' })
    expect(body.options.allowCredentials ?? []).toEqual([])
  })

  test.each<[string, Change]>([
    ['with another challenge', { challenge: 'AAAA' }],
    ['from another origin', { origin: 'https://evil.example' }],
    ['for another host', { host: 'evil.example' }],
    ['without a verified user', { isVerified: false }],
    ['that is a registration', { type: 'webauthn.create' }],
    ['with a counter that stands still', { counter: 1 }],
    ['with a counter that goes back', { counter: 0 }],
    ['of another user', { userHandle: 'usr_another' }],
  ])('%s is refused', async (_, change) => {
    const { passkey } = await withPasskey()
    const answer = await logIn(passkey, change)
    expect(answer).toMatchObject(REFUSED)
    expect(answer.headers.get('set-cookie')).toBeNull()
    expect((await logIn(passkey, { counter: 9 })).status).toBe(200)
  })

  test('with the signature of another passkey is refused', async () => {
    const [mine, theirs] = [await withPasskey(), await withPasskey()]
    const forged = softwarePasskey(mine.user._id)
    expect(await logIn(forged, {}, { id: mine.passkey.id })).toMatchObject(REFUSED)
    const userHandle = mine.user._id
    expect(await logIn(theirs.passkey, { userHandle })).toMatchObject(REFUSED)
    expect(await logIn(theirs.passkey, { userHandle }, { id: mine.passkey.id })).toMatchObject(REFUSED)
  })

  test('with a passkey of nobody says so', async () => {
    const answer = await logIn(softwarePasskey('usr_nobody'))
    expect(answer).toMatchObject({ status: 401, body: { detail_code: 'detail.passkey_unknown' } })
  })

  test('counts once, and in the time that it was asked for', async () => {
    const { client, passkey } = await withPasskey()
    const { challenge, options } = (await api.anonymous.post(`${LOGIN}/options`)).body
    const body = { challenge, ...passkey.logIn(answerTo(options)) }
    const answers = await Promise.all([1, 2, 3].map(() => api.anonymous.post(LOGIN, body)))
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 401, 401])
    const late = (await api.anonymous.post(`${LOGIN}/options`)).body
    clock.advance(5 * 60_000)
    const lateBody = { challenge: late.challenge, ...passkey.logIn(answerTo(late.options)) }
    expect(await api.anonymous.post(LOGIN, lateBody)).toMatchObject(EXPIRED)
    const asked = (await client.post(`${PASSKEYS}/options`, { current_password: PASSWORD })).body
    const other = { challenge: asked.challenge, ...passkey.logIn(answerTo(asked.options)) }
    expect(await api.anonymous.post(LOGIN, other)).toMatchObject(EXPIRED)
    expect(await api.anonymous.post(LOGIN, { ...other, challenge: 'v1.a.b.c' })).toMatchObject(EXPIRED)
  })

  test('works again and again with a device that counts nothing', async () => {
    const { passkey } = await withPasskey({ counts: false })
    expect((await logIn(passkey)).status).toBe(200)
    expect((await logIn(passkey)).status).toBe(200)
  })

  test('to a suspended account is refused', async () => {
    const { user, passkey } = await withPasskey()
    await updateUser(api.db, user._id, { status: 'suspended' })
    expect(await logIn(passkey)).toMatchObject({ status: 403, body: { code: 'account_suspended' } })
  })
})

describe('the list', () => {
  test('is that of the account: it renames and removes its own only', async () => {
    const [mine, theirs] = [await withPasskey(), await withPasskey()]
    const path = `${PASSKEYS}/${mine.passkey.id}`
    for (const answer of [
      await theirs.client.call('PATCH', path, { name: 'Stolen' }),
      await theirs.client.call('DELETE', path),
    ])
      expect(answer).toMatchObject({ status: 404, body: { detail_code: 'detail.no_passkey' } })
    expect(await mine.client.call('PATCH', path, { name: ' Old phone ' })).toMatchObject({
      status: 200,
      body: { name: 'Old phone' },
    })
    expect((await theirs.client.get(PASSKEYS)).body.data).toMatchObject([{ id: theirs.passkey.id }])
    expect((await mine.client.call('DELETE', path)).status).toBe(204)
    expect((await mine.client.call('DELETE', path)).status).toBe(404)
    expect(await logIn(mine.passkey)).toMatchObject({ body: { detail_code: 'detail.passkey_unknown' } })
    expect(await actionsOf(mine.user)).toEqual(
      expect.arrayContaining(['passkey.renamed session', 'passkey.removed session']),
    )
  })
})

test('without a host name there are no passkeys', async () => {
  const plain = await startPanelApi()
  try {
    const { client } = await plain.newUser()
    expect((await plain.anonymous.get('/api/v1/session/methods')).body.passkey).toBe(false)
    for (const answer of [
      await plain.anonymous.post(`${LOGIN}/options`),
      await client.post(`${PASSKEYS}/options`, { current_password: PASSWORD }),
    ])
      expect(answer).toMatchObject({ status: 404, body: { detail_code: 'detail.passkeys_off' } })
    expect((await client.get(PASSKEYS)).body.data).toEqual([])
  } finally {
    await plain.stop()
  }
})

async function actionsOf({ _id }: UserDoc): Promise<string[]> {
  return (await listAudit(api.db, _id, { limit: 20 })).map(({ action, actor }) => `${action} ${actor.via}`)
}

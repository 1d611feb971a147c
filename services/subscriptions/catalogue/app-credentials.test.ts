import { createHmac } from 'node:crypto'
import { expect, test } from 'vitest'
import { codeOf, openSubscriptionsModule } from '../../../test/support/subscriptions/subscriptions-module.ts'
import { createSecrets } from '../../platform/security/secrets.ts'
import { systemActor } from '../context.ts'
import { addCredential, checkSignature, findSigner, revokeCredential } from './app-credentials.ts'
import { updateApp } from './manage-apps.ts'
import { canonicalRequest } from './rules/request-signature.ts'

const anySender = async () => true

async function signingApp(keys: number) {
  const subscriptions = await openSubscriptionsModule()
  const { app } = await subscriptions.giveApp('shop')
  const ids: string[] = []
  for (let made = 0; made < keys; made++)
    ids.push((await addCredential(subscriptions.context, systemActor, 'shop', 'hmac')).document._id)
  const demand = (require_signature: '0' | '1') =>
    updateApp(subscriptions.context, systemActor, app._id, { require_signature }, anySender)
  const live = () =>
    subscriptions.context.collections.credentials.countDocuments({
      app_key: 'shop',
      kind: 'hmac',
      revoked_at: { $exists: false },
    })
  const revoke = (id = '') => revokeCredential(subscriptions.context, systemActor, 'shop', id)
  return { ...subscriptions, ids, demand, live, revoke }
}

test('the last key to sign with stays while signatures are demanded', async () => {
  const { ids, demand, live, revoke } = await signingApp(2)
  await demand('1')
  expect(await codeOf(revoke(ids[0]))).toBe('done')
  expect(await codeOf(revoke(ids[1]))).toBe('transition_refused')
  expect(await live()).toBe(1)
  await demand('0')
  expect(await codeOf(revoke(ids[1]))).toBe('done')
  expect(await codeOf(revoke(ids[1]))).toBe('record_not_found')
})

test('other credentials of such an app may all go', async () => {
  const { context, demand, revoke } = await signingApp(1)
  await demand('1')
  const others = await context.collections.credentials.find({ app_key: 'shop', kind: { $ne: 'hmac' } }).lean()
  expect(others).toHaveLength(2)
  for (const { _id } of others) expect(await codeOf(revoke(_id))).toBe('done')
})

test.each([
  ['hmac', 1],
  ['secret', 0],
  ['publishable', 0],
] as const)('the revocation of a key of kind %s raises the version of the app by %d', async (kind, by) => {
  const { context, revoke } = await signingApp(1)
  const version = async () => (await context.collections.apps.findOne({ app_key: 'shop' }))?.version ?? 0
  const before = await version()
  await revoke((await context.collections.credentials.findOne({ app_key: 'shop', kind }))?._id)
  expect((await version()) - before).toBe(by)
})

test('of two keys that are revoked in the same moment one stays', async () => {
  const { ids, demand, live, revoke } = await signingApp(2)
  await demand('1')
  const outcomes = await Promise.all(ids.map(id => codeOf(revoke(id))))
  expect(outcomes.toSorted()).toEqual(['done', 'transition_refused'])
  expect(await live()).toBe(1)
})

test('demanding signatures and revoking the only key in the same moment: one of them is refused', async () => {
  const { context, ids, demand, live, revoke } = await signingApp(1)
  const outcomes = await Promise.all([codeOf(demand('1')), codeOf(revoke(ids[0]))])
  const demanded = (await context.collections.apps.findOne({ app_key: 'shop' }))?.require_signature === true
  expect([demanded, await live()]).toEqual(demanded ? [true, 1] : [false, 0])
  expect(outcomes.filter(outcome => outcome === 'done')).toHaveLength(1)
})

test.each([
  ['has', (_: string) => undefined, 'done'],
  ['has lost', (secret: string) => createSecrets(`${secret}, changed`), 'app_credential_invalid'],
])('a signature of a credential whose encryption key the service %s', async (_, changed, expected) => {
  const { context, ids, clock, foundation } = await signingApp(0)
  const { document, shown } = await addCredential(context, systemActor, 'shop', 'hmac')
  expect(ids).toEqual([])
  const signer = await findSigner(context, document._id)
  if (!signer) throw new Error('no such credential')
  const timestamp = String(Math.floor(clock.now().getTime() / 1000))
  const request = {
    keyId: document._id,
    timestamp,
    nonce: 'only-once',
    method: 'GET',
    target: '/server/user',
    body: '',
  }
  const signature = createHmac('sha256', shown).update(canonicalRequest(request)).digest('base64')
  const service = { ...context, secrets: changed(foundation.config.SESSION_SECRET) ?? context.secrets }
  expect(await codeOf(checkSignature(service, signer, { ...request, signature }))).toBe(expected)
})

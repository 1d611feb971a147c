/** SMTPCredentials over a real database: the login of the MailDomain's account, and its Secret. */
import { expect, test } from 'vitest'
import { createUser } from '../../../services/accounts/manage-accounts.ts'
import { ensureNamespaceAccount } from '../../../services/accounts/namespace-account.ts'
import { credentialOf } from '../../../services/mail/credentials/declare-smtp-credential.ts'
import { findCredentialByName, updateCredential } from '../../../services/mail/credentials/store/smtp-credentials.ts'
import { applyDomain } from '../../../services/mail/domains/declare-domain.ts'
import { operatorContext } from '../../../test/support/kubernetes/operator-context.ts'
import { MailDomain } from '../../resources/mail-domain.ts'
import { SMTPCredential } from '../../resources/smtp-credential.ts'
import { managedBy } from '../shared/operator-context.ts'
import type { Outcome } from '../shared/reconcile.ts'
import { smtpCredentialReconciler } from './smtp-credential-reconciler.ts'

const DAY_MS = 86_400_000
const REF = { domainRef: { name: 'shop' } }

/** A registered MailDomain of the namespace, or of `owner`, and runs that see the status of the run before. */
async function setting(owner?: string) {
  const fixture = await operatorContext()
  const { context, clock, owners, secrets, add } = fixture
  const { db } = context.mongo
  if (owner) owners.set('shop', owner)
  const account = owner
    ? (await createUser(context, { username: owner, role: 'user', lang: 'en', tz: 'UTC' })).user
    : await ensureNamespaceAccount(context, 'k8s-shop', 'shop')
  const spec = { domainName: 'shop.example', ...(owner ? { owner: { username: owner } } : {}) }
  const domain = MailDomain.parse(add('MailDomain', 'shop', spec))
  const wanted = { name: 'shop.example', suspended: false, dns: { manage: false }, dnsAccount: 'none' as const }
  const deps = { db, clock, secrets: context.secrets }
  await applyDomain({ ...deps, resource: managedBy(domain) }, account._id, wanted, true)
  const reconciler = smtpCredentialReconciler(context)
  let status: SMTPCredential['status']
  const parse = (more: object, generation = 1) => ({
    ...SMTPCredential.parse(add('SMTPCredential', 'mailer', { ...REF, ...more }, { generation })),
    status,
  })
  return {
    ...fixture,
    db,
    parse,
    reconciler,
    async run(more: object = {}, generation = 1) {
      const outcome = await reconciler.ensure(parse(more, generation))
      status = { ...outcome.status, observedGeneration: generation }
      return outcome
    },
    login: () => credentialOf({ ...deps, resource: managedBy(parse({})) }, 'mailer@shop'),
    secret() {
      const data = secrets.get('mailer-smtp')?.data ?? {}
      return Object.fromEntries(
        Object.entries(data).map(([key, value]) => [key, Buffer.from(value, 'base64').toString()]),
      )
    },
  }
}

const summary = ({ conditions }: Outcome) => conditions.map(({ type, status, reason }) => `${type} ${status} ${reason}`)
const reasons = ({ events = [] }: Outcome) => events.map(({ reason }) => reason)
const WORKS = ['Accepted True Accepted', 'SecretSynced True Available']

test('a login is created once, with its Secret, and a second run changes nothing', async () => {
  const { run, login, secret, clock } = await setting()
  const first = await run()
  expect([summary(first), reasons(first), first.requeueAfterMs]).toEqual([WORKS, [], undefined])
  const created = await login()
  expect(created).toMatchObject({ allowed_senders: ['@shop.example'] })
  const content = secret()
  expect(content).toMatchObject({ username: 'mailer@shop', port: '587', host: 'mail.example.net' })
  clock.advance(DAY_MS)
  const second = await run()
  expect([summary(second), reasons(second), secret()]).toEqual([WORKS, [], content])
  expect((await login())?._id).toBe(created?._id)
})

test.each<[string, object, string]>([
  [
    'a sender of another domain',
    { allowedSenders: ['a@shop.example', 'a@bank.example'] },
    'Accepted False InvalidSpec',
  ],
  ['a fallback of another domain', { fallbackSender: 'a@bank.example' }, 'Accepted False InvalidSpec'],
  [
    'a fallback that is not among the senders',
    { allowedSenders: ['a@shop.example'], fallbackSender: 'b@shop.example' },
    'Accepted False InvalidSpec',
  ],
  ['a MailDomain that does not exist', { domainRef: { name: 'none' } }, 'Accepted False DependencyNotReady'],
])('%s is refused, and no login is created', async (_what, spec, expected) => {
  const { run, login, secrets } = await setting()
  expect(summary(await run(spec))).toEqual([expected])
  expect([await login(), secrets.size]).toEqual([undefined, 0])
})

test('addresses are compared and stored in lower case', async () => {
  const { run, login } = await setting()
  expect(summary(await run({ allowedSenders: ['News@Shop.Example'] }))).toEqual(WORKS)
  expect((await login())?.allowed_senders).toEqual(['news@shop.example'])
})

test('a Secret that the resource does not own is not overwritten', async () => {
  const { run, secrets, login } = await setting()
  const foreign = {
    metadata: { name: 'mailer-smtp', namespace: 'shop', uid: 'x', resourceVersion: '1', creationTimestamp: '' },
    data: {},
  }
  secrets.set('mailer-smtp', foreign)
  expect(summary(await run())).toEqual(['SecretSynced False Conflict'])
  expect([secrets.get('mailer-smtp'), await login()]).toEqual([foreign, undefined])
})

test('the password rotates when it is due, and the run requests the next one for then', async () => {
  const { run, secret, clock, login } = await setting()
  const spec = { rotationIntervalDays: 10 }
  expect((await run(spec)).requeueAfterMs).toBe(10 * DAY_MS)
  const { password } = secret()
  clock.advance(4 * DAY_MS)
  const early = await run(spec)
  expect([early.requeueAfterMs, secret().password]).toEqual([6 * DAY_MS, password])
  clock.advance(6 * DAY_MS)
  const due = await run(spec)
  expect([reasons(due), due.requeueAfterMs]).toEqual([['PasswordRotated'], 10 * DAY_MS])
  expect(secret().password).not.toBe(password)
  expect((await login())?.previous?.until).toEqual(new Date(clock.now().getTime() + DAY_MS))
})

test.each<[string, object, number, string[]]>([
  ['without a change of the spec is reverted as drift', {}, 1, ['DriftReverted']],
  ['with a new spec is no drift', { messagesPerHour: 5 }, 2, []],
])('a login that was changed %s', async (_what, spec, generation, expected) => {
  const { run, login, db } = await setting()
  await run()
  const before = await login()
  await updateCredential(db, before?.user_id ?? '', before?._id ?? '', { messages_per_hour: 99 })
  const outcome = await run(spec, generation)
  expect(reasons(outcome)).toEqual(expected)
  expect((await login())?.messages_per_hour).toBe(generation === 1 ? 0 : 5)
})

test('a deleted Secret is created again with the same password', async () => {
  const { run, secret, secrets, context } = await setting()
  await run()
  const content = secret()
  const stored = secrets.get('mailer-smtp')
  secrets.delete('mailer-smtp')
  if (stored) context.secretCache.remove(stored)
  expect(reasons(await run())).toEqual(['SecretRestored'])
  expect(secret()).toEqual(content)
})

test('the login is disabled while the Namespace does not list its account, and reported once', async () => {
  const { run, login, owners } = await setting('ann')
  expect(summary(await run())).toEqual(WORKS)
  owners.delete('shop')
  const lost = await run()
  expect([summary(lost), reasons(lost)]).toEqual([['Accepted False OwnerNotAllowed'], ['AccessWithdrawn']])
  expect((await login())?.disabled).toBe(true)
  expect(reasons(await run())).toEqual([])
  owners.set('shop', 'ann')
  expect(summary(await run())).toEqual(WORKS)
  expect((await login())?.disabled).toBe(false)
})

test.each<[string, boolean, boolean, 'removed' | 'kept' | 'disabled']>([
  ['is removed with its resource', false, true, 'removed'],
  ['stays when the deletion retains everything', true, true, 'kept'],
  ['stays, disabled, when the Namespace does not list its account', false, false, 'disabled'],
])('a login %s', async (_what, retain, listed, expected) => {
  const { run, parse, reconciler, login, owners, db } = await setting('ann')
  await run()
  const before = await login()
  if (!listed) owners.delete('shop')
  if (!listed) await run()
  expect(await reconciler.remove(parse({}), retain)).toEqual({ done: true })
  const after = await login()
  if (expected === 'kept') expect(after).toEqual(before)
  // A retained login of a lost account has no resource any more.
  else expect(after).toBeUndefined()
  const stored = await findCredentialByName(db, 'mailer@shop')
  expect([stored !== undefined, stored?.disabled ?? false]).toEqual([expected !== 'removed', expected === 'disabled'])
})

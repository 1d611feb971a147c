/** Which account a MailDomain acts for, and which of several resources has the domain, over a real database. */
import { expect, test } from 'vitest'
import { createUser } from '../../../services/accounts/manage-accounts.ts'
import { currentDomain, findDomainOfAccount } from '../../../services/mail/domains/find-domains.ts'
import { registerDomain } from '../../../services/mail/domains/register-domain.ts'
import { operatorContext } from '../../../test/support/kubernetes/operator-context.ts'
import { MailDomain } from '../../resources/mail-domain.ts'
import {
  declaredDomains,
  registerDeclaredDomain,
  resourceDeps,
  returnLostDomains,
  successorOf,
} from './mail-domain-owner.ts'

const NAME = 'shop.example'
type Metadata = NonNullable<Parameters<Awaited<ReturnType<typeof operatorContext>>['add']>[3]>

/** Accounts ann and bob, resources in the cache, and what becomes of their domains. */
async function setting() {
  const fixture = await operatorContext()
  const { context, add } = fixture
  const { db } = context.mongo
  const account = async (username: string) =>
    (await createUser(context, { username, role: 'user', lang: 'en', tz: 'UTC' })).user
  const [ann] = [await account('ann'), await account('bob')]
  const declare = (name: string, owner?: string, metadata: Metadata = {}) =>
    MailDomain.parse(
      add('MailDomain', name, { domainName: NAME, ...(owner ? { owner: { username: owner } } : {}) }, metadata),
    )
  const register = async (resource: MailDomain) => {
    const wanted = { name: NAME, suspended: false, dns: { manage: false }, dnsAccount: 'none' as const }
    const registration = await registerDeclaredDomain(context, resource, async () => wanted)
    if (registration.kind === 'registered') return registration.user.username
    return registration.condition.reason
  }
  return { ...fixture, db, ann, declare, register }
}

test.each<[string, string | undefined, string | undefined, string]>([
  ['the account of the namespace', undefined, undefined, 'k8s-shop'],
  ['that account by its name', 'k8s-shop', undefined, 'k8s-shop'],
  ['a listed account', 'ann', 'bob, ann', 'ann'],
  ['an account that is not listed', 'ann', 'bob', 'OwnerNotAllowed'],
  ['an account of a Namespace that lists none', 'ann', undefined, 'OwnerNotAllowed'],
  ['the account of another namespace', 'k8s-bank', undefined, 'OwnerNotAllowed'],
  ['a listed account that does not exist', 'carol', 'carol', 'OwnerNotFound'],
])('a MailDomain for %s', async (_what, owner, listed, expected) => {
  const { owners, declare, register } = await setting()
  if (listed !== undefined) owners.set('shop', listed)
  expect(await register(declare('one', owner))).toBe(expected)
})

test('an account of a person with the name of the namespace account is not taken', async () => {
  const { context, declare, register } = await setting()
  await createUser(context, { username: 'k8s-shop', role: 'user', lang: 'en', tz: 'UTC' })
  expect(await register(declare('one'))).toBe('OwnerNotAllowed')
})

test.each<[string, Record<string, string>, string, string]>([
  ['without the annotation', {}, 'ann', 'Conflict'],
  ['with the annotation', { 'postwright.dev/adopt': 'true' }, 'ann', 'ann'],
])('a domain that the account registered itself, %s', async (_what, annotations, listed, expected) => {
  const { context, owners, ann, declare, register } = await setting()
  const { secrets, clock, mongo } = context
  owners.set('shop', listed)
  await registerDomain({ db: mongo.db, clock, secrets }, ann._id, NAME)
  expect(await register(declare('one', 'ann', { annotations }))).toBe(expected)
})

test('a name that no account can own is refused as an invalid spec', async () => {
  const { context, add } = await setting()
  const resource = MailDomain.parse(add('MailDomain', 'suffix', { domainName: 'co.uk' }))
  const wanted = { name: 'co.uk', suspended: false, dns: { manage: false }, dnsAccount: 'none' as const }
  expect(await registerDeclaredDomain(context, resource, async () => wanted)).toMatchObject({
    condition: { type: 'Accepted', status: 'False', reason: 'InvalidSpec' },
  })
})

test.each<[string, Metadata, Metadata, 'older' | 'younger']>([
  ['the older one has the domain', {}, { creationTimestamp: '2026-11-21T09:30:00Z' }, 'older'],
  [
    'in another namespace that is entitled',
    {},
    { creationTimestamp: '2026-11-21T09:30:00Z', namespace: 'bank' },
    'older',
  ],
  ['an older one without a right to the account', { namespace: 'thief' }, {}, 'younger'],
])('of two MailDomains for one account: %s', async (_what, older, younger, expected) => {
  const { owners, declare, register } = await setting()
  for (const namespace of ['shop', 'bank']) owners.set(namespace, 'ann')
  const first = declare('older', 'ann', { creationTimestamp: '2026-11-21T08:00:00Z', ...older })
  const second = declare('younger', 'ann', younger)
  expect(await register(second)).toBe(expected === 'younger' ? 'ann' : 'DomainTaken')
  if (expected === 'older') expect(await register(first)).toBe('ann')
})

test('a younger resource keeps the domain that it has when an older one becomes entitled', async () => {
  const { owners, declare, register } = await setting()
  owners.set('shop', 'ann')
  const older = declare('older', 'ann', { namespace: 'bank', creationTimestamp: '2026-11-21T08:00:00Z' })
  const younger = declare('younger', 'ann')
  expect(await register(younger)).toBe('ann')
  owners.set('bank', 'ann')
  expect([await register(older), await register(younger)]).toEqual(['DomainTaken', 'ann'])
})

test.each<[string, string, 'other' | 'ann']>([
  ['another entitled resource takes over', 'ann', 'other'],
  ['the account has it back while no other resource is entitled', '', 'ann'],
])('a Namespace stops listing the account: %s', async (_what, listedByBank, expected) => {
  const { context, owners, db, ann, declare, register } = await setting()
  owners.set('shop', 'ann')
  const one = declare('one', 'ann')
  expect(await register(one)).toBe('ann')
  expect(await returnLostDomains(context, one)).toEqual([])
  declare('other', 'ann', { namespace: 'bank' })
  owners.set('bank', listedByBank)
  owners.delete('shop')
  expect(await returnLostDomains(context, one)).toMatchObject([{ type: 'Warning', reason: 'AccessWithdrawn' }])
  const domain = await findDomainOfAccount(db, ann._id, NAME)
  expect(domain?.managed_by?.name).toBe(expected === 'other' ? 'other' : undefined)
  expect(domain?.formerly_managed_by).toBe(expected === 'other' ? undefined : one.metadata.uid)
  expect(await returnLostDomains(context, one)).toEqual([])
  if (expected === 'other') return
  // Listed again, the resource has the domain without having to adopt it.
  owners.set('shop', 'ann')
  expect(await register(one)).toBe('ann')
  expect((await currentDomain(db, domain?._id ?? ''))?.formerly_managed_by).toBeUndefined()
})

test('the successor of a resource is the oldest other one that stays and is entitled', async () => {
  const { context, owners, declare } = await setting()
  owners.set('shop', 'ann')
  const at = (hour: number) => ({ creationTimestamp: `2026-11-21T0${hour}:00:00Z` })
  const one = declare('one', 'ann', at(1))
  expect(await successorOf(context, one, 'ann')).toBeUndefined()
  declare('young', 'ann', at(5))
  declare('old', 'ann', at(4))
  declare('leaving', 'ann', { ...at(2), deletionTimestamp: '2026-11-21T09:00:00Z' })
  declare('stranger', 'ann', { ...at(3), namespace: 'thief' })
  expect((await successorOf(context, one, 'ann'))?.metadata.name).toBe('old')
  expect(await successorOf(context, one, 'bob')).toBeUndefined()
})

test('the use cases of a resource act under its name', async () => {
  const { context, declare } = await setting()
  expect(resourceDeps(context, declare('one')).resource).toEqual({
    ...{ kind: 'MailDomain', namespace: 'shop', name: 'one', uid: 'uid-one' },
  })
})

test('an object that cannot be parsed declares no domain', async () => {
  const { add } = await setting()
  expect(declaredDomains(add('MailDomain', 'bad', { domainName: 7 }))).toEqual([])
  expect(declaredDomains(add('MailDomain', 'good', { domainName: NAME }))).toEqual([`k8s-shop ${NAME}`])
})

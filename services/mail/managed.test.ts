import { expect, test } from 'vitest'
import { databaseForThisTest } from '../../test/support/database/test-database.ts'
import { testFoundation } from '../../test/support/processes/test-foundation.ts'
import {
  changeCredential,
  createCredential,
  removeCredential,
  setCredentialPassword,
} from './credentials/manage-smtp-credentials.ts'
import { issueToken, revokeToken, rotateToken } from './credentials/manage-tokens.ts'
import { findCredential } from './credentials/store/smtp-credentials.ts'
import { registerDomain, removeDomain } from './domains/register-domain.ts'
import { findDomain } from './domains/store/domains.ts'
import { refuseManaged } from './managed.ts'

const mine = { kind: 'MailDomain', namespace: 'shop', name: 'shop-example', uid: 'uid-1' }
const other = { ...mine, name: 'other', uid: 'uid-2' }
const refusal = { code: 'managed_by_resource', detail: expect.stringContaining('MailDomain shop/shop-example') }

test.each([
  ['a free record by a person', {}, {}, true],
  ['a free record by a resource', {}, { resource: mine }, true],
  ['a managed record by a person', { managed_by: mine }, {}, false],
  ['a managed record by another resource', { managed_by: mine }, { resource: other }, false],
  ['a managed record by its resource', { managed_by: mine }, { resource: mine }, true],
])('%s may be changed: %#', (_, record, acting, allowed) => {
  if (allowed) expect(() => refuseManaged(record, acting)).not.toThrow()
  else expect(() => refuseManaged(record, acting)).toThrow(expect.objectContaining(refusal))
})

test('what a resource makes is its own: people and other resources cannot change it, the resource can', async () => {
  const mongo = await databaseForThisTest()
  const foundation = testFoundation(mongo)
  const people = { ...foundation, db: mongo.db }
  const resource = { ...people, resource: mine }
  const limits = { allowed_senders: [], allowed_cidrs: [], messages_per_hour: 0 }
  const token = { name: 't', mode: 'live' as const, scopes: ['emails:send'], domains: [], allowed_cidrs: [] }

  const domain = await registerDomain(resource, 'usr_k8s', 'shop.example')
  const { credential } = await createCredential(resource, 'usr_k8s', { username: 'shop', ...limits })
  const issued = await issueToken(resource, 'usr_k8s', token)
  expect([domain, credential, issued.token].map(record => record.managed_by)).toEqual([mine, mine, mine])

  const changes: ((deps: typeof resource | typeof people) => Promise<unknown>)[] = [
    deps => changeCredential(deps, 'usr_k8s', credential._id, { disabled: true }),
    deps => setCredentialPassword(deps, 'usr_k8s', credential._id),
    deps => rotateToken(deps, 'usr_k8s', issued.token._id),
    deps => revokeToken(deps, 'usr_k8s', issued.token._id),
    deps => removeCredential(deps, 'usr_k8s', credential._id),
    deps => removeDomain(deps, 'usr_k8s', 'shop.example'),
  ]
  for (const change of changes) {
    await expect(change(people)).rejects.toMatchObject(refusal)
    await expect(change({ ...people, resource: other })).rejects.toMatchObject(refusal)
    await expect(change(resource)).resolves.toBeDefined()
  }
  expect(await findCredential(mongo.db, 'usr_k8s', credential._id)).toBeUndefined()
  expect(await findDomain(mongo.db, 'usr_k8s', 'shop.example')).toBeUndefined()
})

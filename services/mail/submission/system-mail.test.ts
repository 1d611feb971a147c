import { describe, expect, test } from 'vitest'
import { giveDomain, giveUser } from '../../../test/support/accounts/accounts-and-domains.ts'
import { databaseForThisTest } from '../../../test/support/database/test-database.ts'
import { testFoundation } from '../../../test/support/processes/test-foundation.ts'
import type { UserDoc } from '../../accounts/store/users.ts'
import { ensureIndexes } from '../../platform/database/mongo.ts'
import { createKeys } from '../delivery/signing-keys.ts'
import { deliveryCollections } from '../delivery-collections.ts'
import { createDkimKey } from '../domains/dkim-keys.ts'
import type { DomainDoc } from '../domains/store/domain-model.ts'
import { updateDomain } from '../domains/store/domains.ts'
import { readBody } from '../store/bodies.ts'
import { MESSAGES } from '../store/messages.ts'
import type { OutgoingMessage } from '../store/outgoing.ts'
import { createSystemMail } from './system-mail.ts'

const mail = { key: 'remind:1:2:ends_in_7', to: 'ann@example.com', subject: '提醒 / Reminder', text: '您好\n\nHello\n' }

test('a mail is queued once, however often it is submitted, also in parallel', async () => {
  const mongo = await databaseForThisTest()
  await ensureIndexes(mongo.db, deliveryCollections)
  const send = await createSystemMail(testFoundation(mongo, { SYSTEM_MAIL_FROM: 'notice@mail.example.net' }))
  await Promise.all([send(mail), send(mail)])
  await send(mail)
  const stored = await mongo.db.collection(MESSAGES.name).find().toArray()
  expect(stored).toHaveLength(1)
  expect(stored[0]).toMatchObject({ lane: 'system', mail_from: 'notice@mail.example.net', via: { channel: 'system' } })
  const raw = String(await readBody(mongo, String(stored[0]?._id), 1))
  expect(raw).toContain('Auto-Submitted: auto-generated\r\n')
  expect(raw).toContain('To: ann@example.com\r\n')
  await send({ ...mail, key: 'remind:1:3:ends_in_7' })
  expect(await mongo.db.collection('deliveries').countDocuments()).toBe(2)
})

test.each<[string, string[]]>([
  [
    'https://api.example.net/unsubscribe/v1.abc-_.def',
    [
      'List-Unsubscribe: <https://api.example.net/unsubscribe/v1.abc-_.def>',
      'List-Unsubscribe-Post: List-Unsubscribe=One-Click',
    ],
  ],
  [
    `https://api.example.net/unsubscribe/${'x'.repeat(200)}`,
    [
      `List-Unsubscribe: <https://api.example.net/unsubscribe/${'x'.repeat(200)}>`,
      'List-Unsubscribe-Post: List-Unsubscribe=One-Click',
    ],
  ],
  ['http://127.0.0.1:3026/unsubscribe/abc', ['List-Unsubscribe: <http://127.0.0.1:3026/unsubscribe/abc>']],
  ['', []],
])('a mail with an unsubscribe link %j has the header', async (unsubscribeUrl, headers) => {
  const mongo = await databaseForThisTest()
  await ensureIndexes(mongo.db, deliveryCollections)
  const send = await createSystemMail(testFoundation(mongo))
  await send({ ...mail, ...(unsubscribeUrl === '' ? {} : { unsubscribeUrl }) })
  // The link differs with each submission; the mail is the same one.
  await send({ ...mail, text: 'another link', unsubscribeUrl: 'https://api.example.net/unsubscribe/other' })
  const stored = await mongo.db.collection(MESSAGES.name).find().toArray()
  expect(stored).toHaveLength(1)
  const raw = String(await readBody(mongo, String(stored[0]?._id), 1))
  const [head = ''] = raw.split('\r\n\r\n')
  const unfolded = head.replaceAll(/\r\n[ \t]+/g, ' ').replaceAll(/: +/g, ': ')
  expect(unfolded.split('\r\n').filter(line => line.startsWith('List-'))).toEqual(headers)
})

describe('a sender that was asked for', () => {
  const wanted = 'Shop.Notice@Shop.Example'
  const admin: Partial<UserDoc> = { role: 'admin' }
  const verified: Partial<DomainDoc> = { status: 'verified', verified_by: 'dns' }

  test.each<[string, Partial<UserDoc>, name: string, Partial<DomainDoc>, used: boolean]>([
    ['in a verified domain of an administrator', admin, 'shop.example', verified, true],
    ['in a domain that is not verified', admin, 'shop.example', { status: 'pending' }, false],
    ['in a domain that is suspended', admin, 'shop.example', { ...verified, status: 'suspended' }, false],
    [
      'in the sandbox, which exists only while nothing leaves',
      admin,
      'shop.example',
      { ...verified, verified_by: 'sandbox' },
      false,
    ],
    ['in a domain of another account', { role: 'user' }, 'shop.example', verified, false],
    ['in a domain of a suspended administrator', { ...admin, status: 'suspended' }, 'shop.example', verified, false],
    ['below a verified domain', admin, 'example', verified, false],
  ])('%s', async (_, account, name, state, used) => {
    const mongo = await databaseForThisTest()
    await ensureIndexes(mongo.db, deliveryCollections)
    const owner = await giveUser(mongo.db, account)
    const domain = await giveDomain(mongo.db, owner._id, name, state)
    const env = { SYSTEM_MAIL_FROM: 'notice@mail.example.net', DELIVERY_MODE: 'direct' }
    const send = await createSystemMail(testFoundation(mongo, env))
    await send({ ...mail, from: wanted })
    const stored = await mongo.db.collection(MESSAGES.name).findOne()
    const from = used ? 'Shop.Notice@shop.example' : 'notice@mail.example.net'
    expect(stored).toMatchObject({ mail_from: from, from, domain_id: used ? domain._id : '', lane: 'system' })
    expect(String(await readBody(mongo, String(stored?._id), 1))).toContain(`From: ${from}\r\n`)
  })
})

test.each(['mail.example.net', 'Mail.Example.NET'])(
  'mail of the system is signed with the key of the domain that it is sent from: %s',
  async systemDomain => {
    const mongo = await databaseForThisTest()
    const { secrets, clock } = testFoundation(mongo)
    const withKey = async (name: string, selector: string) => {
      const domain = await giveDomain(mongo.db, 'usr_admin', name, { status: 'verified', verified_by: 'dns' })
      const key = await createDkimKey(secrets, domain._id, selector, 'rsa-sha256', clock.now())
      await updateDomain(mongo.db, domain._id, { dkim: [{ ...key, state: 'active' }] })
      return domain
    }
    await withKey('mail.example.net', 'own')
    const shop = await withKey('shop.example', 'shop')
    const bare = await giveDomain(mongo.db, 'usr_admin', 'bare.example', { status: 'verified', verified_by: 'dns' })
    const findKeys = createKeys({ db: mongo.db, secrets, clock, systemDomain })
    const signers = async (domain_id: string) =>
      (await findKeys({ domain_id, via: { channel: 'system' } } as OutgoingMessage))?.map(({ selector }) => selector)
    expect(await signers('')).toEqual(['own'])
    expect(await signers(shop._id)).toEqual(['shop'])
    expect(await signers(bare._id)).toBeUndefined()
  },
)

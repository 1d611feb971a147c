import { expect, test } from 'vitest'
import { databaseForThisTest } from '../../test/support/database.ts'
import { testFoundation } from '../../test/support/foundation.ts'
import { ensureIndexes } from '../platform/mongo.ts'
import { deliveryCollections } from './delivery/collections.ts'
import { readBody } from './store/bodies.ts'
import { MESSAGES } from './store/messages.ts'
import { createSystemMail } from './system-mail.ts'

const mail = { key: 'remind:1:2:ends_in_7', to: 'ann@example.com', subject: '提醒 / Reminder', text: '您好\n\nHello\n' }

test('a mail lies in the queue once, however often it is handed over, also at the same time', async () => {
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

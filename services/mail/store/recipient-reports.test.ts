import { describe, expect, test } from 'vitest'
import { databaseForThisTest } from '../../../test/support/database/test-database.ts'
import { collectionOf } from '../../platform/database/mongo.ts'
import type { MessageDoc, RecipientStatus } from './documents.ts'
import { MESSAGES } from './messages.ts'
import { Outbox } from './outgoing.ts'
import { findReported, noteReport, type StatusReport } from './recipient-reports.ts'

const AT = new Date('2026-11-23T12:00:00Z')

/** A message with recipients of these statuses. */
async function stored(...statuses: RecipientStatus[]) {
  const mongo = await databaseForThisTest()
  const rcpts = statuses.map((status, n) => ({ email: `r${n}@example.net`, type: 'to' as const, status }))
  await collectionOf(mongo.db, MESSAGES).insertOne({
    _id: 'em_1',
    user_id: 'usr_1',
    rcpts,
    left: 0,
  } as unknown as MessageDoc)
  const state = async (n = 0) => (await findReported(mongo, 'em_1', n))?.state
  return { mongo, state, note: (report: StatusReport, n = 0) => noteReport(mongo, 'em_1', n, report) }
}
const bounced = (report = 'in_1'): StatusReport => ({ status: 'bounced', code: 550, enhanced: '5.1.1', at: AT, report })
const complained = (report = 'in_1'): StatusReport => ({ status: 'complained', at: AT, report })

describe('a report', () => {
  test('changes the status of its recipient only', async () => {
    const { note, state } = await stored('delivered', 'delivered')
    expect(await note(bounced(), 1)).toBe(true)
    expect(await state(1)).toEqual({
      ...{
        email: 'r1@example.net',
        type: 'to',
        status: 'bounced',
        code: 550,
        enhanced: '5.1.1',
        at: AT,
        report: 'in_1',
      },
    })
    expect(await state(0)).toMatchObject({ status: 'delivered' })
  })

  test('stores why it bounced', async () => {
    const { note, state } = await stored('delivered')
    await note({ ...bounced(), kind: 'mailbox_full' })
    expect(await state()).toMatchObject({ status: 'bounced', kind: 'mailbox_full' })
  })

  test.each<[RecipientStatus, StatusReport, boolean]>([
    ['delivered', bounced(), true],
    ['delivered', complained(), true],
    ['bounced', complained(), true],
    ['bounced', bounced(), false],
    ['complained', bounced(), false],
    ['complained', complained(), false],
    ['failed', bounced(), false],
    ['canceled', complained(), false],
    ['queued', bounced(), false],
    ['deferred', bounced(), false],
  ])('about a recipient that is %s: %j', async (status, report, changes) => {
    const { note, state } = await stored(status)
    expect(await note(report)).toBe(changes)
    expect((await state())?.status).toBe(changes ? report.status : status)
  })

  test('that is applied again is the same, and another one of the same kind changes nothing', async () => {
    const { note, state } = await stored('delivered')
    expect(await note(bounced())).toBe(true)
    expect(await note(bounced())).toBe(true)
    expect(await note({ ...bounced('in_2'), code: 552 })).toBe(false)
    expect(await state()).toMatchObject({ code: 550, report: 'in_1' })
  })

  test('about a message that is gone, or a recipient that it does not have, changes nothing', async () => {
    const { mongo, note } = await stored('delivered')
    expect(await note(bounced(), 7)).toBe(false)
    expect(await noteReport(mongo, 'em_2', 0, bounced())).toBe(false)
    expect(await findReported(mongo, 'em_2', 0)).toBeUndefined()
    expect(await findReported(mongo, 'em_1', 7)).toBeUndefined()
  })

  test.each([1, 2])('is not undone by a late note of the delivery, of %i recipients', async recipients => {
    const { mongo, note, state } = await stored(...Array<RecipientStatus>(recipients).fill('delivered'))
    await note(bounced())
    const late = {
      messageId: 'em_1',
      n: 0,
      status: 'delivered' as const,
      final: true,
      code: 250,
      only: recipients === 1,
    }
    await new Outbox(mongo, 30).note([late], AT)
    expect(await state()).toMatchObject({ status: 'bounced', code: 550 })
  })
})

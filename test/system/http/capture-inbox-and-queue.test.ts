import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { saveCaptured } from '../../../services/mail/store/captured.ts'
import { DELIVERIES } from '../../../services/mail/store/deliveries.ts'
import type { DeliveryDoc } from '../../../services/mail/store/documents.ts'
import { writeSites } from '../../../services/mail/store/sites.ts'
import { beat } from '../../../services/mail/store/slots.ts'
import { collectionOf } from '../../../services/platform/database/mongo.ts'
import { newId } from '../../../services/platform/ids.ts'
import { giveToken, giveUser } from '../../support/accounts/accounts-and-domains.ts'
import { type SendApi, sessionHeaders, startSendApi } from '../../support/http/send-api.ts'
import { giveMessage } from '../../support/mail/stored-messages.ts'

let api: SendApi
let admin: Record<string, string>
beforeAll(async () => {
  api = await startSendApi({ SENDING_IP: '192.0.2.1' })
  admin = await sessionHeaders(api.mongo, (await giveUser(api.mongo.db, { role: 'admin' }))._id)
})
afterAll(() => api.stop())

describe('the inbox of capture mode', () => {
  const RAW = 'From: ann@example.com\r\nSubject: s\r\n\r\n<b>text</b>\r\n'

  test('lists the captured mail of the account, newest first, in pages', async () => {
    const ids: string[] = []
    for (let n = 0; n < 3; n++) {
      const message = await giveMessage(api.mongo.db, api.user._id, { subject: `Mail ${n}` })
      ids.unshift(`${message._id}.0`)
      await saveCaptured(api.mongo, [
        {
          _id: `${message._id}.0`,
          m: message._id,
          user_id: api.user._id,
          mail_from: 'ann@example.com',
          rcpts: ['bob@example.net'],
          raw: Buffer.from(RAW),
          at: new Date(Date.now() + n),
          exp: new Date(Date.now() + 86_400_000),
        },
      ])
    }
    const first = (await api.call('GET', '/api/v1/inbox?limit=2')).body
    expect(first).toMatchObject({
      data: [
        { id: ids[0], subject: 'Mail 2', from: 'ann@example.com', to: ['bob@example.net'], size: RAW.length },
        { id: ids[1] },
      ],
      has_more: true,
    })
    expect((await api.call('GET', `/api/v1/inbox?limit=2&after=${ids[1]}`)).body).toMatchObject({
      data: [{ id: ids[2] }],
      has_more: false,
    })
    expect((await api.call('GET', `/api/v1/inbox/${ids[0]}/raw`)).text).toBe(RAW)
    const preview = await api.call('GET', `/api/v1/inbox/${ids[0]}/preview`)
    expect(preview.text).toContain('&lt;b&gt;text&lt;/b&gt;')
    expect(preview.headers.get('content-security-policy')).toMatch(/^sandbox; default-src 'none'/)

    const stranger = (await giveToken(api.mongo.db, (await giveUser(api.mongo.db))._id)).value
    expect((await api.call('GET', '/api/v1/inbox', { token: stranger })).body).toMatchObject({ data: [] })
    for (const part of ['raw', 'preview'])
      expect((await api.call('GET', `/api/v1/inbox/${ids[0]}/${part}`, { token: stranger })).status).toBe(404)
  })
})

describe('the admin area', () => {
  const get = (path: string) => api.call('GET', path, { token: '', headers: admin })

  test('returns the queue by destination, with suspended destinations', async () => {
    const now = Date.now()
    const give = (site: string, slot: number, due: number): DeliveryDoc => ({
      _id: `${newId('em')}.0`,
      m: 'em_1',
      user_id: api.user._id,
      rcpt: `u@${site}`,
      site,
      slot,
      lane: 'bulk',
      due: new Date(now + due),
      att: 0,
      expires_at: new Date(now + 1e8),
      created_at: new Date(now),
    })
    await collectionOf(api.mongo.db, DELIVERIES).insertMany([
      give('one.example', 1, -60_000),
      give('one.example', 1, 60_000),
      give('two.example', 7, -120_000),
      give('two.example', 7, 1e9),
      give('two.example', 7, -10),
    ])
    await writeSites(api.mongo, [
      {
        ...{ _id: 'two.example', state: 'down', since: new Date(now - 60_000), reason: 'ECONNREFUSED', limit: 1 },
        ...{ suspended_until: new Date(now + 600_000), updated_at: new Date(now) },
      },
      { _id: 'slow.example', state: 'throttled', since: new Date(now), limit: 4, rate: 2.5, updated_at: new Date(now) },
    ])
    const { status, body } = await get('/api/v1/admin/queues')
    expect(status).toBe(200)
    expect(body).toMatchObject({
      depth: 5,
      sampled: false,
      oldest_due_at: new Date(now - 120_000).toISOString(),
      sites: [
        { site: 'two.example', waiting: 3, due: 2, oldest_due_at: new Date(now - 120_000).toISOString() },
        { site: 'one.example', waiting: 2, due: 1 },
      ],
      suspended: [
        {
          ...{ site: 'two.example', state: 'down', reason: 'ECONNREFUSED', messages_per_second: null },
          ...{ until: new Date(now + 600_000).toISOString(), since: new Date(now - 60_000).toISOString() },
        },
        { site: 'slow.example', state: 'throttled', reason: null, connections: 4, messages_per_second: 2.5 },
      ],
    })
  })

  test('returns the health of the components', async () => {
    expect((await get('/api/v1/admin/health')).body).toMatchObject({
      status: 'failing',
      checks: [
        { status: 'ok' },
        { name: 'clock', status: 'ok' },
        { name: 'workers', status: 'failing' },
        {},
        {},
        {},
        {},
      ],
    })
    await beat(api.mongo, 'worker-1', 60_000)
    expect((await get('/api/v1/admin/health')).body).toMatchObject({ status: 'ok' })
  })

  test.each(['/api/v1/admin/queues', '/api/v1/admin/health'])("%s requires an admin's session", async path => {
    const user = await sessionHeaders(api.mongo, api.user._id)
    expect((await api.call('GET', path, { token: '', headers: user })).status).toBe(403)
    expect((await api.call('GET', path)).status).toBe(403)
    expect((await api.call('GET', path, { token: '' })).status).toBe(401)
  })
})

import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { tokens } from '../../../services/mail/credentials/store/tokens.ts'
import { addSuppressions } from '../../../services/mail/suppressions/add-suppressions.ts'
import { mailWebhooksOf, queueMailEvents } from '../../../services/mail/webhooks/queue-mail-events.ts'
import { collectionOf } from '../../../services/platform/database/mongo.ts'
import { giveToken, giveUser } from '../../support/accounts/accounts-and-domains.ts'
import { type SendApi, startSendApi } from '../../support/http/send-api.ts'
import { giveEvent, giveMessage } from '../../support/mail/stored-messages.ts'
import { type TestClock, testClock } from '../../support/time/test-clock.ts'

let clock: TestClock
let api: SendApi
beforeAll(async () => {
  clock = testClock(new Date())
  api = await startSendApi({}, { clock })
})
afterAll(() => api.stop())

/** A new account with a message and a token. */
async function account() {
  const user = await giveUser(api.mongo.db)
  const token = await giveToken(api.mongo.db, user._id)
  // Accepted before the streams begin.
  const message = await giveMessage(api.mongo.db, user._id, { created_at: new Date(clock.now().getTime() - 60_000) })
  return {
    user,
    token,
    message,
    emit: (n: number) => giveEvent(api.mongo.db, message, { attempt: n, at: new Date(clock.now().getTime() + n) }),
  }
}

/** Longest life of a stream, so that no test waits for events forever. */
const STREAM_MS = 90_000

/** Opens a stream; `take` resolves with the next events. */
async function open(token: string, lastEventId?: string) {
  const abort = new AbortController()
  onTestFinished(() => abort.abort())
  const response = await fetch(`${api.url}/api/v1/events/stream`, {
    headers: { authorization: `Bearer ${token}`, ...(lastEventId && { 'last-event-id': lastEventId }) },
    signal: AbortSignal.any([abort.signal, AbortSignal.timeout(STREAM_MS)]),
  })
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader()
  let buffered = ''
  const take = async (count: number) => {
    const messages = () => buffered.split('\n\n').filter(part => part.startsWith('id: '))
    while (messages().length < count) {
      const chunk = await reader?.read()
      if (!chunk || chunk.done) throw new Error(`the stream ended after ${buffered}`)
      buffered += chunk.value
    }
    const taken = messages().slice(0, count)
    buffered = ''
    return taken.map(part => ({
      id: /^id: (.*)$/m.exec(part)?.[1] ?? '',
      type: /^event: (.*)$/m.exec(part)?.[1],
      data: JSON.parse(/^data: (.*)$/m.exec(part)?.[1] ?? '{}'),
    }))
  }
  const ended = async () => {
    for (;;) {
      const chunk = await reader?.read()
      if (!chunk || chunk.done) return true
    }
  }
  return { response, take, ended, close: () => abort.abort() }
}

test("sends the events of the caller's account as they are stored, and no others", async () => {
  const mine = await account()
  const other = await account()
  const stream = await open(mine.token.value)
  expect(stream.response.headers.get('content-type')).toMatch(/^text\/event-stream/)
  expect(stream.response.headers.get('cache-control')).toBe('no-store')
  await other.emit(1)
  const first = await mine.emit(2)
  const second = await mine.emit(3)
  const taken = await stream.take(2)
  expect(taken.map(({ data }) => data.id)).toEqual([first._id, second._id])
  expect(taken[0]).toMatchObject({
    type: 'email.delivered',
    data: { email_id: mine.message._id, mx_host: 'mx.example.net' },
  })
})

test('sends what webhooks get: acceptance, reports, domains and suppressions', async () => {
  const { user, token, message } = await account()
  const stream = await open(token.value)
  const at = () => clock.now()
  const sent = await giveMessage(api.mongo.db, user._id, { created_at: at() })
  for (const type of ['complained', 'unsubscribed'] as const)
    await giveEvent(api.mongo.db, message, { _id: `${message._id}.0#report-${type}`, attempt: 0, type, at: at() })
  await addSuppressions({ db: api.mongo.db, clock }, [
    { userId: user._id, email: 'bob@example.net', reason: 'complaint', origin: 'report', emailId: message._id },
  ])
  const webhooks = mailWebhooksOf({ mongo: api.mongo, clock })
  const data = { domain_id: 'dom_1', name: 'example.com', status: 'failed', failing_records: ['spf'] }
  const lost = { type: 'domain.lost', userId: user._id, domainId: 'dom_1', key: `${user._id}:lost`, data } as const
  for (let n = 0; n < 2; n++) await queueMailEvents(webhooks, [{ ...lost, at: at() }])
  const taken = await stream.take(5)
  const byType = new Map(taken.map(({ type, data }) => [type, data]))
  expect([...byType.keys()].toSorted()).toEqual([
    ...['domain.lost', 'email.accepted', 'email.complained', 'email.unsubscribed', 'suppression.added'],
  ])
  expect(byType.get('email.accepted')).toMatchObject({ email_id: sent._id, recipient: sent.rcpts[0]?.email })
  expect(byType.get('domain.lost')).toMatchObject({ data })
  expect(byType.get('suppression.added')).toMatchObject({ data: { email: 'bob@example.net', reason: 'complaint' } })
})

test('continues after a report as after an attempt', async () => {
  const { token, message, emit } = await account()
  const stream = await open(token.value)
  const _id = `${message._id}.0#report-complained`
  await giveEvent(api.mongo.db, message, { _id, attempt: 0, type: 'complained', at: clock.now() })
  const [report] = await stream.take(1)
  stream.close()
  const missed = await emit(2)
  const again = await open(token.value, report?.id)
  expect((await again.take(1)).map(({ data }) => data.id)).toEqual([missed._id])
})

test('a token of one domain sees events of that domain alone', async () => {
  const { user, message } = await account()
  const { value } = await giveToken(api.mongo.db, user._id, { domains: ['other.example'] })
  const stream = await open(value)
  await giveEvent(api.mongo.db, message, { at: clock.now() })
  const webhooks = mailWebhooksOf({ mongo: api.mongo, clock })
  const lost = (name: string) => ({
    ...{ type: 'domain.lost' as const, userId: user._id, at: clock.now(), key: `${user._id}:${name}` },
    data: { domain_id: name, name, status: 'failed', failing_records: [] },
  })
  await queueMailEvents(webhooks, [lost('example.com'), lost('other.example')])
  expect((await stream.take(1)).map(({ data }) => data.data.name)).toEqual(['other.example'])
})

test('continues after Last-Event-ID', async () => {
  const mine = await account()
  const stream = await open(mine.token.value)
  await mine.emit(1)
  const [first] = await stream.take(1)
  stream.close()
  const missed = await mine.emit(2)
  const again = await open(mine.token.value, first?.id)
  expect((await again.take(1)).map(({ data }) => data.id)).toEqual([missed._id])
})

test('an account may have five streams; closing one permits another', async () => {
  const { token } = await account()
  const streams = await Promise.all(Array.from({ length: 5 }, () => open(token.value)))
  expect(streams.map(({ response }) => response.status)).toEqual([200, 200, 200, 200, 200])
  const sixth = await open(token.value)
  expect([sixth.response.status, sixth.response.headers.get('retry-after')]).toEqual([429, '10'])
  streams[0]?.close()
  await expect.poll(async () => (await open(token.value)).response.status).toBe(200)
})

test('revoking a token ends its streams', async () => {
  const { token } = await account()
  const stream = await open(token.value)
  await collectionOf(api.mongo.db, tokens).updateOne({ _id: token._id }, { $set: { revoked_at: clock.now() } })
  clock.advance(5_000)
  expect(await stream.ended()).toBe(true)
  expect((await open(token.value)).response.status).toBe(401)
})

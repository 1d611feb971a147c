/** Sessions over real sockets; logins and acceptance are played by the test. */
import { describe, expect, test } from 'vitest'
import { type Conversation, converse } from '../../../../test/support/mail/smtp-conversation.ts'
import {
  acceptedAnswer,
  LOGIN,
  startListener,
  type TestListener,
} from '../../../../test/support/mail/submission-listener.ts'
import { until } from '../../../../test/support/time/until.ts'
import type { Log } from '../../../platform/observability/log.ts'
import { refuse } from '../validate-sender.ts'
import { HEAD_BYTES } from './receive.ts'

const MAIL = 'From: a@example.org\r\nSubject: x\r\n\r\nhello\r\n'
const SENDER = 'a@example.org'
const RECIPIENTS = ['b@example.net']

/** A connection over TLS, greeted. */
async function connect(listener: TestListener): Promise<Conversation> {
  const client = await converse(listener.tls, { tls: true })
  await client.reply()
  return client
}

async function loggedIn(listener: TestListener): Promise<Conversation> {
  const client = await connect(listener)
  expect((await client.logIn(LOGIN.username, LOGIN.password)).code).toBe(235)
  return client
}

/** A log that keeps the fields of the lines with this text. */
function recording(text: string) {
  const lines: object[] = []
  const keep = (fields: object, message: string) => void (message === text && lines.push(fields))
  const log: Log = { debug: keep, info: keep, warn: keep, error: keep }
  return { log, lines }
}

describe('a session', () => {
  test('is logged at its end, with its login and what became of its messages', async () => {
    const { log, lines } = recording('session closed')
    const answers = [acceptedAnswer(), refuse('quota_exceeded'), acceptedAnswer()]
    const listener = await startListener({ log, accept: async () => answers.shift() ?? acceptedAnswer() })
    const client = await connect(listener)
    await client.logIn(LOGIN.username, 'wrong')
    await client.logIn(LOGIN.username, LOGIN.password)
    const codes = []
    for (let n = 0; n < 3; n++) codes.push((await client.submit(SENDER, RECIPIENTS, MAIL)).code)
    expect(codes).toEqual([250, 452, 250])
    await client.command('QUIT')
    await until(() => lines.length > 0)
    expect(lines).toMatchObject([{ user: 'usr_1', login: 'crd_1', accepted: 2, refused: 1, login_failures: 1 }])
  })

  test('without a login accepts no envelope', async () => {
    const client = await connect(await startListener())
    await client.command('EHLO client.example')
    expect((await client.command(`MAIL FROM:<${SENDER}>`)).code).toBe(530)
  })

  test.each([
    ['MAIL', [`MAIL FROM:<${SENDER}> X-OTHER=1`], '504 5.5.4 The parameter X-OTHER is not offered.'],
    ['RCPT', [`MAIL FROM:<${SENDER}>`, 'RCPT TO:<b@example.net> X-OTHER=1'], '504 5.5.4 The parameter X-OTHER'],
  ])('refuses a parameter of %s that is not offered', async (_, lines, expected) => {
    const client = await loggedIn(await startListener())
    const replies = []
    for (const line of lines) replies.push((await client.command(line)).text)
    expect(replies.at(-1)).toContain(expected.slice(4))
    client.destroy()
  })
})

describe('a login that changes between messages', () => {
  test('and no longer holds sends nothing more', async () => {
    let isRevoked = false
    const listener = await startListener({
      renewLogin: async submitter => (isRevoked ? refuse('account_suspended') : submitter),
    })
    const client = await loggedIn(listener)
    expect((await client.submit(SENDER, RECIPIENTS, MAIL)).code).toBe(250)
    isRevoked = true
    expect((await client.command(`MAIL FROM:<${SENDER}>`)).code).toBeGreaterThanOrEqual(500)
    expect(listener.received).toHaveLength(1)
  })

  test('submits the next one with what it may do now', async () => {
    let messagesPerHour = 5
    const listener = await startListener({
      renewLogin: async submitter => ({ ...submitter, messagesPerHour }),
    })
    const client = await loggedIn(listener)
    await client.submit(SENDER, RECIPIENTS, MAIL)
    messagesPerHour = 9
    await client.submit(SENDER, RECIPIENTS, MAIL)
    expect(listener.received.map(({ submitter }) => submitter.messagesPerHour)).toEqual([5, 9])
  })

  test('is not asked for longer than the database takes to be given up: 451', async () => {
    const listener = await startListener({ renewLogin: () => Promise.reject(new Error('not primary')) })
    const client = await loggedIn(listener)
    expect((await client.command(`MAIL FROM:<${SENDER}>`)).code).toBe(451)
  })
})

describe('an end that comes while a message', () => {
  test('is stored waits for its answer', async () => {
    const [storing, answer] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const listener = await startListener({
      limits: { sessionMs: 5_000 },
      async accept() {
        storing.resolve()
        await answer.promise
        return acceptedAnswer()
      },
    })
    const client = await loggedIn(listener)
    const idle = await loggedIn(listener)
    const submitted = client.submit(SENDER, RECIPIENTS, MAIL)
    await storing.promise
    // Its time began later, so that of the first session is over as well.
    expect((await idle.reply()).text).toMatch(/^421 /)
    answer.resolve()
    expect((await submitted).code).toBe(250)
    expect((await client.reply()).text).toMatch(/^421 /)
  })

  test('comes in cuts it', async () => {
    const listener = await startListener({ limits: { sessionMs: 3_000 } })
    const client = await loggedIn(listener)
    for (const line of [`MAIL FROM:<${SENDER}>`, 'RCPT TO:<b@example.net>', 'DATA']) await client.command(line)
    client.write('From: a@example.org\r\n')
    expect((await client.reply()).text).toMatch(/^421 /)
    await client.closed
    expect(listener.received).toEqual([])
  })
})

test('memory of a message is free again once it is answered, whatever the answer', async () => {
  const answers = [acceptedAnswer(), refuse('queue_unavailable'), acceptedAnswer(), acceptedAnswer()]
  const listener = await startListener({
    limits: { receivingBytes: 2 * 3 * HEAD_BYTES }, // one account gets half: a message with its copies
    accept: async () => answers.shift() ?? acceptedAnswer(),
  })
  const client = await loggedIn(listener)
  const large = `${MAIL}${'x'.repeat(70)}\r\n`.padEnd(HEAD_BYTES - 72, `${'y'.repeat(70)}\r\n`)
  const codes = []
  for (let n = 0; n < 4; n++) codes.push((await client.submit(SENDER, RECIPIENTS, large)).code)
  expect(codes).toEqual([250, 451, 250, 250])
})

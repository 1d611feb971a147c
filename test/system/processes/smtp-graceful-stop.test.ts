/** Stopping the SMTP process under load: transactions that began are completed, and every client gets 421. */
import { describe, expect, onTestFinished, test } from 'vitest'
import { PASSWORD } from '../../support/accounts/accounts-and-domains.ts'
import { openSender } from '../../support/mail/load-sender.ts'
import { converse } from '../../support/mail/smtp-conversation.ts'
import { LOGIN, startListener, type TestListener } from '../../support/mail/submission-listener.ts'
import { LOGIN_NAME, startSubmissionProcess } from '../../support/mail/submission-process.ts'
import { until } from '../../support/time/until.ts'

const MAIL = 'From: a@example.org\r\nSubject: x\r\n\r\nhello\r\n.\r\n'
const GOODBYE = /^421 4\.3\.2 /

async function loggedIn(listener: TestListener) {
  const client = await converse(listener.tls, { tls: true })
  await client.reply()
  expect((await client.logIn(LOGIN.username, LOGIN.password)).code).toBe(235)
  return client
}

describe('a stopping server', () => {
  test.each([
    ['a sender', ['MAIL FROM:<a@example.org>'], ['RCPT TO:<b@example.net>', 'DATA']],
    ['a sender and a recipient', ['MAIL FROM:<a@example.org>', 'RCPT TO:<b@example.net>'], ['DATA']],
  ])('completes a transaction with %s and sends 421 after its reply', async (_, before, after) => {
    const listener = await startListener()
    const client = await loggedIn(listener)
    for (const line of before) expect((await client.command(line)).code).toBe(250)
    const stopped = listener.stop()
    for (const line of after) expect((await client.command(line)).code).toBe(line === 'DATA' ? 354 : 250)
    client.write(MAIL)
    expect((await client.reply()).code).toBe(250)
    expect((await client.reply()).text).toMatch(GOODBYE)
    await stopped
    expect(listener.received).toHaveLength(1)
  })

  test('completes a transaction whose sender is being looked up', async () => {
    const [asked, answer] = [Promise.withResolvers<void>(), Promise.withResolvers<undefined>()]
    const listener = await startListener({
      validateSender() {
        asked.resolve()
        return answer.promise
      },
    })
    const client = await loggedIn(listener)
    client.write('MAIL FROM:<a@example.org>\r\nRCPT TO:<b@example.net>\r\nDATA\r\n')
    await asked.promise
    const stopped = listener.stop()
    answer.resolve(undefined)
    for (const code of [250, 250, 354]) expect((await client.reply()).code).toBe(code)
    client.write(MAIL)
    expect((await client.reply()).code).toBe(250)
    await stopped
    expect(listener.received).toHaveLength(1)
  })

  test('sends 421 to a client that does not continue', async () => {
    const listener = await startListener({ limits: { envelopeMs: 50 } })
    const [stalls, again] = [await loggedIn(listener), await loggedIn(listener)]
    for (const client of [stalls, again]) await client.command('MAIL FROM:<a@example.org>')
    const stopped = listener.stop()
    expect((await stalls.reply()).text).toMatch(GOODBYE)
    await stalls.closed
    await again.closed
    await stopped
  })

  test('does not begin another transaction after RSET', async () => {
    const listener = await startListener()
    const client = await loggedIn(listener)
    await client.command('MAIL FROM:<a@example.org>')
    const stopped = listener.stop()
    expect((await client.command('RSET')).code).toBe(250)
    expect((await client.command('MAIL FROM:<a@example.org>')).text).toMatch(GOODBYE)
    await stopped
  })
})

test('answers each message of busy clients, and stores every accepted one once', async () => {
  const { mongo, port, service, stop } = await startSubmissionProcess()
  onTestFinished(stop)
  const envelope = 'MAIL FROM:<a@example.org>\r\nRCPT TO:<b@example.net>\r\nDATA\r\n'
  const outcomes: string[] = []
  let accepted = 0
  const client = async () => {
    const sender = await openSender(port, LOGIN_NAME, PASSWORD)
    try {
      const deadline = performance.now() + 90_000
      while (performance.now() < deadline) {
        const reply = await sender.send(
          envelope,
          `From: a@example.org\r\nSubject: x\r\n\r\n${'x\r\n'.repeat(5_000)}.\r\n`,
        )
        if (!reply.startsWith('250')) return reply
        accepted++
      }
      return 'the process still accepts messages'
    } catch (error) {
      return String(error)
    } finally {
      sender.close()
    }
  }
  const clients = Array.from({ length: 12 }, async () => outcomes.push(await client()))
  await until(() => accepted >= 100, 60_000)
  const asked = performance.now()
  service.kill('SIGTERM')
  expect(await service.exited).toBe(0)
  expect(performance.now() - asked).toBeLessThan(15_000)
  await Promise.all(clients)
  expect(outcomes.filter(outcome => !GOODBYE.test(outcome))).toEqual([])
  expect(await mongo.db.collection('messages').countDocuments()).toBe(accepted)
})

/** A real Postfix between this service and mailboxes: its bounces, and complaints that a provider sends through it. */
import { expect, onTestFinished, test } from 'vitest'
import { updateDomain } from '../../../services/mail/domains/store/domains.ts'
import { freePort } from '../../support/database/test-mongod.ts'
import { at } from '../../support/mail/delivery-environment.ts'
import { BOUNCES, complaint, startInboundEnvironment } from '../../support/mail/inbound-environment.ts'
import { startPostfix } from '../../support/mail/postfix.ts'
import { startReceiver } from '../../support/mail/receiving-server.ts'
import { converse } from '../../support/mail/smtp-conversation.ts'
import { until } from '../../support/time/until.ts'

/** A Postfix that passes mail for this machine on to a server that refuses some recipients, and other mail to the inbound port. */
async function startBehindPostfix() {
  const [port, mailboxes] = [await freePort(), await startReceiver()]
  onTestFinished(() => mailboxes.stop())
  const postfix = await startPostfix(
    'inbox.test',
    [
      `local_transport = smtp:[127.0.0.1]:${mailboxes.port}`,
      'local_recipient_maps =',
      `default_transport = smtp:[127.0.0.1]:${port}`,
      'smtp_tls_security_level = none',
    ].join('\n'),
  )
  onTestFinished(() => postfix.stop())
  const env = { DELIVERY_PORT: String(postfix.port), INBOUND_LISTEN: `${port}:starttls` }
  const environment = await startInboundEnvironment({ env })
  await updateDomain(environment.mongo.db, environment.domain._id, { dns: { manage: false, return_path: 'shared' } })
  await environment.work()
  return { environment, mailboxes, postfix }
}

test('the bounce of a Postfix marks the recipient and suppresses its address', async () => {
  const { environment } = await startBehindPostfix()
  const id = await environment.submit({ to: [at('good'), at('rcpt-550-5.1.1')] })
  const outcomes = async () =>
    (await environment.message(id)).rcpts.map(({ status, code, enhanced }) => [status, code, enhanced])
  // Each recipient has an attempt of its own, so the bounce of one can come before the outcome of the other is written.
  await expect.poll(outcomes, { timeout: 60_000 }).toEqual([
    ['delivered', 250, '2.0.0'],
    ['bounced', 550, '5.1.1'],
  ])
  await until(async () => (await environment.suppressed()).some(({ email }) => email === at('rcpt-550-5.1.1')))
}, 120_000)

test.each<[string, (returnPath: string) => { to: string; report: string }]>([
  [
    'the address for complaints of the recipient',
    returnPath => ({ to: `feedback+${returnPath}`, report: complaint({ header: [`Return-Path: <${returnPath}>`] }) }),
  ],
  [
    'the address for abuse, with the envelope sender in the report',
    returnPath => ({ to: `abuse@${BOUNCES}`, report: complaint({ from: returnPath }) }),
  ],
])(
  'a complaint through a Postfix to %s',
  async (_, make) => {
    const { environment, mailboxes, postfix } = await startBehindPostfix()
    const id = await environment.submit({ to: [at('good')] })
    await until(async () => mailboxes.received.length > 0, 60_000)
    const { to, report } = make(mailboxes.received[0]?.from ?? '')
    const provider = await converse(postfix.port)
    onTestFinished(() => provider.destroy())
    await provider.reply()
    for (const command of [
      'EHLO feedback.inbox.test',
      'MAIL FROM:<feedback@inbox.test>',
      `RCPT TO:<${to}>`,
      'DATA',
      `${report}\r\n.`,
    ])
      expect((await provider.command(command)).code).toBeLessThan(400)
    await until(async () => (await environment.message(id)).rcpts[0]?.status === 'complained', 60_000)
    await until(async () => (await environment.suppressed()).length === 1)
    expect(await environment.suppressed()).toMatchObject([{ email: at('good'), reason: 'complaint', origin: 'report' }])
  },
  120_000,
)

/** A real Postfix that accepts a message, cannot deliver it, and sends its bounce to the return path. */
import { expect, onTestFinished, test } from 'vitest'
import { updateDomain } from '../../../services/mail/domains/store/domains.ts'
import { freePort } from '../../support/database/test-mongod.ts'
import { at } from '../../support/mail/delivery-environment.ts'
import { startInboundEnvironment } from '../../support/mail/inbound-environment.ts'
import { startPostfix } from '../../support/mail/postfix.ts'
import { startReceiver } from '../../support/mail/receiving-server.ts'
import { until } from '../../support/time/until.ts'

test('the bounce of a Postfix marks the recipient and suppresses its address', async () => {
  const [port, mailboxes] = [await freePort(), await startReceiver()]
  onTestFinished(() => mailboxes.stop())
  // It passes mail for this machine on to a server that refuses some recipients, and everything else to the inbound port.
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
  const id = await environment.submit({ to: [at('good'), at('rcpt-550-5.1.1')] })
  await until(async () => (await environment.message(id)).rcpts[1]?.status === 'bounced', 60_000)
  const { rcpts } = await environment.message(id)
  expect(rcpts.map(({ status, code, enhanced }) => [status, code, enhanced])).toEqual([
    ['delivered', 250, '2.0.0'],
    ['bounced', 550, '5.1.1'],
  ])
  await until(async () => (await environment.suppressed()).some(({ email }) => email === at('rcpt-550-5.1.1')))
}, 120_000)

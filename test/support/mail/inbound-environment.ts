/** The inbound service beside a delivery worker and a receiver, and the reports that receivers send. */
import { onTestFinished } from 'vitest'
import { startInbound } from '../../../services/mail/inbound/inbound-service.ts'
import type { ListenerLimits } from '../../../services/mail/inbound/smtp/listener.ts'
import { INBOUND_MESSAGES, type InboundDoc } from '../../../services/mail/inbound/store/inbound-messages.ts'
import { returnPathToken } from '../../../services/mail/message/return-path.ts'
import { reportCollections } from '../../../services/mail/reports/store/report-model.ts'
import { SUPPRESSIONS, type SuppressionDoc } from '../../../services/mail/suppressions/store/suppressions.ts'
import { collectionOf, ensureIndexes } from '../../../services/platform/database/mongo.ts'
import { silentLog } from '../../../services/platform/observability/log.ts'
import { until } from '../time/until.ts'
import { type DeliveryEnvironment, startDeliveryEnvironment } from './delivery-environment.ts'
import { type Conversation, converse } from './smtp-conversation.ts'

/** BOUNCE_DOMAIN. */
export const BOUNCES = 'bounces.mail.test'
/** The return path of the domain of the delivery environment. */
export const OWN = 'bounce.example.com'

export interface InboundEnvironment extends DeliveryEnvironment {
  /** Port of the listener. */
  port: number
  /** Suppressed addresses of all accounts. */
  suppressed(): Promise<SuppressionDoc[]>
  /** A conversation after EHLO. */
  open(from?: string): Promise<Conversation>
  /** Brings a message, by default with an empty envelope sender; the reply to the final dot, or to the recipient if it is refused. */
  bring(to: string, message: string, from?: string): Promise<string>
  /** Everything stored, once all of it is processed. */
  processed(messages?: number): Promise<InboundDoc[]>
  /** The token of a recipient of a message at a host. */
  token(messageId: string, options?: { recipient?: number; host?: string; expiresAt?: Date }): string
}

/** Starts a database, a receiver and the inbound service for one test. */
export async function startInboundEnvironment({
  env = {},
  limits = {},
}: {
  env?: Record<string, string>
  limits?: Partial<ListenerLimits>
} = {}): Promise<InboundEnvironment> {
  const environment = await startDeliveryEnvironment({
    env: { BOUNCE_DOMAIN: BOUNCES, INBOUND_LISTEN: '0:starttls', ...env },
  })
  const { mongo, config, metrics, secrets, clock } = environment
  await ensureIndexes(mongo.db, [INBOUND_MESSAGES, SUPPRESSIONS, ...reportCollections])
  const foundation = { config, log: silentLog, metrics, mongo, secrets, clock }
  const service = await startInbound(foundation, BOUNCES, { slots: config.SLOTS, limits })
  onTestFinished(() => service.stop())
  const port = service.ports[0] ?? 0
  const open = async (from = '127.0.0.1') => {
    const conversation = await converse(port, { from })
    onTestFinished(() => conversation.destroy())
    await conversation.reply()
    await conversation.command('EHLO mx.example.net')
    return conversation
  }
  return Object.assign(environment, {
    ...{ port, open },
    suppressed: () => collectionOf(mongo.db, SUPPRESSIONS).find().toArray(),
    async bring(to: string, message: string, from = '') {
      const conversation = await open()
      await conversation.command(`MAIL FROM:<${from}>`)
      const named = await conversation.command(`RCPT TO:<${to}>`)
      if (named.code === 250) await conversation.command('DATA')
      const { text } = named.code === 250 ? await conversation.command(`${message}\r\n.`) : named
      conversation.destroy()
      return text
    },
    async processed(messages = 1) {
      const all = () => collectionOf(mongo.db, INBOUND_MESSAGES).find().sort({ at: 1 }).toArray()
      await until(async () => {
        const docs = await all()
        return docs.length >= messages && docs.every(({ due }) => due === undefined)
      })
      return all()
    },
    token(messageId: string, { recipient = 0, host = OWN, expiresAt = clock.now() } = {}) {
      const mac = (text: string) => secrets.mac('return-path', text)
      return `${returnPathToken({ messageId, recipient, expiresAt }, host, mac)}`
    },
  })
}

/** A report of a receiving server (RFC 3464). */
export function statusReport({
  action = 'failed',
  status = '5.1.1',
  diagnostic = '550 5.1.1 no such user',
  about = 'b@[127.0.0.1]',
  original = 'From: a@example.com\r\nMessage-ID: <1@example.com>',
} = {}): string {
  return [
    'From: MAILER-DAEMON@mx.example.net',
    'Subject: Undelivered',
    'Content-Type: multipart/report; report-type=delivery-status; boundary=x',
    '',
    '--x',
    'Content-Type: text/plain',
    '',
    'Sorry.',
    '--x',
    'Content-Type: message/delivery-status',
    '',
    'Reporting-MTA: dns; mx.example.net',
    '',
    `Final-Recipient: rfc822; ${about}`,
    `Action: ${action}`,
    `Status: ${status}`,
    `Diagnostic-Code: smtp; ${diagnostic}`,
    '--x',
    'Content-Type: text/rfc822-headers',
    '',
    original,
    '',
    '--x--',
  ].join('\r\n')
}

/** A complaint (RFC 5965); `from`: the envelope sender of the original; `header`: further lines of its header. */
export function complaint({ type = 'abuse', from = '', header = [] as readonly string[] } = {}): string {
  return [
    'From: feedback@provider.example',
    'Subject: FW: hello',
    'Content-Type: multipart/report; report-type=feedback-report; boundary=x',
    '',
    '--x',
    'Content-Type: message/feedback-report',
    '',
    `Feedback-Type: ${type}`,
    'User-Agent: Provider/1.0',
    'Arrival-Date: Mon, 23 Nov 2026 08:00:00 +0000',
    'Version: 1',
    ...(from ? [`Original-Mail-From: <${from}>`] : []),
    '--x',
    'Content-Type: text/rfc822-headers',
    '',
    'From: a@example.com',
    ...header,
    '',
    '--x--',
  ].join('\r\n')
}

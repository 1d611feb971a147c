/** The operation that explains what became of a message. */
import { z } from 'zod'
import { endpoint } from '../../../platform/http/endpoint.ts'
import { sentenceCode, sentenceParams } from '../../../platform/http/sentence-fields.ts'
import { recordStatus } from '../../domains/http/dns-records-contract.ts'
import type { Access } from '../../http/shared/access.ts'
import { SUPPRESSION_REASONS } from '../../suppressions/rules/suppression.ts'
import { RESPONSIBLE } from '../rules/kind-explanations.ts'
import { emailPath, emailRecipient } from './emails-contract.ts'

const READ: Access = { kind: 'account', scope: 'emails:read' }

const time = z.iso.datetime()

const evidence = z.discriminatedUnion('type', [
  z
    .strictObject({
      type: z.literal('reply'),
      event_id: z.string().describe('Id of the attempt in GET /api/v1/emails/{id}/attempts.'),
      at: time,
      mx_host: z.string().nullable(),
      smtp_code: z.number().int().nullable(),
      enhanced_code: z.string().nullable(),
      text: z.string(),
      text_code: sentenceCode,
      text_params: sentenceParams,
    })
    .meta({ id: 'ReplyEvidence', description: 'What the receiving server said, or what happened on the way to it.' }),
  z
    .strictObject({
      type: z.literal('dns_record'),
      record: z.string().describe('Id of the record among those of the domain, as in `spf`.'),
      status: recordStatus,
      observed: z.array(z.string()).describe('Values in public DNS at the time of the check.'),
      checked_at: time,
    })
    .meta({ id: 'DnsRecordEvidence', description: 'A record of the sending domain at its last check.' }),
  z
    .strictObject({
      type: z.literal('destination'),
      site: z.string(),
      state: z.enum(['throttled', 'down']),
      since: time.nullable(),
      reason: z.string().nullable(),
    })
    .meta({
      id: 'DestinationEvidence',
      description: 'The destination is in trouble for all mail of this installation.',
    }),
  z
    .strictObject({
      type: z.literal('suppression'),
      email: z.string(),
      stream: z.string().nullable().describe('Null: all mail of the account.'),
      reason: z.enum(SUPPRESSION_REASONS),
      since: time,
      expires_at: time.nullable(),
    })
    .meta({ id: 'SuppressionEvidence', description: 'The entry of the suppression list that applies now.' }),
])

const explanation = z
  .strictObject({
    recipient: emailRecipient,
    what: z.string().describe('What happened.'),
    what_code: sentenceCode,
    what_params: sentenceParams,
    why: z.string().nullable().describe('The reason, where there is one.'),
    why_code: sentenceCode.nullable(),
    why_params: sentenceParams.nullable(),
    responsible: z
      .enum(RESPONSIBLE)
      .describe(
        'On whose side the reason is: `recipient` (address or mailbox), `receiver` (its policy or servers), `sender_dns`, `content`, `sending_address` (reputation), `account` (its own choice), `service` (this installation), `network`; `none` when nothing went wrong.',
      ),
    next: z.string().describe('What to do next.'),
    next_code: sentenceCode,
    next_params: sentenceParams,
    kind: z.string().nullable().describe('Class of the failure, as in `mailbox_full`.'),
    evidence: z.array(evidence),
  })
  .meta({ id: 'RecipientExplanation' })

/** `GET /api/v1/emails/{id}/explain`. */
export const explainEmail = endpoint({
  operationId: 'explainEmail',
  tag: 'Emails',
  method: 'GET',
  path: '/api/v1/emails/{id}/explain',
  summary:
    'For each recipient: what happened, why, on whose side the reason is, what to do next, and the evidence. Texts have codes and parameters.',
  access: READ,
  params: emailPath,
  response: z
    .strictObject({ object: z.literal('explanation'), email_id: z.string(), recipients: z.array(explanation) })
    .meta({ id: 'EmailExplanation' }),
})

/** Suppressions as callers give them: the schema of one entry, and the values of files of other services. */
import { z } from 'zod'
import { reason } from '../../../platform/sentences/issue-reason.ts'
import { normaliseEmail } from '../../message/address.ts'
import {
  ALL_STREAMS,
  STREAM_NAME,
  SUPPRESSION_REASONS,
  type SuppressionReason,
  suppressionAddress,
} from './suppression.ts'

/** Longest note, and most characters of a receiver's words, in UTF-16 code units. */
export const DETAIL_CHARS = 500
/** Longest address that is looked at (RFC 5321 allows 254 octets). */
const ADDRESS_CHARS = 320

/** An address; afterwards in the form under which entries are stored. */
export const suppressedEmail = z
  .string()
  .max(ADDRESS_CHARS)
  .transform((written, context): string => {
    const email = normaliseEmail(written.trim())
    if (email !== undefined) return suppressionAddress(email)
    context.issues.push({
      ...{ code: 'custom', message: reason('field.address'), input: written },
      params: { text: written.slice(0, 80) },
    })
    return z.NEVER
  })
  .meta({ format: 'idn-email', examples: ['user@example.com'] })

/** A stream; null and absent mean all mail of the account. */
export const suppressedStream = z
  .string()
  .max(80)
  .regex(STREAM_NAME, reason('field.stream'))
  .nullish()
  .transform(stream => stream ?? ALL_STREAMS)
  .meta({ examples: ['bulk', 'bulk/newsletter'] })

/** One entry as a caller gives it. */
export const suppressionInput = z.strictObject({
  email: suppressedEmail,
  stream: suppressedStream,
  reason: z.enum(SUPPRESSION_REASONS).default('manual'),
  expires_at: z.iso
    .datetime({ offset: true })
    .nullish()
    .transform(at => (at ? new Date(at) : undefined)),
  detail: z.string().max(DETAIL_CHARS).optional(),
})

/** One entry, parsed. */
export type SuppressionInput = z.output<typeof suppressionInput>

/** A column of an imported file. */
export type SuppressionColumn = 'email' | 'stream' | 'reason' | 'expires_at' | 'created_at' | 'detail'

/** Headings by their letters in lower case: ours, and those of the exports of other sending services. */
const HEADINGS: ReadonlyMap<string, SuppressionColumn> = new Map([
  ...headings('email', 'email', 'emailaddress', 'address', 'recipient', '邮箱', '邮箱地址'),
  ...headings('stream', 'stream', 'messagestream'),
  ...headings('reason', 'reason', 'suppressionreason', 'type', 'origin', '原因'),
  ...headings('expires_at', 'expiresat', 'expires'),
  ...headings('created_at', 'createdat', 'created', 'date', 'timestamp', 'lastupdatetime'),
  ...headings('detail', 'detail', 'note', 'error', 'description', '备注'),
])

function headings(column: SuppressionColumn, ...names: string[]): [string, SuppressionColumn][] {
  return names.map(name => [name, column])
}

/** The column of a heading; undefined for one that means nothing here. */
export function columnOf(heading: string): SuppressionColumn | undefined {
  return HEADINGS.get(heading.toLowerCase().replace(/[\s_-]+/g, ''))
}

const REASONS: ReadonlyMap<string, SuppressionReason> = new Map([
  ...reasons('hard_bounce', 'hardbounce', 'bounce', 'bounced', 'bounces'),
  ...reasons('complaint', 'complaint', 'spamcomplaint', 'spamreport', 'spam', 'complained', 'abuse'),
  ...reasons('unsubscribe', 'unsubscribe', 'unsubscribed'),
  ...reasons('manual', '', 'manual', 'manualsuppression', 'customer', 'recipient'),
])

function reasons(reason: SuppressionReason, ...names: string[]): [string, SuppressionReason][] {
  return names.map(name => [name, reason])
}

/** The reason that a cell of a file names, also in the words of other services; undefined when it is none of them. */
export function reasonOf(cell: string): SuppressionReason | undefined {
  return REASONS.get(cell.toLowerCase().replace(/[\s_-]+/g, ''))
}

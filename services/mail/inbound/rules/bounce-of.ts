/** What a reported failure means, by the same table as replies to our own attempts. */

import { classifyReply, type FailureKind, isHardBounce } from '../../delivery/rules/classify-reply.ts'
import { parseReply } from '../../delivery/rules/smtp-reply.ts'
import { domainOf } from '../../message/address.ts'
import { siteOf } from '../../store/rules/assign-slot.ts'
import type { ReportedRecipient } from './report.ts'

/** A failure as it is recorded. */
export interface Bounce {
  class: FailureKind
  /** No further attempt follows: the reporting server has given up. */
  permanent: boolean
  /** The mailbox does not exist: mail to this address is not to be sent again. */
  suppresses: boolean
  code?: number
  enhanced?: string
  /** Diagnostic on one line; empty if the report has none. */
  text: string
}

/** Failures of a relaying server to reach the next one, which has not replied: codes of RFC 3463 3.5, and texts. */
const UNREACHED: readonly { pattern: RegExp; kind: FailureKind }[] = [
  { pattern: /host or domain name not found|host not found|no mx\b|name service error/i, kind: 'dns' },
  {
    pattern: /^[45]\.4\.[1257]\b|connection (?:timed out|refused)|no route to host|network is unreachable/i,
    kind: 'network',
  },
]

/** The failure of a recipient; undefined for one that was not refused (delivered, relayed, expanded). */
export function bounceOf(recipient: ReportedRecipient): Bounce | undefined {
  const { action, status, diagnostic = '' } = recipient
  if (action !== 'failed' && action !== 'delayed') return undefined
  const reply = replyOf(diagnostic, status)
  const classification = classifyReply(reply, 'rcpt', siteOfRecipient(recipient))
  const unreached = reply.fromServer
    ? undefined
    : UNREACHED.find(({ pattern }) => pattern.test(`${status} ${diagnostic}`))
  const permanent = action === 'failed'
  return {
    class: unreached?.kind ?? classification.kind ?? 'other',
    permanent,
    suppresses: permanent && !unreached && isHardBounce(classification),
    ...(reply.fromServer && { code: reply.code }),
    ...(reply.enhanced && { enhanced: reply.enhanced }),
    text: diagnostic,
  }
}

/**
 * The reply in a diagnostic. Servers put general codes (5.0.0) into the status and the precise one into the text, so
 * that of the text counts first.
 */
function replyOf(diagnostic: string, status: string | undefined) {
  // Coremail writes "SMTP error, RCPT TO: 550 …".
  const [, code, text = ''] = /^(?:\D{0,40}[\s:])?([245]\d\d)(?:[ :-]|$)(.*)$/.exec(diagnostic) ?? []
  const parsed = code === undefined ? undefined : parseReply([`${code} ${text}`])
  const enhanced = parsed?.enhanced ?? status
  const known = enhanced === undefined ? {} : { enhanced }
  if (parsed) return { code: parsed.code, text: parsed.text, ...known, fromServer: true }
  return { code: status?.startsWith('4') ? 450 : 550, text: diagnostic, ...known, fromServer: false }
}

function siteOfRecipient({ finalRecipient, originalRecipient }: ReportedRecipient): string {
  return siteOf(domainOf(finalRecipient ?? originalRecipient ?? ''))
}

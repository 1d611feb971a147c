/** Takes reports in by mail: those that receivers send to the address in a DMARC or TLS-RPT record. */

import type { Secrets } from '../../platform/security/secrets.ts'
import { type Sentence, sentence } from '../../platform/sentences/sentence.ts'
import { findDomainById } from '../domains/store/domains.ts'
import { contentOf, type MimePart, partsOf } from '../message/mime-reader.ts'
import { domainOfToken, readReportAddress } from '../message/report-address.ts'
import { MAX_FILE_BYTES } from './rules/report-limits.ts'
import { ReportError } from './rules/report-values.ts'
import { type ReportDeps, type TakenReport, takeReport } from './take-report.ts'

/** Dependencies of {@link receiveReportMail}. */
export interface ReportMailDeps extends ReportDeps {
  secrets: Pick<Secrets, 'macs'>
  /** The mail domain of the addresses: BOUNCE_DOMAIN. */
  mailDomain: string
}

/** A message that was received. */
export interface ReceivedMail {
  /** The envelope recipient. */
  recipient: string
  raw: Buffer
}

/**
 * What became of a message: its report was counted, perhaps before; or it has no usable report, and why; or its
 * recipient is not an address for reports of a domain that exists.
 */
export type ReportMailOutcome =
  | { kind: 'taken'; report: TakenReport }
  | { kind: 'refused'; reason: Sentence }
  | { kind: 'unknown_recipient' }

/** Attachments of one message that are tried. */
const MAX_TRIED = 5
const REPORT_TYPE = /^application\/|^text\/xml$|\+(?:xml|json|gzip)$/
const REPORT_NAME = /\.(?:xml|json|gz|gzip|zip)$/i

/**
 * Counts the report in a message for the domain of its recipient, once. Nothing of the sender is verified (ADR 85). Rejects
 * only when the database does not answer: the message is to be processed again.
 */
export async function receiveReportMail(
  deps: ReportMailDeps,
  { recipient, raw }: ReceivedMail,
): Promise<ReportMailOutcome> {
  const domain = await domainOf(deps, recipient)
  if (!domain) return { kind: 'unknown_recipient' }
  let reason: Sentence = sentence('report.no_attachment')
  for (const part of attachmentsOf(raw)) {
    try {
      return { kind: 'taken', report: await takeReport(deps, domain, contentOf(part), 'mail') }
    } catch (error) {
      if (!(error instanceof ReportError)) throw error
      reason = error.sentence
    }
  }
  return { kind: 'refused', reason }
}

async function domainOf({ mongo, secrets, mailDomain }: ReportMailDeps, recipient: string) {
  const address = readReportAddress(recipient, mailDomain)
  const id = address && domainOfToken(address.kind, address.token, value => secrets.macs('report-address', value))
  return id === undefined ? undefined : findDomainById(mongo.db, id)
}

/** Parts that can be a report by their type or name; the text around them is not tried. */
function attachmentsOf(raw: Buffer): MimePart[] {
  const fits = ({ type, parameters, field, body }: MimePart) => {
    const disposition = field('content-disposition') ?? ''
    const fileName = /filename\*?\s*=\s*"?(?<name>[^";]+)/i.exec(disposition)?.groups?.name?.trim()
    const isReport = REPORT_TYPE.test(type) || REPORT_NAME.test(fileName ?? parameters.get('name') ?? '')
    return isReport && body.length <= 2 * MAX_FILE_BYTES
  }
  return partsOf(raw.toString('latin1')).filter(fits).slice(0, MAX_TRIED)
}

/** Processes an incoming message: one handler for each kind of address. */
import type { Secrets } from '../../platform/security/secrets.ts'
import { type ReportMailOutcome, receiveReportMail } from '../reports/receive-report-mail.ts'
import { findReported } from '../store/recipient-reports.ts'
import { streamName } from '../store/rules/stream.ts'
import { unsubscribe } from '../streams/unsubscribe.ts'
import { type RecordDeps, type Recorded, recordReport } from './record-report.ts'
import {
  type AddressContext,
  type AddressKind,
  type InboundAddress,
  readInboundAddress,
} from './rules/inbound-address.ts'
import { readReport } from './rules/read-report.ts'
import type { Report } from './rules/report.ts'
import { effectOf, type ReportEffect } from './rules/report-effect.ts'
import { type InboundDoc, rawOf } from './store/inbound-messages.ts'

/** What became of a message for one of its recipients; `early`: it has to be processed again later. */
export type Outcome =
  | Recorded
  | Extract<ReportEffect, { kind: 'dropped' }>['reason']
  | ReportMailOutcome['kind']
  | 'unidentified'
  | 'unsubscribed'

/** Dependencies of {@link processInbound}. */
export interface ProcessDeps extends RecordDeps {
  secrets: Pick<Secrets, 'macs'>
  bounceDomain: string
}

/** A message as handlers read it. */
interface Incoming {
  id: string
  at: Date
  /** Envelope sender. */
  from: string
  raw: Buffer
}

type AddressOf<Kind extends AddressKind> = Extract<InboundAddress, { kind: Kind }>
type Handler<Kind extends AddressKind> = (
  deps: ProcessDeps,
  message: Incoming,
  address: AddressOf<Kind>,
) => Promise<Outcome>

/** Mail to an address of each kind. */
const HANDLERS: { readonly [Kind in AddressKind]: Handler<Kind> } = {
  return_path: processReport,
  feedback: processReport,
  unsubscribe: processUnsubscribe,
  domain_report: processDomainReport,
  role: processRoleMail,
}

/** Repeating it changes nothing. Rejects when the database is away. */
export async function processInbound(deps: ProcessDeps, doc: InboundDoc): Promise<Outcome[]> {
  const message = { id: doc._id, at: doc.at, from: doc.mail_from, raw: rawOf(doc) }
  const outcomes: Outcome[] = []
  for (const address of doc.rcpts) {
    const handle = HANDLERS[address.kind] as Handler<AddressKind>
    outcomes.push(await handle(deps, message, address))
  }
  return outcomes
}

/** How addresses are read at some time. */
export function addressContext(
  { secrets, bounceDomain }: Pick<ProcessDeps, 'secrets' | 'bounceDomain'>,
  now: Date,
): AddressContext {
  const macs = [0, 1].map(index => (text: string) => {
    const known = secrets.macs('return-path', text)
    return known[index] ?? known[0] ?? Buffer.alloc(0)
  })
  return { bounceDomain, now, macs, reportMac: value => secrets.macs('report-address', value) }
}

/** The address names the recipient. */
function processReport(
  deps: ProcessDeps,
  { id, raw }: Incoming,
  { messageId, recipient }: AddressOf<'return_path'>,
): Promise<Outcome> {
  return apply(deps, id, { messageId, recipient }, readReport(raw))
}

/** Any mail of a person unsubscribes, whatever it says (RFC 2369 section 3.2); a bounce is none. */
async function processUnsubscribe(
  deps: ProcessDeps,
  { from }: Incoming,
  { messageId, recipient }: AddressOf<'unsubscribe'>,
): Promise<Outcome> {
  if (from === '') return 'unidentified'
  const found = await findReported(deps.mongo, messageId, recipient)
  if (!found) return 'gone'
  const { message, state } = found
  const deliveryId = `${messageId}.${recipient}`
  const subscriber = { userId: message.user_id, deliveryId, stream: streamName(message), email: state.email }
  await unsubscribe(deps, { ...subscriber, domain: '' }, 'mail')
  return 'unsubscribed'
}

async function processDomainReport(
  deps: ProcessDeps,
  { raw }: Incoming,
  { address }: AddressOf<'domain_report'>,
): Promise<Outcome> {
  return (await receiveReportMail({ ...deps, mailDomain: deps.bounceDomain }, { recipient: address, raw })).kind
}

/**
 * Providers send complaints to a fixed address. The envelope sender of the original, which they repeat, names the recipient;
 * so does the address for complaints in its header (RFC 9477), which is left when they repeat the header only.
 */
async function processRoleMail(deps: ProcessDeps, { id, at, raw }: Incoming): Promise<Outcome> {
  const report = readReport(raw)
  if (report.kind !== 'feedback') return report.kind === 'delivery_status' ? 'unidentified' : report.kind
  const { originalMailFrom, original } = report
  const [complaintsTo] = original?.headers.get('cfbl-address')?.split(';') ?? []
  const known = [originalMailFrom, original?.headers.get('return-path'), complaintsTo?.trim()]
  const context = addressContext(deps, at)
  for (const address of known) {
    const found = address && readInboundAddress(address.replace(/^\s*<|>\s*$/g, ''), context)
    if (found && 'messageId' in found) return apply(deps, id, found, report)
  }
  return 'unidentified'
}

async function apply(
  deps: ProcessDeps,
  inboundId: string,
  { messageId, recipient }: { messageId: string; recipient: number },
  report: Report,
): Promise<Outcome> {
  const effect = effectOf(report)
  return effect.kind === 'dropped' ? effect.reason : recordReport(deps, { messageId, recipient, inboundId }, effect)
}

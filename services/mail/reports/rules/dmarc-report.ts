/**
 * DMARC aggregate reports: RFC 7489 appendix C and RFC 9990, whose elements differ in details. The reader takes elements
 * as they come, so that a report is never a tree in memory.
 */
import { sentence } from '../../../platform/sentences/sentence.ts'
import { MAX_RECORDS } from './report-limits.ts'
import { addressOf, countOf, domainNameOf, type ReportPeriod, refuseReport, shownText } from './report-values.ts'

/** What a receiver did with messages; `pass` is that of RFC 9990 for those that passed. */
export type Disposition = 'none' | 'pass' | 'quarantine' | 'reject'

/** Messages of one address with the same results. */
export interface DmarcRow {
  ip: string
  messages: number
  disposition: Disposition
  /** DKIM, SPF: passed and aligned with the author's domain. */
  dkimAligned: boolean
  spfAligned: boolean
  /** The receiver knows the mail as forwarded, or as that of a mailing list. */
  forwarded: boolean
  headerFrom: string
  /** Domain of the envelope sender that SPF was checked for, and its result. */
  spfDomain: string | undefined
  spfPassed: boolean
  /** Domain of a DKIM signature: a valid one, if there is any. */
  dkimDomain: string | undefined
  dkimPassed: boolean
}

/** An aggregate report. */
export interface DmarcReport extends ReportPeriod {
  kind: 'dmarc'
  org: string
  contact: string | undefined
  reportId: string
  /** Where the policy was found: the domain or one above it. */
  policyDomain: string
  policy: string | undefined
  rows: DmarcRow[]
  /** Records that were left out: no valid address, count or author's domain. */
  skipped: number
}

/** Takes the elements of a report; paths are element names below `feedback`, as in `record/row/source_ip`. */
export interface DmarcReader {
  open(path: string): void
  /** The text of an element without children. */
  value(path: string, text: string): void
  close(path: string): void
  /** Throws {@link ReportError} where the report lacks what identifies it. */
  end(): DmarcReport
}

interface SpfResult {
  domain: string | undefined
  passed: boolean
}

/** One record while it is read. */
interface Draft {
  values: Map<string, string>
  forwarded: boolean
  dkim: SpfResult[]
  spf: SpfResult[]
}

/** Signatures of one message that are looked at. */
const MAX_RESULTS = 20
const FORWARDED = new Set(['forwarded', 'mailing_list', 'trusted_forwarder'])
const DISPOSITIONS = new Set(['none', 'pass', 'quarantine', 'reject'])

/** Starts a report. */
export function createDmarcReader(): DmarcReader {
  const head = new Map<string, string>()
  const rows: DmarcRow[] = []
  let skipped = 0
  let records = 0
  let draft = newDraft()
  return {
    open(path) {
      if (path === 'record') {
        if (++records > MAX_RECORDS) refuseReport(sentence('report.too_many_records', { count: MAX_RECORDS }))
        draft = newDraft()
      }
      if (path === 'record/auth_results/dkim' && draft.dkim.length < MAX_RESULTS) draft.dkim.push(noResult())
      if (path === 'record/auth_results/spf' && draft.spf.length < MAX_RESULTS) draft.spf.push(noResult())
    },
    value(path, text) {
      if (!path.startsWith('record/')) {
        if (!head.has(path)) head.set(path, text)
        return
      }
      takeValue(draft, path.slice('record/'.length), text)
    },
    close(path) {
      if (path !== 'record') return
      const row = rowOf(draft)
      if (row === undefined) skipped++
      else if (row.messages > 0) rows.push(row)
    },
    end: () => toReport(head, rows, skipped),
  }
}

const newDraft = (): Draft => ({ values: new Map(), forwarded: false, dkim: [], spf: [] })
const noResult = (): SpfResult => ({ domain: undefined, passed: false })

function takeValue(draft: Draft, path: string, text: string): void {
  const [, kind, field] = /^auth_results\/(dkim|spf)\/(domain|result)$/.exec(path) ?? []
  const result = kind === 'dkim' ? draft.dkim.at(-1) : kind === 'spf' ? draft.spf.at(-1) : undefined
  if (result && field === 'domain') result.domain = domainNameOf(text)
  if (result && field === 'result') result.passed = isPass(text)
  if (path === 'row/policy_evaluated/reason/type') draft.forwarded ||= FORWARDED.has(text.trim().toLowerCase())
  if (!draft.values.has(path)) draft.values.set(path, text)
}

function rowOf({ values, forwarded, dkim, spf }: Draft): DmarcRow | undefined {
  const ip = addressOf(values.get('row/source_ip'))
  const messages = countOf(values.get('row/count'))
  const headerFrom = domainNameOf(values.get('identifiers/header_from'))
  if (ip === undefined || messages === undefined || headerFrom === undefined) return undefined
  const disposition = values.get('row/policy_evaluated/disposition')?.trim().toLowerCase() ?? ''
  const signature = dkim.find(({ passed }) => passed) ?? dkim[0]
  const sender = spf.find(({ passed }) => passed) ?? spf[0]
  return {
    ip,
    messages,
    disposition: DISPOSITIONS.has(disposition) ? (disposition as Disposition) : 'none',
    dkimAligned: isPass(values.get('row/policy_evaluated/dkim')),
    spfAligned: isPass(values.get('row/policy_evaluated/spf')),
    forwarded,
    headerFrom,
    spfDomain: sender?.domain ?? domainNameOf(values.get('identifiers/envelope_from')),
    spfPassed: sender?.passed ?? false,
    dkimDomain: signature?.domain,
    dkimPassed: signature?.passed ?? false,
  }
}

function isPass(text: string | undefined): boolean {
  return text?.trim().toLowerCase() === 'pass'
}

function toReport(head: ReadonlyMap<string, string>, rows: DmarcRow[], skipped: number): DmarcReport {
  const org = shownText(head.get('report_metadata/org_name'))
  const reportId = shownText(head.get('report_metadata/report_id'))
  const policyDomain = domainNameOf(head.get('policy_published/domain'))
  const begin = countOf(head.get('report_metadata/date_range/begin'))
  const end = countOf(head.get('report_metadata/date_range/end'))
  if (org === undefined) return refuseReport(sentence('report.field_missing', { field: 'org_name' }))
  if (reportId === undefined) return refuseReport(sentence('report.field_missing', { field: 'report_id' }))
  if (policyDomain === undefined) return refuseReport(sentence('report.field_missing', { field: 'domain' }))
  if (begin === undefined || end === undefined)
    return refuseReport(sentence('report.field_missing', { field: 'date_range' }))
  if (rows.length === 0 && skipped > 0) return refuseReport(sentence('report.no_valid_records', { count: skipped }))
  return {
    kind: 'dmarc',
    org,
    contact: shownText(head.get('report_metadata/email')),
    reportId,
    policyDomain,
    policy: shownText(head.get('policy_published/p'))?.slice(0, 20),
    begin: begin * 1000,
    end: end * 1000,
    rows,
    skipped,
  }
}

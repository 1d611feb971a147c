/** From the rows of a DMARC report to counters by source of mail, and what a source is by its counters. */
import { type Sentence, sentence } from '../../../platform/sentences/sentence.ts'
import type { DmarcReport, DmarcRow } from './dmarc-report.ts'
import { isWithin } from './report-values.ts'

/** Messages by their results; the aligned results count for DMARC. */
export interface DmarcCounters {
  messages: number
  /** DKIM or SPF passed and is aligned. */
  pass: number
  dkim: number
  spf: number
  /** Failed messages for which DKIM or SPF passed for another domain. */
  misaligned: number
  /** Failed messages that the receiver knows as forwarded. */
  forwarded: number
  quarantine: number
  reject: number
}

/** Names of {@link DmarcCounters}. */
export const DMARC_COUNTERS = [
  'messages',
  'pass',
  'dkim',
  'spf',
  'misaligned',
  'forwarded',
  'quarantine',
  'reject',
] as const satisfies readonly (keyof DmarcCounters)[]

/** Who sends: an address, and the domains that SPF and DKIM were checked for. */
export interface DmarcSource {
  /** Empty for {@link OTHER_SOURCES}. */
  ip: string
  spfDomain: string
  dkimDomain: string
}

/** All sources beyond what is kept for a domain and a day. */
export const OTHER_SOURCES: DmarcSource = { ip: '', spfDomain: '', dkimDomain: '' }

/** A source with its counters. */
export interface SourceCounters extends DmarcSource, DmarcCounters {}

/** Counters without messages. */
export function noMessages(): DmarcCounters {
  return { messages: 0, pass: 0, dkim: 0, spf: 0, misaligned: 0, forwarded: 0, quarantine: 0, reject: 0 }
}

/** Adds `more` to `sum`. */
export function addCounters(sum: DmarcCounters, more: DmarcCounters): void {
  for (const name of DMARC_COUNTERS) sum[name] += more[name]
}

/**
 * The counters of a domain's mail in a report, by source, those with most messages first, and in total. Undefined when the
 * report is about another domain: neither its policy nor an author's domain belongs to this one.
 */
export function summariseDmarc(
  { policyDomain, rows }: Pick<DmarcReport, 'policyDomain' | 'rows'>,
  domain: string,
): { sources: SourceCounters[]; total: DmarcCounters } | undefined {
  const own = rows.filter(({ headerFrom }) => isWithin(headerFrom, domain))
  if (own.length === 0 && policyDomain !== domain) return undefined
  const sources = new Map<string, SourceCounters>()
  const total = noMessages()
  for (const row of own) {
    const source = { ip: row.ip, spfDomain: row.spfDomain ?? '', dkimDomain: row.dkimDomain ?? '' }
    const key = `${source.ip} ${source.spfDomain} ${source.dkimDomain}`
    const sum = sources.get(key) ?? { ...source, ...noMessages() }
    sources.set(key, sum)
    const more = countersOf(row)
    addCounters(sum, more)
    addCounters(total, more)
  }
  return { sources: [...sources.values()].toSorted((a, b) => b.messages - a.messages), total }
}

function countersOf(row: DmarcRow): DmarcCounters {
  const { messages, dkimAligned, spfAligned, disposition } = row
  const when = (condition: boolean) => (condition ? messages : 0)
  const pass = dkimAligned || spfAligned
  return {
    messages,
    pass: when(pass),
    dkim: when(dkimAligned),
    spf: when(spfAligned),
    misaligned: when(!pass && (row.spfPassed || row.dkimPassed)),
    forwarded: when(!pass && row.forwarded),
    quarantine: when(disposition === 'quarantine'),
    reject: when(disposition === 'reject'),
  }
}

/** What a source is. */
export type SourceVerdict =
  | 'ours'
  | 'ours_failing'
  | 'authorised'
  | 'forwarder'
  | 'forwarder_failing'
  | 'misconfigured'
  | 'forged'
  | 'other_sources'

/** The verdict on most of a source's messages; `addresses` are those that this installation sends from. */
export function verdictOf(source: SourceCounters, addresses: ReadonlySet<string>): SourceVerdict {
  const { ip, messages, pass, spf, misaligned, forwarded } = source
  const failed = messages - pass
  if (ip === '') return 'other_sources'
  if (addresses.has(ip)) return failed > pass ? 'ours_failing' : 'ours'
  if (pass >= failed) return spf > 0 ? 'authorised' : 'forwarder'
  if (forwarded * 2 >= failed) return 'forwarder_failing'
  return misaligned * 2 >= failed ? 'misconfigured' : 'forged'
}

/** What a verdict means and what to do. */
export function explainVerdict(verdict: SourceVerdict): Sentence {
  return EXPLANATIONS[verdict]
}

const EXPLANATIONS: Readonly<Record<SourceVerdict, Sentence>> = {
  ours: sentence('report.ours'),
  ours_failing: sentence('report.ours_failing'),
  authorised: sentence('report.authorised'),
  forwarder: sentence('report.forwarder'),
  forwarder_failing: sentence('report.forwarder_failing'),
  misconfigured: sentence('report.misconfigured'),
  forged: sentence('report.forged'),
  other_sources: sentence('report.other_sources'),
}

/** DMARC policy records (RFC 9989): read, found by tree walk, compared in strength, never weakened. */
import { type Sentence, sentence } from '../../../platform/sentences/sentence.ts'
import type { Lookup } from './lookup.ts'
import { parseTagList } from './tag-list.ts'

/** What a receiver is asked to do. */
export type DmarcPolicy = 'none' | 'quarantine' | 'reject'

const STRENGTH: Readonly<Record<DmarcPolicy, number>> = { none: 0, quarantine: 1, reject: 2 }

/** A record with its effective values; tags that are gone since RFC 9989 (`pct`, `rf`, `ri`) are only listed. */
export interface DmarcRecord {
  p: DmarcPolicy
  sp: DmarcPolicy
  np: DmarcPolicy
  testing: boolean
  adkim: 'r' | 's'
  aspf: 'r' | 's'
  psd: 'y' | 'n' | 'u'
  rua: string[]
  obsolete: string[]
}

/** True for a TXT value that receivers take as DMARC: the version is the first tag and exact (RFC 9989 4.8). */
export function isDmarc(txt: string): boolean {
  return /^v\s*=\s*DMARC1\s*(?:;|$)/.test(txt)
}

/** Parses a record; undefined when receivers ignore it. Without a valid `p` it asks for nothing (RFC 9989 4.10.1). */
export function parseDmarc(txt: string): DmarcRecord | undefined {
  const tagList = isDmarc(txt) ? parseTagList(txt) : undefined
  if (!tagList) return undefined
  const p = policy(tagList.get('p')) ?? 'none'
  const sp = policy(tagList.get('sp')) ?? p
  const psd = tagList.get('psd')?.toLowerCase()
  return {
    p,
    sp,
    np: policy(tagList.get('np')) ?? sp,
    testing: tagList.get('t')?.toLowerCase() === 'y',
    adkim: tagList.get('adkim')?.toLowerCase() === 's' ? 's' : 'r',
    aspf: tagList.get('aspf')?.toLowerCase() === 's' ? 's' : 'r',
    psd: psd === 'y' || psd === 'n' ? psd : 'u',
    rua: (tagList.get('rua') ?? '')
      .split(',')
      .map(uri => uri.trim())
      .filter(Boolean),
    obsolete: ['pct', 'rf', 'ri'].filter(tag => tagList.has(tag)),
  }
}

/** The record that we propose. Reports only go to addresses that the owner named. */
export function newDmarc(p: DmarcPolicy, rua: readonly string[]): string {
  const reports = rua.length > 0 ? `; rua=${rua.map(address => `mailto:${encoded(address)}`).join(',')}` : ''
  return `v=DMARC1; p=${p}${reports}`
}

/** A comma would begin the next address, a semicolon the next tag, an exclamation mark a size (RFC 6068 2). */
function encoded(address: string): string {
  return address.replaceAll(/[^\w.+@'-]/gu, char =>
    [...Buffer.from(char)].map(byte => `%${byte.toString(16).toUpperCase().padStart(2, '0')}`).join(''),
  )
}

/** In what the new record asks less of receivers than the old one; empty when it is at least as strong. */
export function weakenings(before: DmarcRecord, after: DmarcRecord): Sentence[] {
  const lower = (['p', 'sp', 'np'] as const).filter(tag => STRENGTH[after[tag]] < STRENGTH[before[tag]])
  const looser = (['adkim', 'aspf'] as const).filter(tag => before[tag] === 's' && after[tag] === 'r')
  return [
    ...lower.map(tag => sentence('dns_plan.loss_value', { tag, before: before[tag], after: after[tag] })),
    ...looser.map(tag => sentence('dns_plan.loss_alignment', { tag })),
    ...(after.testing && !before.testing ? [sentence('dns_plan.loss_testing')] : []),
  ]
}

/** The policy that applies to a domain, and the name of its record. */
export type DmarcDiscovery =
  | { kind: 'own'; at: string; txt: string; record: DmarcRecord }
  | { kind: 'inherited'; at: string; txt: string; record: DmarcRecord; effective: DmarcPolicy }
  | { kind: 'several'; at: string; values: string[] }
  | { kind: 'none' }
  | { kind: 'temporary'; reason: Sentence }

/**
 * The names of the tree walk (RFC 9989 4.10): the domain itself, then upwards; from more than eight labels the walk
 * jumps to seven, so that a name with a hundred labels costs no more lookups.
 */
export function treeWalk(domain: string): string[] {
  const labels = domain.split('.')
  const from = labels.length > 8 ? labels.length - 7 : 1
  return [domain, ...labels.slice(from).map((_, index) => labels.slice(from + index).join('.'))]
}

/** Finds the record that receivers apply to a domain. */
export async function discoverDmarc(domain: string, lookup: Lookup): Promise<DmarcDiscovery> {
  const above: Found[] = []
  for (const name of treeWalk(domain)) {
    const answer = await lookup(`_dmarc.${name}`, 'TXT')
    if (answer.kind === 'temporary')
      return {
        kind: 'temporary',
        reason: sentence('dns.source', { source: `_dmarc.${name}`, reason: answer.reason }),
      }
    const values = answer.kind === 'found' ? answer.values.filter(isDmarc) : []
    if (values.length > 1 && name === domain) return { kind: 'several', at: name, values }
    const found = only(name, values)
    if (!found) continue
    if (name === domain) return { kind: 'own', ...found }
    above.push(found)
    if (found.record.psd !== 'u') break
  }
  return inherited(above)
}

interface Found {
  at: string
  txt: string
  record: DmarcRecord
}

/** One valid record; several at a name count as none (RFC 9989 4.8). */
function only(at: string, [txt, ...more]: readonly string[]): Found | undefined {
  const record = txt === undefined || more.length > 0 ? undefined : parseDmarc(txt)
  return txt === undefined || !record ? undefined : { at, txt, record }
}

/** The organisational domain's record: marked `psd=n`, else the one with the fewest labels (RFC 9989 4.10.2). */
function inherited(found: readonly Found[]): DmarcDiscovery {
  const last = found.at(-1)
  if (!last) return { kind: 'none' }
  const below = found.at(-2)
  // A public suffix operator's policy speaks for organisations that have none of their own.
  const chosen =
    last.record.psd === 'y' && below && below.at.split('.').length === last.at.split('.').length + 1 ? below : last
  return { kind: 'inherited', ...chosen, effective: chosen.record.sp }
}

function policy(value: string | undefined): DmarcPolicy | undefined {
  const lower = value?.toLowerCase()
  return lower === 'none' || lower === 'quarantine' || lower === 'reject' ? lower : undefined
}

/** Compares an answer with the wanted record; one matcher for each purpose. */

import { type Sentence, sentence } from '../../../platform/sentences/sentence.ts'
import { evaluateDkim } from './dkim.ts'
import { type DmarcDiscovery, isDmarc, parseDmarc } from './dmarc.ts'
import type { GuidanceRow } from './guidance.ts'
import type { InboundHosts } from './inbound-hosts.ts'
import type { Answer } from './lookup.ts'
import { mergeSpf, namesServers } from './merge-spf.ts'
import { canonicalValue, parseMx } from './record.ts'
import { isSpf } from './spf.ts'
import type { SpfEvaluation } from './spf-evaluate.ts'
import { SpfSyntaxError } from './spf-term.ts'
import { parseTagList } from './tag-list.ts'

/** Facts beside the answers of DNS. */
export interface EvaluationContext {
  spfTerms: readonly string[]
  spf?: SpfEvaluation
  /** For the return path as MX and SPF: which hosts are ours, our SPF terms there, and what the record there does. */
  returnPath?: { inbound: InboundHosts; terms: readonly string[]; spf?: SpfEvaluation }
  dmarc?: DmarcDiscovery
  /** Addresses of the sending host, for forward-confirmed reverse DNS; undefined: unknown. */
  hostAddresses?: readonly string[]
  /** The domain was verified before: a missing record is then a failure, not a beginning. */
  established: boolean
}

/** How an answer compares with a row. */
export interface Match {
  kind: 'ok' | 'missing' | 'mismatch' | 'conflict' | 'temporary'
  errors: Sentence[]
  warnings: Sentence[]
  instructions?: Sentence[]
}

type Matcher = (row: GuidanceRow, values: readonly string[], context: EvaluationContext) => Match

/** Undefined for a temporary failure. */
export function matchRow(row: GuidanceRow, answer: Answer, context: EvaluationContext): Match | undefined {
  if (answer.kind === 'temporary') return undefined
  return MATCHERS[row.purpose](row, answer.kind === 'found' ? answer.values : [], context)
}

const MATCHERS: Readonly<Record<GuidanceRow['purpose'], Matcher>> = {
  ownership: matchOwnership,
  dkim: matchDkim,
  spf: matchSpf,
  dmarc: matchDmarc,
  return_path: matchAlias,
  tracking: matchAlias,
  return_path_mx: matchReturnPathMx,
  return_path_spf: matchReturnPathSpf,
  a: matchAddress,
  ptr: matchPtr,
  mta_sts: (_, values) =>
    values.some(value => /^v=STSv1\s*;/.test(value)) ? ok() : missing(sentence('dns.mta_sts_missing')),
  tls_rpt: (_, values) =>
    values.some(value => /^v=TLSRPTv1\s*;/.test(value)) ? ok() : missing(sentence('dns.tls_rpt_missing')),
}

function matchOwnership(row: GuidanceRow, values: readonly string[]): Match {
  if (provesOwnership(values, row.value)) return ok()
  return missing(
    values.length === 0
      ? sentence('dns.txt_missing', { name: row.name })
      : sentence('dns.ownership_other', { name: row.name }),
  )
}

/** True when one of the TXT values is the token of an account; blanks around it are the panel's. */
export function provesOwnership(values: readonly string[], token: string): boolean {
  return values.some(value => value.trim() === token)
}

function matchDkim(row: GuidanceRow, values: readonly string[]): Match {
  const tagList = parseTagList(row.value)
  const key = tagList?.get('p') ?? ''
  const algorithm = tagList?.get('k') === 'ed25519' ? 'ed25519-sha256' : 'rsa-sha256'
  const verdicts = values.map(value => evaluateDkim(value, algorithm, key))
  // The answer of a wildcard record is no key.
  if (key === '')
    return verdicts.every(({ kind }) => kind === 'revoked' || kind === 'invalid')
      ? ok()
      : mismatch(sentence('dns.revoked_key_published'))
  const same = verdicts.find(verdict => verdict.kind === 'same')
  const [first] = verdicts
  if (same)
    return ok(
      values.length > 1
        ? [...same.warnings, sentence('dns.dkim_several', { name: row.name, count: values.length })]
        : same.warnings,
    )
  if (!first) return missing(sentence('dns.txt_missing', { name: row.name }))
  if (first.kind === 'invalid') return mismatch(sentence('dns.dkim_unusable', { reason: first.reason }))
  return mismatch(sentence(first.kind === 'revoked' ? 'dns.dkim_revoked' : 'dns.dkim_other_key'))
}

function matchSpf(row: GuidanceRow, values: readonly string[], { spfTerms, spf }: EvaluationContext): Match {
  const records = values.filter(isSpf)
  const [txt] = records
  if (txt === undefined) return missing(sentence('dns.spf_missing', { name: row.name }))
  if (records.length > 1)
    return {
      kind: 'conflict',
      errors: [sentence('dns.spf_several', { name: row.name, count: records.length })],
      warnings: [],
      instructions: [sentence('dns.spf_keep_one')],
    }
  const merged = mergedOrError(txt, spfTerms)
  if ('error' in merged) return mismatch(sentence('dns.spf_invalid', { reason: merged.error }))
  if (spf && spf.errors.length > 0)
    return {
      kind: 'mismatch',
      errors: spf.errors,
      warnings: spf.warnings,
      instructions: [sentence('dns.spf_shorten')],
    }
  const warnings = [...merged.warnings, ...(spf?.warnings ?? [])]
  const passes =
    spf !== undefined &&
    Object.keys(spf.results).length > 0 &&
    Object.values(spf.results).every(result => result === 'pass')
  if (passes) return ok(warnings)
  if (merged.added.length === 0) return spf && !spf.temporary ? shadowed(spf, warnings) : ok(warnings)
  if (spf?.temporary) return { kind: 'temporary', errors: [sentence('dns.spf_incomplete')], warnings }
  return {
    kind: 'mismatch',
    errors: [sentence('dns.spf_without_us', { terms: merged.added.join(' ') })],
    warnings,
    instructions: [sentence('dns.spf_change_to', { value: merged.value })],
  }
}

/** The record names our servers; an address that still does not pass is refused by an earlier, wider term. */
function shadowed({ results }: SpfEvaluation, warnings: Sentence[]): Match {
  const refused = Object.entries(results).filter(([, result]) => result !== 'pass')
  if (refused.length === 0) return ok(warnings)
  return {
    kind: 'mismatch',
    errors: [
      sentence('dns.spf_shadowed', {
        results: refused.map(([ip, result]) => sentence('dns.spf_result', { result, ip })),
      }),
    ],
    warnings,
    instructions: [sentence('dns.spf_reorder')],
  }
}

function mergedOrError(txt: string, terms: readonly string[]): ReturnType<typeof mergeSpf> | { error: Sentence } {
  try {
    return mergeSpf(txt, terms)
  } catch (error) {
    if (!(error instanceof SpfSyntaxError)) throw error
    return { error: error.sentence }
  }
}

function matchDmarc(row: GuidanceRow, values: readonly string[], { dmarc }: EvaluationContext): Match {
  const records = values.filter(isDmarc)
  const [txt] = records
  if (txt === undefined) {
    if (dmarc?.kind === 'inherited')
      return ok([sentence('dns.dmarc_inherited', { at: dmarc.at, policy: dmarc.effective })])
    if (dmarc?.kind === 'temporary')
      return {
        kind: 'temporary',
        errors: [sentence('dns.dmarc_unknown', { reason: dmarc.reason })],
        warnings: [],
      }
    return missing(sentence('dns.dmarc_missing', { name: row.name }))
  }
  if (records.length > 1)
    return {
      kind: 'conflict',
      errors: [sentence('dns.dmarc_several', { name: row.name, count: records.length })],
      warnings: [],
      instructions: [sentence('dns.dmarc_keep_one')],
    }
  const record = parseDmarc(txt)
  if (!record) return mismatch(sentence('dns.dmarc_invalid'))
  return ok([
    ...record.obsolete.map(tag => sentence('dns.dmarc_obsolete_tag', { tag })),
    ...(record.testing ? [sentence('dns.dmarc_testing')] : []),
  ])
}

function matchAddress(row: GuidanceRow, values: readonly string[]): Match {
  const addresses = values.map(value => canonicalValue(row.type, value))
  if (addresses.includes(canonicalValue(row.type, row.value))) return ok()
  return addresses.length === 0
    ? missing(sentence('dns.address_missing', { name: row.name, type: row.type }))
    : mismatch(sentence('dns.address_other', { name: row.name, values: addresses }))
}

function matchAlias(row: GuidanceRow, values: readonly string[]): Match {
  const targets = values.map(value => canonicalValue(row.type, value))
  if (targets.includes(canonicalValue(row.type, row.value))) return ok()
  return targets.length === 0
    ? missing(sentence('dns.address_missing', { name: row.name, type: row.type }))
    : mismatch(sentence('dns.address_other', { name: row.name, values: targets }))
}

/** Every MX has to be ours: bounces that come to another host are lost. */
function matchReturnPathMx(row: GuidanceRow, values: readonly string[], { returnPath }: EvaluationContext): Match {
  const { name, type } = row
  if (values.length === 0) return missing(sentence('dns.address_missing', { name, type }))
  const { hosts, complete } = returnPath?.inbound ?? { hosts: [], complete: false }
  const foreign = values.map(value => parseMx(value).host).filter(host => !hosts.includes(host))
  if (foreign.length === 0) return ok()
  if (!complete) return { kind: 'temporary', errors: [sentence('dns.return_path_hosts_unknown')], warnings: [] }
  const shown = foreign.map(host => host || '.')
  if (foreign.length === values.length) return mismatch(sentence('dns.return_path_mx_other', { name, hosts: shown }))
  return {
    ...mismatch(sentence('dns.return_path_mx_beside', { name, hosts: shown })),
    instructions: [sentence('dns.return_path_remove_mx', { hosts: shown })],
  }
}

function matchReturnPathSpf(row: GuidanceRow, values: readonly string[], context: EvaluationContext): Match {
  const { returnPath, spfTerms, spf: _, ...rest } = context
  const spf = returnPath?.spf
  const records = values.filter(isSpf)
  // Without known addresses only the terms can be compared, and those of the domain's own record do as well.
  const hasOwnTerms = Object.keys(spf?.results ?? {}).length === 0 && namesServers(records[0] ?? '', spfTerms)
  const terms = hasOwnTerms ? spfTerms : (returnPath?.terms ?? [])
  return matchSpf(row, values, { ...rest, spfTerms: terms, ...(spf ? { spf } : {}) })
}

/** Forward-confirmed reverse DNS: address → name → the same address (RFC 1912 2.1). */
function matchPtr(row: GuidanceRow, values: readonly string[], { hostAddresses }: EvaluationContext): Match {
  if (values.length === 0) return missing(sentence('dns.ptr_missing'))
  if (!values.includes(row.value)) return mismatch(sentence('dns.ptr_other', { names: values, hostname: row.value }))
  const ip = row.id.slice('ptr:'.length)
  if (hostAddresses && !hostAddresses.includes(ip))
    return mismatch(sentence('dns.ptr_not_confirmed', { hostname: row.value, ip }))
  return ok(values.length > 1 ? [sentence('dns.ptr_several')] : [])
}

function ok(warnings: readonly Sentence[] = []): Match {
  return { kind: 'ok', errors: [], warnings: [...warnings] }
}

function missing(error: Sentence): Match {
  return { kind: 'missing', errors: [error], warnings: [] }
}

function mismatch(error: Sentence): Match {
  return { kind: 'mismatch', errors: [error], warnings: [] }
}

/** Changes of DMARC records that never ask less of receivers than before. */
import { type DmarcPolicy, parseDmarc } from './dmarc.ts'
import { parseTagList } from './tag-list.ts'

const STRENGTH: Readonly<Record<DmarcPolicy, number>> = { none: 0, quarantine: 1, reject: 2 }

/** The stricter of two policies. */
export function strictest(one: DmarcPolicy, other: DmarcPolicy | undefined): DmarcPolicy {
  return other !== undefined && STRENGTH[other] > STRENGTH[one] ? other : one
}

/**
 * The record of DNS with what `wanted` adds: a stricter policy, and addresses for reports. All other tags stay, in their
 * order and as they were written; nothing is weakened. `wanted` where receivers cannot read the present one.
 */
export function mergeDmarc(present: string, wanted: string): string {
  const [before, after] = [parseDmarc(present), parseDmarc(wanted)]
  const written = parseTagList(present)
  if (!before || !after || !written) return wanted
  const p = strictest(before.p, after.p)
  const missing = after.rua.filter(uri => !before.rua.some(known => known.toLowerCase() === uri.toLowerCase()))
  if (p === before.p && missing.length === 0) return present
  const tagList = new Map(written)
  if (p !== before.p || !tagList.has('p')) tagList.set('p', p)
  // `sp` and `np` follow `p` unless they are written; written ones are the choice of the owner.
  if (missing.length > 0) tagList.set('rua', [...before.rua, ...missing].join(','))
  const { v = 'DMARC1', p: policy = p, ...others } = Object.fromEntries(tagList)
  return [`v=${v}`, `p=${policy}`, ...Object.entries(others).map(([tag, value]) => `${tag}=${value}`)].join('; ')
}

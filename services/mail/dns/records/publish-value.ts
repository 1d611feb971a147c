/** The value that its owner publishes by hand for a row: with what DNS has at the name today. */
import { type DmarcPolicy, isDmarc, parseDmarc, weakenings } from './dmarc.ts'
import type { GuidanceRow } from './guidance.ts'
import { mergeDmarc } from './merge-dmarc.ts'
import { mergeSeveralSpf, mergeSpf } from './merge-spf.ts'
import { isSpf } from './spf.ts'
import { SpfSyntaxError } from './spf-term.ts'

/** A record that this installation wrote. `before`: the foreign value that it was merged into. */
interface Written {
  row: string
  value: string
  before?: string | undefined
}

/**
 * SPF: our terms in the record that DNS has, for a name may have one only. DMARC: the record that DNS has, stricter or
 * with further addresses where the settings ask for it; without one, no weaker than the policy that a domain above sets
 * (`inherited`). Other rows, and records that receivers cannot read: the value of the row.
 */
export function publishValue(
  row: Pick<GuidanceRow, 'id' | 'purpose' | 'value'>,
  observed: readonly string[],
  spfTerms: readonly string[],
  written: readonly Written[] = [],
  inherited?: DmarcPolicy,
): string {
  if (row.purpose === 'spf') return publishSpf(row, observed.filter(isSpf), spfTerms, written)
  const [dmarc, ...more] = row.purpose === 'dmarc' ? observed.filter(isDmarc) : []
  if (row.purpose === 'dmarc' && dmarc === undefined && inherited !== undefined)
    return mergeDmarc(row.value, `v=DMARC1; p=${inherited}`)
  if (dmarc === undefined || more.length > 0) return row.value
  const isReplaced = isOurs(row.id, dmarc, written) && !isWeaker(row.value, dmarc)
  return isReplaced ? row.value : mergeDmarc(dmarc, row.value)
}

/** True for a record that is all ours: it is replaced as a whole, since what it once had would stay in it. */
function isOurs(row: string, record: string, written: readonly Written[]): boolean {
  return written.some(own => own.row === row && own.before === undefined && own.value === record)
}

function isWeaker(wanted: string, present: string): boolean {
  const [before, after] = [parseDmarc(present), parseDmarc(wanted)]
  return before !== undefined && after !== undefined && weakenings(before, after).length > 0
}

function publishSpf(
  { id, value }: Pick<GuidanceRow, 'id' | 'value'>,
  records: readonly string[],
  spfTerms: readonly string[],
  written: readonly Written[],
): string {
  const foreign = records.filter(record => !isOurs(id, record, written))
  const [only, ...more] = foreign
  if (only === undefined) return value
  try {
    return more.length > 0 ? mergeSeveralSpf(foreign, spfTerms) : mergeSpf(only, spfTerms).value
  } catch (error) {
    if (!(error instanceof SpfSyntaxError)) throw error
    return value
  }
}

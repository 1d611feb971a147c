/** The value that its owner publishes by hand for a row: with what DNS has at the name today. */
import { isDmarc } from './dmarc.ts'
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
 * with further addresses where the settings ask for it. Other rows, and records that receivers cannot read: the value of the row.
 */
export function publishValue(
  row: Pick<GuidanceRow, 'id' | 'purpose' | 'value'>,
  observed: readonly string[],
  spfTerms: readonly string[],
  written: readonly Written[] = [],
): string {
  if (row.purpose === 'spf') return publishSpf(row, observed.filter(isSpf), spfTerms, written)
  const [dmarc, ...more] = row.purpose === 'dmarc' ? observed.filter(isDmarc) : []
  return dmarc === undefined || more.length > 0 ? row.value : mergeDmarc(dmarc, row.value)
}

function publishSpf(
  { id, value }: Pick<GuidanceRow, 'id' | 'value'>,
  records: readonly string[],
  spfTerms: readonly string[],
  written: readonly Written[],
): string {
  // A record that is all ours is replaced as a whole: terms of an earlier address would stay in it.
  const foreign = records.filter(
    record => !written.some(own => own.row === id && own.before === undefined && own.value === record),
  )
  const [only, ...more] = foreign
  if (only === undefined) return value
  try {
    return more.length > 0 ? mergeSeveralSpf(foreign, spfTerms) : mergeSpf(only, spfTerms).value
  } catch (error) {
    if (!(error instanceof SpfSyntaxError)) throw error
    return value
  }
}

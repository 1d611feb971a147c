/** Notices that a DMARC record which we wrote was changed: a check accepts any valid policy, also another one. */
import { isDmarc } from '../../dns/records/dmarc.ts'

interface Written {
  row: string
  value: string
}

/** True when public DNS shows another DMARC record than the one that we wrote. */
export function isPolicyChanged(
  owned: readonly Written[] | undefined,
  records: readonly { row: string; observed: readonly string[] }[] | undefined,
): boolean {
  const written = owned?.filter(({ row }) => row === 'dmarc') ?? []
  const seen = records?.find(({ row }) => row === 'dmarc')?.observed.filter(isDmarc) ?? []
  return written.length > 0 && seen.some(value => written.every(entry => entry.value !== value))
}

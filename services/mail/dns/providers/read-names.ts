/** Reads several names from a cloud provider: zone by zone, with as few lists as possible. */
import { isWithin, suffixesOf } from '../records/names.ts'
import type { StoredRecord } from '../records/record.ts'
import type { NameState, Question, Zone } from './provider.ts'

/** The two lists that every cloud provider has. */
export interface Lists<Z extends Zone> {
  findZone(name: string): Promise<Z | undefined>
  /** All records at or below a name; undefined when that takes more than `maxPages` calls. */
  below(zone: Z, name: string, maxPages: number): Promise<StoredRecord[] | undefined>
  /** All records at exactly this name. */
  at(zone: Z, name: string): Promise<StoredRecord[]>
}

/** Reads names with one list per zone, or one per name where the zone has more pages than that. */
export async function readNames<Z extends Zone>(
  { findZone, below, at }: Lists<Z>,
  questions: readonly Question[],
): Promise<NameState[]> {
  const zones = new Map<string, { zone: Z; names: string[] }>()
  const zoneOf = new Map<string, Z>()
  for (const { name } of questions) {
    const zone = await findZone(name)
    if (!zone) continue
    zoneOf.set(name, zone)
    const group = zones.get(zone.id) ?? { zone, names: [] }
    group.names.push(name)
    zones.set(zone.id, group)
  }
  const records: StoredRecord[] = []
  for (const { zone, names } of zones.values()) {
    const all = names.length > 1 ? await below(zone, commonParent(names, zone.name), names.length) : undefined
    if (all) records.push(...all)
    else for (const name of names) records.push(...(await at(zone, name)))
  }
  return questions.map(({ name }) => {
    const zone = zoneOf.get(name)
    return { name, ...(zone ? { zone } : {}), records: records.filter(record => zone && record.name === name) }
  })
}

/** The longest name that all names are within. */
function commonParent(names: readonly string[], zone: string): string {
  return suffixesOf(names[0] ?? zone).find(parent => names.every(name => isWithin(name, parent))) ?? zone
}

/** In which zone a name is, and its name there. */
import { parse } from 'tldts'
import { isWithin, longestZone, relativeName } from './names.ts'

/**
 * The zone that holds a name: the longest of the zones that DNS has shown, else the registrable domain by the Public
 * Suffix List, as registrars open zones for these. A registry's zone, which DNS shows for names that are not registered
 * yet, does not count.
 */
export function zoneHolding(name: string, known: readonly string[]): string {
  // Labels such as `_dmarc` are not those of host names, which tldts expects unless told otherwise.
  const { domain, isIcann, isPrivate } = parse(name, { allowPrivateDomains: true, validateHostname: false })
  const isRegistry = (zone: string) => (isIcann || isPrivate) && domain !== null && !isWithin(zone, domain)
  const zones = known.filter(zone => zone !== '' && !isRegistry(zone)).map(zone => ({ name: zone }))
  return longestZone(zones, name)?.name ?? domain ?? name
}

/** A name as the DNS panel of its zone asks for it: `_dmarc.mail`, or `@` for the zone itself. */
export function hostInZone(name: string, zone: string): string {
  return isWithin(name, zone) ? relativeName(name, zone) : name
}

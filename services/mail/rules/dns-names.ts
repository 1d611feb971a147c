/** Arithmetic on canonical DNS names (lower-case A-labels, no trailing dot). */

/** True when `name` is `zone` or lies below it. */
export function isWithin(name: string, zone: string): boolean {
  return name === zone || name.endsWith(`.${zone}`)
}

/** The host as people type it into a DNS panel: relative to the zone, `@` for the zone itself. */
export function relativeName(name: string, zone: string): string {
  if (name === zone) return '@'
  return isWithin(name, zone) ? name.slice(0, -zone.length - 1) : name
}

/** The name that {@link relativeName} shortened. */
export function absoluteName(host: string, zone: string): string {
  return host === '@' || host === '' ? zone : `${host}.${zone}`
}

/** The longest of `zones` that contains the name: never the parent where a hosted sub-zone exists. */
export function longestZone<Z extends { name: string }>(zones: readonly Z[], name: string): Z | undefined {
  return zones
    .filter(zone => isWithin(name, zone.name))
    .toSorted((a, b) => b.name.length - a.name.length)
    .at(0)
}

/** The name and everything above it down to the top-level domain, longest first. */
export function suffixesOf(name: string): string[] {
  const labels = name.split('.')
  return labels.map((_, index) => labels.slice(index).join('.'))
}

/** The canonical form of a name that a server or a provider gave. */
export function canonicalName(name: string): string {
  return name.replace(/\.$/, '').toLowerCase()
}

/** Arithmetic on canonical DNS names (lower-case A-labels, no trailing dot). */

/** True when `name` is `zone` or a name below it. */
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

/** False for names with a service label, as in `_dmarc.example.com`, and top-level domains: no account has such a zone. */
export function mayBeZone(name: string): boolean {
  return name.includes('.') && !name.split('.').some(label => label.startsWith('_'))
}

/** True for what can be a name in DNS: labels of 1 to 63 characters, 253 in all (RFC 1035 3.1); with or without the last dot. */
export function isDnsName(name: string): boolean {
  const plain = name.replace(/\.$/, '')
  return plain.length <= 253 && plain.split('.').every(label => label.length > 0 && label.length <= 63)
}

/** The canonical form of a name that a server or a provider gave; some show international names as people read them. */
export function canonicalName(name: string): string {
  const plain = name.replace(/\.$/, '').toLowerCase()
  // The URL parser is the platform's own IDNA; what a host cannot hold it would take for something else.
  const isInternational = /[^\0-\x7f]/.test(plain) && !/[\s/\\:?#@%[\]]/.test(plain)
  return (isInternational && URL.parse(`http://${plain}`)?.hostname) || plain
}

/** The encoding of DSN parameters (RFC 3461 4): a value can neither end a command nor begin a parameter. */

/** Encodes a value: everything but printable ASCII without `+` and `=` becomes `+XX`. */
export function toXtext(value: string): string {
  return value.replace(/[^!-*,-<>-~]+/g, run =>
    [...Buffer.from(run)].map(octet => `+${octet.toString(16).toUpperCase().padStart(2, '0')}`).join(''),
  )
}

/** What was encoded; octets that are no UTF-8 become U+FFFD. May hold line ends. */
export function fromXtext(encoded: string): string {
  const octets = encoded.replace(/\+([0-9A-F]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
  return Buffer.from(octets, 'latin1').toString()
}

/** Encodes an ORCPT value: the type in front of the semicolon stays (`rfc822;…`). */
export function toOrcpt(value: string): string {
  const end = value.indexOf(';') + 1
  return value.slice(0, end) + toXtext(value.slice(end))
}

/** Time-based one-time passwords (RFC 6238) as all authenticator apps support them: SHA-1, 6 digits, 30 seconds. */
import { createHmac, timingSafeEqual } from 'node:crypto'

const STEP_MS = 30_000
const DIGITS = 6
const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'

/** Bytes of a secret: the length of the hash (RFC 4226 section 4). */
export const TOTP_SECRET_BYTES = 20

/** The number of the time step of a moment. */
export function stepAt(ms: number): number {
  return Math.floor(ms / STEP_MS)
}

/** The code of a time step (RFC 4226 section 5.3). */
export function codeOf(secret: Buffer, step: number): string {
  const counter = Buffer.alloc(8)
  counter.writeBigUInt64BE(BigInt(step))
  const mac = createHmac('sha1', secret).update(counter).digest()
  const offset = (mac.at(-1) ?? 0) & 0x0f
  return String((mac.readUInt32BE(offset) & 0x7fff_ffff) % 10 ** DIGITS).padStart(DIGITS, '0')
}

/**
 * The time step that a code is for: the current one or a neighbour, for clocks that differ, and none up to `lastStep`,
 * so that a code counts once. Undefined for a wrong code; each candidate is compared in constant time.
 */
export function matchingStep(
  secret: Buffer,
  code: string,
  { ms, lastStep }: { ms: number; lastStep: number },
): number | undefined {
  const given = Buffer.from(code)
  const now = stepAt(ms)
  const steps = [now - 1, now, now + 1].filter(step => {
    const expected = Buffer.from(codeOf(secret, step))
    return given.length === expected.length && timingSafeEqual(given, expected)
  })
  return steps.find(step => step > lastStep)
}

/** Base 32 without padding (RFC 4648 section 6), as people type a secret. */
export function base32(bytes: Buffer): string {
  let bits = ''
  for (const byte of bytes) bits += byte.toString(2).padStart(8, '0')
  return (bits.match(/.{1,5}/g) ?? []).map(group => ALPHABET[Number.parseInt(group.padEnd(5, '0'), 2)]).join('')
}

/** The content of the QR code for an authenticator app. */
export function otpauthUri(issuer: string, username: string, secret: string): string {
  const label = `${encodeURIComponent(issuer)}:${encodeURIComponent(username)}`
  return `otpauth://totp/${label}?secret=${secret}&issuer=${encodeURIComponent(issuer)}`
}

/**
 * Enhanced status codes by IANA's registry "SMTP Enhanced Status Codes" (RFC 3463, 4954, 5248, 6531, 6710, 7293, 7372,
 * 7505, 8689): what subject and detail mean, whatever the class.
 */
import type { Meaning } from './failure-kinds.ts'

/** Codes with one meaning. */
const PRECISE: Readonly<Record<string, Meaning>> = {
  '1.1': { kind: 'address' },
  '1.2': { kind: 'address' },
  '1.3': { kind: 'address' },
  '1.6': { kind: 'address' },
  /** The sender's address: its syntax, and a domain without DNS. */
  '1.7': { kind: 'own_fault' },
  '1.8': { kind: 'own_fault' },
  /** Null MX of the recipient's domain. */
  '1.10': { kind: 'address' },
  '2.1': { kind: 'address' },
  '2.2': { kind: 'mailbox_full' },
  '2.3': { kind: 'size' },
  '3.3': { kind: 'unsupported' },
  '3.4': { kind: 'size' },
  '4.3': { kind: 'dns' },
  '4.4': { kind: 'dns' },
  '4.6': { kind: 'own_fault' },
  '5.1': { kind: 'own_fault' },
  '5.2': { kind: 'own_fault' },
  '5.4': { kind: 'own_fault' },
  '5.5': { kind: 'own_fault' },
  /** The next transaction may carry the other recipients at once. */
  '5.3': { kind: 'throttled' },
  '6.1': { kind: 'unsupported' },
  '6.2': { kind: 'unsupported' },
  '6.3': { kind: 'unsupported' },
  '6.4': { kind: 'unsupported' },
  '6.5': { kind: 'unsupported' },
  '6.7': { kind: 'unsupported' },
  '6.8': { kind: 'unsupported' },
  '6.9': { kind: 'unsupported' },
  '6.10': { kind: 'unsupported' },
  '7.2': { kind: 'policy' },
  '7.4': { kind: 'unsupported' },
  '7.10': { kind: 'tls' },
  '7.11': { kind: 'tls' },
  '7.13': { kind: 'own_fault' },
  '7.14': { kind: 'policy' },
  /** RFC 7293: the mailbox or its domain has another owner since. Not sent to clients that do not ask. */
  '7.17': { kind: 'policy' },
  '7.18': { kind: 'policy' },
  /** RFC 7372: DKIM (20 to 22), SPF (23, 24), reverse DNS (25), several of them (26). */
  '7.20': { kind: 'authentication' },
  '7.21': { kind: 'authentication' },
  '7.22': { kind: 'authentication' },
  '7.23': { kind: 'authentication' },
  '7.24': { kind: 'authentication' },
  '7.25': { kind: 'authentication' },
  '7.26': { kind: 'authentication' },
  /** RFC 7505: the domain of the sender has a null MX. */
  '7.27': { kind: 'authentication' },
  '7.28': { kind: 'throttled', slow: true },
  /** RFC 8617: ARC. */
  '7.29': { kind: 'authentication' },
  '7.30': { kind: 'tls' },
  /** Not registered: Google's DMARC record (31, 40) and alignment (32), Microsoft's 509 and 515, which others repeat. */
  '7.31': { kind: 'authentication' },
  '7.32': { kind: 'authentication' },
  '7.40': { kind: 'authentication' },
  '7.509': { kind: 'authentication' },
  '7.515': { kind: 'authentication' },
}

/** What a code means by itself; undefined for a general code, where the text has to decide. */
export function preciseMeaning(enhanced: string | undefined): Meaning | undefined {
  return enhanced === undefined ? undefined : PRECISE[enhanced.slice(2)]
}

/** What a general code means when its text says nothing either. */
export function generalMeaning(enhanced: string | undefined): Meaning | undefined {
  if (enhanced === undefined) return undefined
  if (/^5\.1\.0$/.test(enhanced)) return { kind: 'address' }
  // "Try again later" without a reason: sent by rspamd and others to a sender that they see for the first time.
  if (enhanced === '4.7.1') return { kind: 'greylisted' }
  if (/^4\.7\./.test(enhanced)) return { kind: 'throttled', slow: true }
  return /^5\.7\./.test(enhanced) ? { kind: 'policy' } : undefined
}

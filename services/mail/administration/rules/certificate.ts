/** Evaluates a TLS certificate by the rules of clients of the SMTP listeners. */
import { DAY_MS } from '../../../platform/durations.ts'

/** What was read off a certificate. */
export interface CertificateFacts {
  /** Names and addresses that it is for. */
  names: readonly string[]
  notBefore: Date
  notAfter: Date
  selfSigned: boolean
  /** As in "RSA 2048" or "EC P-256". */
  key: string
}

/** What is wrong, as a word that clients translate. */
export type CertificateError =
  | 'expired'
  | 'not_yet_valid'
  | 'expires_soon'
  | 'expires_in_weeks'
  | 'name_missing'
  | 'self_signed'
  | 'weak_key'

/** Renewal by ACME happens 30 days before the end; below these it has failed for some time. */
const SOON_DAYS = 7
const WEEKS_DAYS = 21

/** Everything that is wrong with it for clients that connect to `host`, worst first. */
export function findCertificateErrors(facts: CertificateFacts, host: string, now: Date): CertificateError[] {
  const errors: CertificateError[] = []
  const daysLeft = (facts.notAfter.getTime() - now.getTime()) / DAY_MS
  if (daysLeft <= 0) errors.push('expired')
  else if (facts.notBefore > now) errors.push('not_yet_valid')
  if (!facts.names.some(name => covers(name, host))) errors.push('name_missing')
  if (daysLeft > 0 && daysLeft < SOON_DAYS) errors.push('expires_soon')
  else if (daysLeft > 0 && daysLeft < WEEKS_DAYS) errors.push('expires_in_weeks')
  if (isWeak(facts.key)) errors.push('weak_key')
  if (facts.selfSigned) errors.push('self_signed')
  return errors
}

/** Failing: clients that verify turn away now. Warning: something to look at. */
export function certificateStatus(errors: readonly CertificateError[]): 'ok' | 'warning' | 'failing' {
  const grave: readonly CertificateError[] = ['expired', 'not_yet_valid', 'name_missing', 'expires_soon']
  if (errors.some(error => grave.includes(error))) return 'failing'
  return errors.length > 0 ? 'warning' : 'ok'
}

/** RFC 6125: a star matches exactly one label, the first. */
function covers(name: string, host: string): boolean {
  const wanted = host.toLowerCase()
  const given = name.toLowerCase()
  if (!given.startsWith('*.')) return given === wanted
  const dot = wanted.indexOf('.')
  return dot > 0 && wanted.slice(dot) === given.slice(1)
}

function isWeak(key: string): boolean {
  const bits = /^RSA (\d+)$/.exec(key)?.[1]
  return bits !== undefined && Number(bits) < 2048
}

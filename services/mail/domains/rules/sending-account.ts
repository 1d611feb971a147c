/** Which of several accounts that registered a domain may send from it. */

/** A domain as an account registered it. */
export interface DomainRegistration {
  id: string
  user_id: string
  name: string
  status: 'pending' | 'verified' | 'failed' | 'suspended'
  verified_by?: 'dns' | 'admin' | 'sandbox'
  /** Its mail goes into its inbox. */
  captures?: boolean
  created_at: Date
}

/** What the installation asks of a sender domain. */
export interface SendPolicy {
  /** SEND_REQUIRES_VERIFIED. */
  requireVerified: boolean
  /** True in DELIVERY_MODE=capture; only there the sandbox domain counts. */
  capture: boolean
}

/**
 * True when the account of `registration` may send. Verified: yes; and a domain that captures, because nothing of its mail
 * leaves. Otherwise, and only without SEND_REQUIRES_VERIFIED, the
 * oldest registration of the name may, unless another account has verified the name, a parent or a child of it and could be
 * impersonated. `others` are the registrations of other accounts for those names.
 */
export function maySend(
  registration: DomainRegistration,
  others: readonly DomainRegistration[],
  policy: SendPolicy,
): boolean {
  if (registration.status === 'suspended') return false
  if (registration.captures || isVerified(registration, policy)) return true
  if (policy.requireVerified) return false
  const rivals = others.filter(other => other.user_id !== registration.user_id && other.status !== 'suspended')
  if (rivals.some(rival => isVerified(rival, policy) && related(rival.name, registration.name))) return false
  return rivals.every(rival => rival.name !== registration.name || isOlder(registration, rival))
}

function isVerified(registration: DomainRegistration, policy: SendPolicy): boolean {
  return registration.status === 'verified' && (registration.verified_by !== 'sandbox' || policy.capture)
}

/** True when the names are equal or one is below the other. */
function related(one: string, two: string): boolean {
  return one === two || one.endsWith(`.${two}`) || two.endsWith(`.${one}`)
}

function isOlder(registration: DomainRegistration, rival: DomainRegistration): boolean {
  const difference = registration.created_at.getTime() - rival.created_at.getTime()
  return difference === 0 ? registration.id < rival.id : difference < 0
}

/** The names above a name, nearest first: `a.b.example.com` gives `b.example.com`, `example.com`, `com`. */
export function parentNames(name: string): string[] {
  const labels = name.split('.')
  return labels.slice(1).map((_, index) => labels.slice(index + 1).join('.'))
}

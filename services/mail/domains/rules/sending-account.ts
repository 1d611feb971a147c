/** Which of several accounts that claim a domain may send from it. */

/** A claim of an account on a name. */
export interface DomainClaim {
  id: string
  user_id: string
  name: string
  status: 'pending' | 'verified' | 'failed' | 'suspended'
  verified_by?: 'dns' | 'admin' | 'sandbox'
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
 * True when `claim` may send. Verified: yes. Otherwise, and only without SEND_REQUIRES_VERIFIED, the oldest claim of
 * the name may, unless another account has verified the name, a parent or a child of it: who has proven anything
 * about that part of the tree is not to be impersonated. `others` are the claims of other accounts on those names.
 */
export function maySend(claim: DomainClaim, others: readonly DomainClaim[], policy: SendPolicy): boolean {
  if (claim.status === 'suspended') return false
  if (isVerified(claim, policy)) return true
  if (policy.requireVerified) return false
  const rivals = others.filter(other => other.user_id !== claim.user_id && other.status !== 'suspended')
  if (rivals.some(rival => isVerified(rival, policy) && related(rival.name, claim.name))) return false
  return rivals.every(rival => rival.name !== claim.name || isOlder(claim, rival))
}

function isVerified(claim: DomainClaim, policy: SendPolicy): boolean {
  return claim.status === 'verified' && (claim.verified_by !== 'sandbox' || policy.capture)
}

/** True when the names are equal or one lies below the other. */
function related(one: string, two: string): boolean {
  return one === two || one.endsWith(`.${two}`) || two.endsWith(`.${one}`)
}

function isOlder(claim: DomainClaim, rival: DomainClaim): boolean {
  const difference = claim.created_at.getTime() - rival.created_at.getTime()
  return difference === 0 ? claim.id < rival.id : difference < 0
}

/** The names above a name, nearest first: `a.b.example.com` gives `b.example.com`, `example.com`, `com`. */
export function parentNames(name: string): string[] {
  const labels = name.split('.')
  return labels.slice(1).map((_, index) => labels.slice(index + 1).join('.'))
}

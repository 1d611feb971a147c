/** From a TLS report to counters of sessions by policy, result and host. */
import { isWithin } from './report-values.ts'
import type { TlsFailureType, TlsPolicyType, TlsReport } from './tls-report.ts'

/** Sessions with one result. `result` is empty for successful ones, and `mx` where the report does not name a host. */
export interface TlsSessions {
  policy: TlsPolicyType
  result: TlsFailureType | ''
  mx: string
  sessions: number
}

/** Different results of one report that are kept; further ones are added up as `other`. */
const MAX_RESULTS = 1_000

/**
 * The sessions with the hosts of a domain. Failures without details count as `other`. Undefined when the report is about
 * another domain.
 */
export function summariseTls({ policies }: Pick<TlsReport, 'policies'>, domain: string): TlsSessions[] | undefined {
  const own = policies.filter(policy => isWithin(policy.domain, domain))
  if (own.length === 0) return undefined
  const results = new Map<string, TlsSessions>()
  const add = (more: TlsSessions) => {
    if (more.sessions === 0) return
    const room = results.size < MAX_RESULTS
    const kept: TlsSessions = room || more.result === '' ? more : { ...more, result: 'other', mx: '' }
    const key = `${kept.policy} ${kept.result} ${kept.mx}`
    const sum = results.get(key)
    if (sum) sum.sessions += kept.sessions
    else results.set(key, { ...kept })
  }
  for (const { type: policy, successful, failed, failures } of own) {
    add({ policy, result: '', mx: '', sessions: successful })
    let explained = 0
    for (const { type, mx = '', sessions } of failures) {
      explained += sessions
      add({ policy, result: type, mx, sessions })
    }
    add({ policy, result: 'other', mx: '', sessions: Math.max(0, failed - explained) })
  }
  return [...results.values()]
}

/** Looks up the records of a return path. The other form than the chosen one is asked for only where it can decide. */
import type { DnsSession } from '../../dns/dns-session.ts'
import type { Views } from '../../dns/records/evaluate-record.ts'
import {
  evaluateReturnPath,
  type ReturnPathCheck,
  type ReturnPathForms,
} from '../../dns/records/evaluate-return-path.ts'
import { returnPathRows, returnPathTerm, type SendingHost } from '../../dns/records/guidance.ts'
import { inboundHosts } from '../../dns/records/inbound-hosts.ts'
import type { EvaluationContext } from '../../dns/records/match-record.ts'
import type { DomainDoc } from '../store/domain-model.ts'
import { evaluateSpfIn } from './views.ts'

const UNKNOWN: Views = { authoritative: [], recursive: [] }

/** Undefined: the domain has no return path of its own. Never rejects because of DNS. */
export async function checkReturnPath(
  domain: DomainDoc,
  host: SendingHost,
  session: DnsSession,
  context: EvaluationContext,
): Promise<ReturnPathCheck | undefined> {
  const forms = formsOf(domain, host)
  const { bounceDomain } = host
  if (!forms || bounceDomain === undefined) return undefined
  const chosen = domain.dns?.return_path_records ?? 'cname'
  const { name } = forms.alias
  const askAlias = () => session.views(name, 'CNAME')
  const askOthers = () => viewsOfOthers(name, bounceDomain, host.addresses, session)
  if (chosen === 'cname') {
    const alias = await askAlias()
    const first = evaluateReturnPath(chosen, forms, { alias, mx: UNKNOWN, txt: UNKNOWN }, context)
    if (first.whole) return first
    const { returnPath, ...others } = await askOthers()
    return evaluateReturnPath(chosen, forms, { alias, ...others }, { ...context, returnPath })
  }
  const { returnPath, ...others } = await askOthers()
  const more = { ...context, returnPath }
  const first = evaluateReturnPath(chosen, forms, { alias: UNKNOWN, ...others }, more)
  return first.whole ? first : evaluateReturnPath(chosen, forms, { alias: await askAlias(), ...others }, more)
}

function formsOf(domain: DomainDoc, host: SendingHost): ReturnPathForms | undefined {
  const [alias] = returnPathRows(domain, host, 'cname')
  const [mx, spf] = returnPathRows(domain, host, 'mx')
  return alias && mx && spf ? { alias, mx, spf } : undefined
}

async function viewsOfOthers(name: string, bounceDomain: string, addresses: readonly string[], session: DnsSession) {
  const [mx, txt, inbound] = await Promise.all([
    session.views(name, 'MX'),
    session.views(name, 'TXT'),
    inboundHosts(bounceDomain, session.lookup),
  ])
  const spf = await evaluateSpfIn(name, txt, addresses, session.lookup)
  const terms = [returnPathTerm(bounceDomain)]
  return { mx, txt, returnPath: { inbound, terms, ...(spf ? { spf } : {}) } }
}

/** Which records a sending domain needs: the one list for guidance, plan, zone file and checks. */
import { inEnglish, type Sentence, sentence } from '../../../platform/sentences/sentence.ts'
import { type Mac, reportAddress, reportToken, reportUrl } from '../../message/report-address.ts'
import { returnPathHost } from '../../message/return-path.ts'
import { trackingHost } from '../../message/tracking-host.ts'
import type { DkimAlgorithm } from './dkim.ts'
import { dkimName, dkimRecord } from './dkim.ts'
import { type DmarcPolicy, newDmarc } from './dmarc.ts'
import { newSpf } from './merge-spf.ts'
import { relativeName } from './names.ts'
import { quoteTxt } from './record.ts'
import { isPlainMechanism } from './spf-term.ts'

/** What the installation publishes about itself: MAIL_HOSTNAME, SENDING_IP, DEFAULT_SPF_MECHANISMS, BOUNCE_DOMAIN. */
export interface SendingHost {
  hostname: string
  addresses: readonly string[]
  spfMechanisms: readonly string[]
  /** Host that takes reports about deliveries; absent: none does. */
  bounceDomain?: string
  /** Host that serves tracked links; absent: no public name. */
  trackingTarget?: string | undefined
  reports?: ReportTargets
}

/** Where this installation takes reports about domains. */
export interface ReportTargets {
  /** Signs the tokens of domains. */
  mac: Mac
  /** Public https address; undefined: reports are not taken over HTTPS. */
  baseUrl?: string | undefined
  /** Mail domain; undefined: reports are not taken by mail. */
  mailDomain?: string | undefined
}

/** A key as guidance needs it. */
export interface GuidanceKey {
  selector: string
  algorithm: DkimAlgorithm
  public_key: string
  state: 'pending' | 'active' | 'retiring' | 'revoked'
}

/** A domain as guidance needs it. */
export interface GuidanceDomain {
  /** Needed for the addresses of its reports. */
  _id?: string
  name: string
  verification_token: string
  dkim: readonly GuidanceKey[]
  dns?: {
    address?: boolean
    dmarc?: { policy: DmarcPolicy; rua: readonly string[] }
    spf?: readonly string[]
    spf_all?: '~all' | '-all'
    ttl?: number
    by_hand?: readonly string[]
    return_path?: ReturnPathMode
    return_path_records?: ReturnPathRecords
  }
  tracking?: { opens: boolean; clicks: boolean }
}

/** What a record is for. */
export type Purpose =
  | 'ownership'
  | 'dkim'
  | 'spf'
  | 'dmarc'
  | ReturnPathPurpose
  | 'tracking'
  | 'a'
  | 'ptr'
  | 'mta_sts'
  | 'tls_rpt'

/**
 * Envelope sender of a domain's mail: `own`: an address at `bounce.<domain>` once its record is verified; `shared`: an
 * address at BOUNCE_DOMAIN; `off`: as submitted.
 */
export type ReturnPathMode = 'own' | 'shared' | 'off'

/** The form of the records at `bounce.<domain>`: an alias of BOUNCE_DOMAIN, or an MX and an SPF record (ADR 102). */
export type ReturnPathRecords = 'cname' | 'mx'

const RETURN_PATH_PURPOSES = ['return_path', 'return_path_mx', 'return_path_spf'] as const

/** Purposes of the return path's rows, which are the ids of these rows as well. */
export type ReturnPathPurpose = (typeof RETURN_PATH_PURPOSES)[number]

/** True for the purpose or the row id of a record of the return path, in either form. */
export function isReturnPathRow(row: string): row is ReturnPathPurpose {
  return RETURN_PATH_PURPOSES.some(purpose => purpose === row)
}

/** Id of the row of tracked links. */
export const TRACKING_ROW = 'tracking'

/** One record of the guidance. */
export interface GuidanceRow {
  /** Stable within the domain, as in `dkim:pw202611a`. */
  id: string
  purpose: Purpose
  need: 'required' | 'recommended' | 'optional'
  type: 'TXT' | 'A' | 'AAAA' | 'CNAME' | 'MX' | 'PTR'
  /** Fully qualified, canonical. */
  name: string
  /** Relative to the domain, as DNS panels ask for it. */
  host: string
  value: string
  ttl: number
  /** One click can write it where the account holds the zone. */
  writable: boolean
  /** What to do by hand, where the value alone does not say it. */
  note?: Sentence
}

/** The label that carries the ownership proof: not the apex, so that it delegates and bloats nothing. */
const CHALLENGE_LABEL = '_postwright-challenge'
/** Ten minutes: the least that the free plans of all providers take. */
const TTL = 600

/**
 * Our SPF mechanisms for a domain: addresses cost no lookup; the host name is used while none is configured. What
 * receivers cannot read is left out: it would break every record that we write, and owners cannot repair it.
 */
export function spfTerms(domain: Pick<GuidanceDomain, 'dns'>, host: SendingHost): string[] {
  const own = host.addresses.map(ip => `${ip.includes(':') ? 'ip6' : 'ip4'}:${ip}`)
  const terms = [...(own.length > 0 ? own : [`a:${host.hostname}`]), ...host.spfMechanisms, ...(domain.dns?.spf ?? [])]
  return [...new Set(terms)].filter(isPlainMechanism)
}

/** What keeps SPF records from naming our servers: terms with a wrong syntax, or no address and no public name. */
export function spfViolations({ hostname, addresses, spfMechanisms }: SendingHost): {
  unreadable: string[]
  unnamed: boolean
} {
  return {
    unreadable: spfMechanisms.filter(term => !isPlainMechanism(term)),
    unnamed: addresses.length === 0 && !isPlainMechanism(`a:${hostname}`),
  }
}

/** The entry of `by_hand` for a purpose: the owner keeps the return path as a whole. */
function keptAs(purpose: Purpose): string {
  return isReturnPathRow(purpose) ? 'return_path' : purpose
}

/** All rows, most important first. */
export function guidance(domain: GuidanceDomain, host: SendingHost): GuidanceRow[] {
  const { name, dns } = domain
  const terms = spfTerms(domain, host)
  const row = (entry: Row) => completeRow(domain, entry)
  return [
    row({
      id: 'ownership',
      purpose: 'ownership',
      need: 'required',
      type: 'TXT',
      name: `${CHALLENGE_LABEL}.${name}`,
      value: domain.verification_token,
    }),
    ...domain.dkim.map(key => row(dkimRow(name, key))),
    row({
      id: 'spf',
      purpose: 'spf',
      need: 'required',
      type: 'TXT',
      name,
      value: newSpf(terms, dns?.spf_all),
      // A record that names no server would turn every message away.
      writable: terms.length > 0,
    }),
    row({
      id: 'dmarc',
      purpose: 'dmarc',
      need: 'required',
      type: 'TXT',
      name: `_dmarc.${name}`,
      value: newDmarc(dns?.dmarc?.policy ?? 'none', dmarcRua(domain, host)),
    }),
    ...returnPathRows(domain, host, dns?.return_path_records),
    ...trackingRows(domain, host).map(row),
    ...host.addresses.map(ip => row(addressRow(host.hostname, ip, dns?.address !== false))),
    ...host.addresses.map(ip => row(ptrRow(host.hostname, ip))),
    row({
      id: 'tls_rpt',
      purpose: 'tls_rpt',
      need: 'optional',
      type: 'TXT',
      name: `_smtp._tls.${name}`,
      value: `v=TLSRPTv1; rua=${tlsRua(domain, host)}`,
      writable: false,
      note: sentence('dns.note_tls_rpt'),
    }),
    row({
      id: 'mta_sts',
      purpose: 'mta_sts',
      need: 'optional',
      type: 'TXT',
      name: `_mta-sts.${name}`,
      value: 'v=STSv1; id=1',
      writable: false,
      note: sentence('dns.note_mta_sts', { url: `https://mta-sts.${name}/.well-known/mta-sts.txt` }),
    }),
  ]
}

/** The owner's addresses for DMARC reports, and ours; reports over HTTPS are not part of RFC 9990. */
function dmarcRua({ _id, dns }: GuidanceDomain, { reports }: SendingHost): string[] {
  const own = dns?.dmarc?.rua ?? []
  if (_id === undefined || reports?.mailDomain === undefined) return [...own]
  return [...new Set([...own, reportAddress('dmarc', reportToken('dmarc', _id, reports.mac), reports.mailDomain)])]
}

/** Our URL or address for TLS reports; the postmaster of the domain while there is none. */
function tlsRua({ _id, name }: GuidanceDomain, { reports }: SendingHost): string {
  if (_id === undefined || !reports) return `mailto:postmaster@${name}`
  const token = reportToken('tls', _id, reports.mac)
  if (reports.baseUrl !== undefined) return reportUrl('tls', token, reports.baseUrl)
  if (reports.mailDomain !== undefined) return `mailto:${reportAddress('tls', token, reports.mailDomain)}`
  return `mailto:postmaster@${name}`
}

type Row = Omit<GuidanceRow, 'host' | 'ttl' | 'writable'> & { writable?: boolean }

function completeRow({ name, dns }: GuidanceDomain, entry: Row): GuidanceRow {
  return {
    ...entry,
    host: relativeName(entry.name, name),
    ttl: dns?.ttl ?? TTL,
    writable: (entry.writable ?? true) && !dns?.by_hand?.includes(keptAs(entry.purpose)),
  }
}

function dkimRow(domain: string, key: GuidanceKey): Row {
  const revoked = key.state === 'revoked'
  return {
    id: `dkim:${key.selector}`,
    purpose: 'dkim',
    need: revoked ? 'optional' : key.algorithm === 'rsa-sha256' ? 'required' : 'recommended',
    type: 'TXT',
    name: dkimName(key.selector, domain),
    value: dkimRecord(key.algorithm, revoked ? '' : key.public_key),
    ...(revoked ? { note: sentence('dns.note_revoked_key') } : {}),
    ...(key.state === 'retiring' ? { note: sentence('dns.note_retiring_key') } : {}),
  }
}

/**
 * The records that make a name of the domain the envelope sender of its mail, so that SPF passes for the domain itself: an
 * alias, or an MX and an SPF record. The installation's own name needs none.
 */
export function returnPathRows(
  domain: GuidanceDomain,
  { bounceDomain }: SendingHost,
  form: ReturnPathRecords = 'cname',
): GuidanceRow[] {
  const { name: domainName, dns } = domain
  const name = returnPathHost(domainName)
  if (bounceDomain === undefined || name === undefined || name === bounceDomain) return []
  if ((dns?.return_path ?? 'own') !== 'own') return []
  const row = (purpose: ReturnPathPurpose, type: GuidanceRow['type'], value: string) =>
    completeRow(domain, { id: purpose, purpose, need: 'recommended', type, name, value })
  if (form === 'cname') return [row('return_path', 'CNAME', bounceDomain)]
  // Both name BOUNCE_DOMAIN and not its servers: like the alias, they follow a change of these.
  const spf = newSpf([returnPathTerm(bounceDomain)], dns?.spf_all)
  return [row('return_path_mx', 'MX', `10 ${bounceDomain}`), row('return_path_spf', 'TXT', spf)]
}

/** The SPF mechanism that passes the servers of the installation, by the record that BOUNCE_DOMAIN has. */
export function returnPathTerm(bounceDomain: string): string {
  return `include:${bounceDomain}`
}

/** The alias that makes links of tracked mail lead to a name of the domain; only while the domain tracks. */
function trackingRows({ name, tracking }: GuidanceDomain, { trackingTarget }: SendingHost): Row[] {
  const host = trackingHost(name)
  if (!tracking?.opens && !tracking?.clicks) return []
  if (trackingTarget === undefined || host === undefined || host === trackingTarget) return []
  return [{ id: TRACKING_ROW, purpose: 'tracking', need: 'optional', type: 'CNAME', name: host, value: trackingTarget }]
}

function addressRow(hostname: string, ip: string, writable: boolean): Row {
  return {
    id: `address:${ip}`,
    purpose: 'a',
    need: 'recommended',
    type: ip.includes(':') ? 'AAAA' : 'A',
    name: hostname,
    value: ip,
    writable,
  }
}

function ptrRow(hostname: string, ip: string): Row {
  return {
    id: `ptr:${ip}`,
    purpose: 'ptr',
    need: 'recommended',
    type: 'PTR',
    name: reverseName(ip),
    value: hostname,
    writable: false,
    note: sentence('dns.note_ptr', { ip }),
  }
}

/** The name of an address in the reverse tree (RFC 1035 3.5, RFC 3596 2.5). */
export function reverseName(ip: string): string {
  if (!ip.includes(':')) return `${ip.split('.').toReversed().join('.')}.in-addr.arpa`
  const [head = '', tail] = ip.split('::')
  const groups = (text: string | undefined) => (text ? text.split(':') : [])
  const before = groups(head)
  const after = groups(tail)
  const zeros = tail === undefined ? 0 : 8 - before.length - after.length
  const hex = [...before, ...Array<string>(zeros).fill('0'), ...after].map(group => group.padStart(4, '0')).join('')
  return `${[...hex].toReversed().join('.')}.ip6.arpa`
}

/** Set elsewhere, or only by whoever wants it; what the owner sets by hand is not ours to write, but belongs in the zone. */
function isForOthers({ purpose, writable }: GuidanceRow): boolean {
  return purpose === 'ptr' || purpose === 'mta_sts' || purpose === 'tls_rpt' || (purpose === 'a' && !writable)
}

/** The records as a zone file (RFC 1035 5); what is not yours to set is a comment. */
export function zoneFile(domain: string, rows: readonly GuidanceRow[]): string {
  const lines = rows.map(row => {
    const value =
      row.type === 'TXT' ? quoteTxt(row.value) : row.type === 'A' || row.type === 'AAAA' ? row.value : `${row.value}.`
    const line = `${row.name}. ${row.ttl} IN ${row.type} ${value}`
    return isForOthers(row) ? `; ${inEnglish(row.note ?? 'optional')}\n; ${line}` : line
  })
  return `; Records of ${domain} for sending mail. An SPF or DMARC record that exists already is changed, not doubled.\n${lines.join('\n')}\n`
}

/** Finds and downloads the MTA-STS policy of a domain (RFC 8461 sections 3.3 and 5.1). */

import { X509Certificate } from 'node:crypto'
import { isIP } from 'node:net'
import { checkServerIdentity, type PeerCertificate } from 'node:tls'
import { domainToASCII } from 'node:url'
import { HOUR_MS } from '../../../platform/durations.ts'
import { getFromAddresses } from '../../../platform/network/get-from-addresses.ts'
import { isPublicAddress } from '../../../platform/network/public-address.ts'
import {
  currentPolicy,
  type DownloadedPolicy,
  type FetchedPolicy,
  isDownloaded,
  isValidAt,
  parsePolicyFile,
  policyIdOf,
  refreshAt,
  type StsFailure,
} from '../rules/mta-sts.ts'
import { failureOfCode } from '../rules/tls-results.ts'

/**
 * Finds a domain's policy. `known` is the previous one: it is used until it expires when its id is still in DNS, or when
 * DNS or the download fails. Never rejects; without a usable policy the mode is `none`.
 */
export type FetchPolicy = (domain: string, known: FetchedPolicy | undefined) => Promise<FetchedPolicy>

/** Looks up DNS records like `resolve` of node:dns. */
export type ResolveRecords = (name: string, type: string) => Promise<unknown>

/** Dependencies of a {@link FetchPolicy}. */
export interface StsOptions {
  /** True: policy hosts may have private addresses. The recipient's DNS chooses the host, so false is the rule. */
  allowPrivate: boolean
  now: () => number
  /** Certificate authorities and port instead of the usual ones, in tests. */
  ca?: string
  port?: number
}

/** A policy host must not hold up mail. */
const FETCH_MS = 10_000
/** After a failed download the same id is not tried again for this time. */
const RETRY_MS = HOUR_MS
/** Longest policy file, as RFC 8461 section 3.3 suggests. */
const MAX_POLICY_BYTES = 64 * 1024
const NO_POLICY: FetchedPolicy = { id: false, mode: 'none' }

/** Policies that all workers share. */
export interface StoredPolicies {
  read(domain: string): Promise<DownloadedPolicy | undefined>
  /** Keeps a policy unless a later download is stored. */
  write(domain: string, policy: DownloadedPolicy): Promise<void>
}

/**
 * Adds the policies of other workers: what one of them downloaded applies to all until it expires, also where this one
 * does not reach the policy host. While the database is away the process uses what it knows.
 */
export function withStoredPolicies(
  fetch: FetchPolicy,
  stored: StoredPolicies,
  { now, onError }: { now: () => number; onError: (error: unknown) => void },
): FetchPolicy {
  const ignore = (error: unknown) => void onError(error)
  return async (domain, known) => {
    const before = currentPolicy(known, (await stored.read(domain).catch(ignore)) ?? undefined, now())
    const after = await fetch(domain, before)
    if (isDownloaded(after) && after !== before) await stored.write(domain, after).catch(ignore)
    return after
  }
}

/** Makes a {@link FetchPolicy} that asks DNS through `resolve` and downloads over HTTPS. */
export function fetchStsPolicy(resolve: ResolveRecords, options: StsOptions): FetchPolicy {
  return async (domain, known) => {
    const current = known && isValidAt(known, options.now()) ? known : undefined
    const name = domainToASCII(domain) || domain
    const id = await findId(resolve, name)
    const upToDate = id === current?.id && !(isDownloaded(current) && refreshAt(current) <= options.now())
    const found = id === undefined || upToDate ? undefined : await fetchNew(resolve, name, id, options)
    // A known policy of mode none requires nothing, so the wait after a failed download may take its place.
    const replaced = found?.expires !== undefined && (found.mx !== undefined || !current || current.mode === 'none')
    return replaced ? found : (current ?? found ?? NO_POLICY)
  }
}

/** The policy with this id; without `mx` when the download failed, and not to be kept when the host has no usable address. */
async function fetchNew(
  resolve: ResolveRecords,
  name: string,
  id: string,
  options: StsOptions,
): Promise<FetchedPolicy> {
  const host = `mta-sts.${name}`
  const addresses = await addressesOf(resolve, host, options)
  if (addresses.length === 0) return { ...NO_POLICY, failure: 'sts-policy-fetch-error' }
  const file = await download(host, addresses, options).then(
    text => parsePolicyFile(text) ?? 'sts-policy-invalid',
    failureOf,
  )
  const at = options.now()
  return typeof file === 'string'
    ? { id, mode: 'none', expires: at + RETRY_MS, failure: file }
    : { id, mode: file.mode, mx: file.mx, fetched: at, expires: at + file.maxAge * 1000 }
}

/** A certificate that is not valid for the policy host, or anything else that kept the file from being read. */
function failureOf(error: unknown): StsFailure {
  const code = error instanceof Error && 'code' in error ? String(error.code) : undefined
  return failureOfCode(code).type === 'validation-failure' ? 'sts-policy-fetch-error' : 'sts-webpki-invalid'
}

async function lookup(resolve: ResolveRecords, name: string, type: string): Promise<unknown[]> {
  const found = await resolve(name, type).catch(() => undefined)
  return Array.isArray(found) ? found : []
}

async function findId(resolve: ResolveRecords, name: string): Promise<string | undefined> {
  const records = await lookup(resolve, `_mta-sts.${name}`, 'TXT')
  return policyIdOf(records.map(row => (Array.isArray(row) ? row.join('') : String(row))))
}

async function addressesOf(resolve: ResolveRecords, host: string, { allowPrivate }: StsOptions): Promise<string[]> {
  const found = await Promise.all([lookup(resolve, host, 'A'), lookup(resolve, host, 'AAAA')])
  return found
    .flat()
    .map(String)
    .filter(address => isIP(address) !== 0 && (allowPrivate || isPublicAddress(address)))
}

/** The policy file. Rejects unless the host, reached at one of these addresses, answers 200 with text/plain. */
async function download(host: string, addresses: readonly string[], { ca, port = 443 }: StsOptions): Promise<string> {
  const { status, type, text } = await getFromAddresses({
    url: `https://${host}:${port}/.well-known/mta-sts.txt`,
    ...{ addresses, timeoutMs: FETCH_MS, maxBytes: MAX_POLICY_BYTES },
    tls: { checkServerIdentity: checkPolicyHost, ...(ca !== undefined && { ca }) },
  })
  if (status !== 200 || type !== 'text/plain') throw new Error(`${host} answered ${status} with ${type}`)
  return text
}

/** Section 3.3 allows DNS names of the subjectAltName only, and wildcards only as the complete leftmost label. */
function checkPolicyHost(host: string, certificate: PeerCertificate): Error | undefined {
  const options = { subject: 'never', partialWildcards: false } as const
  const fits = new X509Certificate(certificate.raw).checkHost(host, options) !== undefined
  const wrongName = () =>
    Object.assign(new Error(`the certificate is not for ${host}`), { code: 'ERR_TLS_CERT_ALTNAME_INVALID' })
  return checkServerIdentity(host, certificate) ?? (fits ? undefined : wrongName())
}

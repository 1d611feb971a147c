/** Sending domains between the formats. */
import { sentence } from '../../../platform/sentences/sentence.ts'
import { notServed } from './foreign-error.ts'
import { defined, type Fields, given, isFields } from './loose-input.ts'

/** A record as the own API shows it. */
export interface OwnRecord {
  purpose: string
  need: string
  type: string
  host: string
  value: string
  ttl: number
  status: string
}

/** A domain as the own API shows it. */
export interface OwnDomain {
  id: string
  name: string
  status: string
  records: readonly OwnRecord[]
  check: object | null
  tracking: { opens: boolean; clicks: boolean }
  created_at: string
}

/** SDKs know the regions of the original only; an installation has none. */
const REGION = 'us-east-1'

/** Settings of the original that this service has for every domain, or not at all, with the values that change nothing. */
const SETTINGS: Readonly<Record<string, readonly unknown[]>> = {
  tls: ['opportunistic'],
  tracking_subdomain: [''],
  // The label below the domain is always this one.
  custom_return_path: ['bounce', ''],
}

/** Throws `not_implemented` for a setting that would be ignored. */
export function refuseSettings(body: unknown): void {
  const settings = given(body, [...Object.keys(SETTINGS), 'capabilities']) as Fields
  for (const [field, value] of Object.entries(settings)) {
    if (field === 'capabilities') refuseCapabilities(value)
    else if (!SETTINGS[field]?.includes(value)) refuse(field, value)
  }
}

function refuseCapabilities(capabilities: unknown): void {
  if (!isFields(capabilities)) return
  const { sending = 'enabled', receiving = 'disabled' } = given(capabilities, ['sending', 'receiving'])
  if (sending !== 'enabled') refuse('capabilities.sending', sending)
  if (receiving !== 'disabled') refuse('capabilities.receiving', receiving)
}

function refuse(field: string, value: unknown): never {
  throw notServed(sentence('compat.value_not_served', { field, value: JSON.stringify(value).slice(0, 64) }))
}

/** What of the mail of a domain is to be tracked; undefined where nothing is said about it. */
export function trackingOf(body: unknown): object | undefined {
  const { open_tracking: opens, click_tracking: clicks } = given(body, ['open_tracking', 'click_tracking'])
  return opens === undefined && clicks === undefined ? undefined : defined({ opens, clicks })
}

/** A domain in a list. */
export function toListedDomain({ id, name, status, check, tracking, created_at }: OwnDomain) {
  return {
    ...{ id, name, status: statusOf(status, check !== null), created_at, region: REGION },
    capabilities: { sending: 'enabled' as const, receiving: 'disabled' as const },
    ...{ open_tracking: tracking.opens, click_tracking: tracking.clicks },
  }
}

/** A domain with the records that its owner publishes. */
export function toShownDomain(domain: OwnDomain) {
  return {
    object: 'domain' as const,
    ...toListedDomain(domain),
    records: domain.records.filter(isForOwner).map(record => toRecord(record)),
  }
}

function statusOf(status: string, isChecked: boolean): string {
  if (status === 'suspended') return 'failed'
  return status === 'pending' && !isChecked ? 'not_started' : status
}

/** Records of the sending host are not the owner's; optional ones are left to the panel. SDKs know three types. */
function isForOwner({ need, type }: OwnRecord): boolean {
  return need !== 'optional' && ['TXT', 'CNAME', 'MX'].includes(type)
}

/** SDKs refuse to read other kinds than DKIM and SPF, so that everything else goes as SPF. */
function toRecord({ purpose, type, host, value, ttl, status }: OwnRecord) {
  return {
    record: purpose === 'dkim' ? ('DKIM' as const) : ('SPF' as const),
    ...{ name: host, type, ttl: String(ttl), ...withPriority(type, value) },
    status: status === 'conflict' ? 'failed' : status,
  }
}

/** The priority of an MX record is a field of its own there. */
function withPriority(type: string, value: string): { value: string; priority?: number } {
  const [priority = '', host] = type === 'MX' ? value.split(' ') : []
  return host === undefined ? { value } : { value: host, priority: Number(priority) }
}

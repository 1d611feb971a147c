/** Asks a host of a sender whether it leads to this installation: a record in DNS alone does not show that links work. */
import { isIP } from 'node:net'
import { getFromAddresses } from '../../../platform/network/get-from-addresses.ts'
import { USER_AGENT } from '../../../platform/network/guarded-fetch.ts'
import { isPublicAddress } from '../../../platform/network/public-address.ts'
import { type Sentence, sentence } from '../../../platform/sentences/sentence.ts'
import type { DnsDeps } from '../../dns/dns-context.ts'
import type { RecordCheck } from '../../dns/records/evaluate-record.ts'
import { TRACKING_ROW } from '../../dns/records/guidance.ts'
import type { Lookup } from '../../dns/records/lookup.ts'
import { PROBE_PATH, probeAnswers, trackingBase, trackingHost } from '../../message/tracking-host.ts'

/** A proxy that answers at all answers within this time, in milliseconds. */
const PROBE_MS = 5_000
const MAX_ANSWER_BYTES = 1_024

/** The records with that of tracking failed, when it is there and its host does not lead here. Never rejects. */
export async function withProbedTracking(
  deps: Pick<DnsDeps, 'config' | 'secrets'>,
  domain: string,
  records: readonly RecordCheck[],
  lookup: Lookup,
): Promise<RecordCheck[]> {
  const host = trackingHost(domain)
  const found = records.find(({ row, status }) => row === TRACKING_ROW && status === 'verified')
  if (!found || host === undefined) return [...records]
  const url = trackingBase(host, deps.config)
  const reason = await probe(deps, host, url, lookup)
  if (!reason) return [...records]
  const failed: RecordCheck = {
    ...found,
    status: 'failed',
    errors: [sentence('tracking.unreachable', { url, reason })],
    instructions: [sentence('tracking.serve_host', { host })],
  }
  return records.map(record => (record === found ? failed : record))
}

/** Why the host does not lead here; undefined when it does. */
async function probe(
  { config, secrets }: Pick<DnsDeps, 'config' | 'secrets'>,
  host: string,
  url: string,
  lookup: Lookup,
): Promise<Sentence | undefined> {
  const addresses = await addressesOf(host, lookup, config.DNS_ALLOW_PRIVATE)
  if (addresses.length === 0) return sentence('tracking.no_address')
  try {
    const { status, text } = await getFromAddresses({
      url: `${url}${PROBE_PATH}`,
      ...{ addresses, timeoutMs: PROBE_MS, maxBytes: MAX_ANSWER_BYTES, headers: { 'user-agent': USER_AGENT } },
    })
    const isOurs = probeAnswers(value => secrets.macs('tracking', value), host).includes(text.trim())
    return isOurs ? undefined : sentence('tracking.other_answer', { status })
  } catch (error) {
    return sentence('tracking.connection', { error: messageOf(error) })
  }
}

async function addressesOf(host: string, lookup: Lookup, allowPrivate: boolean): Promise<string[]> {
  const answers = await Promise.all([lookup(host, 'A'), lookup(host, 'AAAA')])
  return answers
    .flatMap(answer => (answer.kind === 'found' ? answer.values : []))
    .filter(address => isIP(address) !== 0 && (allowPrivate || isPublicAddress(address)))
}

/** Longest text of an error that is shown. */
const MAX_ERROR = 150

function messageOf(error: unknown): string {
  return (error instanceof Error ? error.message || error.name : String(error)).slice(0, MAX_ERROR)
}

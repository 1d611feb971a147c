/** Writes record sets through a webhook provider, and compares what it stores then with what was asked for. */
import { sentence } from '../../../../platform/sentences/sentence.ts'
import { DnsProviderError } from '../provider.ts'
import { keyOf, type RecordSet, recordId, type SetChange, sameValues } from '../record-sets/record-set.ts'
import { ENDPOINT_VALUES, type EndpointSource, toSets } from './endpoint-sets.ts'
import type { Changes, Endpoint, WebhookClient } from './protocol.ts'

/** The set as it is and as it should be; at least one of them has values. */
interface Step {
  name: string
  type: string
  before: RecordSet | undefined
  after: RecordSet | undefined
}

/** Statuses of a provider that refuses changes, which is the answer to every error at the server of external-dns. */
const REFUSALS: readonly string[] = ['400', '422', '500']

/** Applies the changes, which are all within the zone. Throws {@link DnsProviderError}. */
export async function writeEndpoints(
  client: WebhookClient,
  zone: string,
  changes: readonly SetChange[],
): Promise<void> {
  const steps = changes.flatMap(({ before, after }): Step[] => {
    const of = before ?? after
    return of ? [{ name: of.name, type: of.type, before, after }] : []
  })
  for (const step of steps) refuseAmbiguous(step)
  const wanted = await adjusted(client, zone, steps)
  try {
    await client.apply(toChanges(steps, wanted, 'ours'))
  } catch (error) {
    if (!(error instanceof DnsProviderError)) throw error
    if (!REFUSALS.includes(error.code ?? '') || !(await hadNoEffect(client, zone, steps))) throw error
    // Some providers find the old values by their text only, in the form in which they returned them.
    if (!steps.some(differsFromSource)) throw withoutEffect(error)
    await client.apply(toChanges(steps, wanted, 'theirs'))
  }
  await verify(client, zone, steps)
}

/** A value of several targets may be several values: beside it, nothing can be written without a change of it. */
function refuseAmbiguous({ name, type, before, after }: Step): void {
  const { joined = [] } = sourceOf(before) ?? {}
  const kept = new Set(after?.values)
  if (joined.some(value => kept.has(value)))
    throw new DnsProviderError('webhook', 'locked', sentence('dns_provider.webhook_ambiguous', { name, type }))
}

/** What the provider makes of the sets that are to be there: TTL and settings of its own, never other names or values. */
async function adjusted(client: WebhookClient, zone: string, steps: readonly Step[]): Promise<Map<string, Endpoint>> {
  const wanted = steps.flatMap(({ before, after }) => (after ? [toEndpoint(after, sourceOf(before))] : []))
  const answer = wanted.length > 0 ? await client.adjust(wanted) : []
  const sets = new Map(toSets(answer, zone).map(set => [keyOf(set), set]))
  return new Map(
    steps.flatMap(({ name, type, after }) => {
      if (!after) return []
      const set = sets.get(keyOf(after))
      if (!set)
        throw new DnsProviderError('webhook', 'invalid', sentence('dns_provider.webhook_unsupported', { name, type }))
      if (!sameValues([set], [after], ENDPOINT_VALUES)) throw mangled(name, type)
      return [[keyOf(after), set.source.endpoint] as const]
    }),
  )
}

/** `ours`: old values in quotes, which every provider reads alike; `theirs`: as the provider returned them. */
function toChanges(steps: readonly Step[], wanted: ReadonlyMap<string, Endpoint>, form: 'ours' | 'theirs'): Changes {
  const changes: Changes = { create: [], updateOld: [], updateNew: [], delete: [] }
  for (const { before, after } of steps) {
    const source = sourceOf(before)
    const old = before && (form === 'theirs' && source ? source.endpoint : toEndpoint(before, source))
    const fresh = after && (wanted.get(keyOf(after)) ?? toEndpoint(after, source))
    if (old && fresh) {
      changes.updateOld.push(old)
      changes.updateNew.push(fresh)
    } else if (fresh) changes.create.push(fresh)
    else if (old) changes.delete.push(old)
  }
  return changes
}

/**
 * Compares the provider's list with what was asked for. A list that lags is not an error: callers read again. Old values
 * that stayed beside the new ones are deleted in the form in which the provider returned them.
 */
async function verify(client: WebhookClient, zone: string, steps: readonly Step[]): Promise<void> {
  const left = steps.filter(differsFromSource).flatMap(step => leftovers(step))
  const sets = await currentSets(client, zone)
  const stale: Endpoint[] = []
  for (const { name, type, before, after } of steps) {
    const stored = new Set(idsOf(sets.get(`${name} ${type}`)))
    const known = new Set([...idsOf(before), ...idsOf(after)])
    if ([...stored].some(id => !known.has(id))) throw mangled(name, type)
    const isWritten = idsOf(after).every(id => stored.has(id))
    const source = sourceOf(before)
    const targets = left.filter(({ key, id }) => key === `${name} ${type}` && stored.has(id))
    if (isWritten && source && targets.length > 0)
      stale.push({ ...source.endpoint, targets: targets.map(({ raw }) => raw) })
  }
  if (stale.length > 0) await client.apply({ create: [], updateOld: [], updateNew: [], delete: stale })
}

/** The values that a step removes, in both forms. */
function leftovers({ name, type, before, after }: Step): { key: string; id: string; raw: string }[] {
  const { endpoint, joined = [] } = sourceOf(before) ?? {}
  if (!endpoint || joined.length > 0) return []
  const kept = new Set(idsOf(after))
  return idsOf(before).flatMap((id, index) =>
    kept.has(id) ? [] : [{ key: `${name} ${type}`, id, raw: endpoint.targets?.[index] ?? '' }],
  )
}

async function hadNoEffect(client: WebhookClient, zone: string, steps: readonly Step[]): Promise<boolean> {
  const sets = await currentSets(client, zone)
  return steps.every(({ name, type, before }) => {
    const stored = sets.get(`${name} ${type}`)
    return sameValues(stored ? [stored] : [], before ? [before] : [], ENDPOINT_VALUES)
  })
}

async function currentSets(client: WebhookClient, zone: string): Promise<Map<string, RecordSet>> {
  return new Map(toSets(await client.records(), zone).map(set => [keyOf(set), set]))
}

function toEndpoint({ name, type, ttl, values }: RecordSet, source: EndpointSource | undefined): Endpoint {
  const { endpoint = {} } = source ?? {}
  return {
    ...{ labels: {} },
    ...endpoint,
    dnsName: source?.endpoint.dnsName ?? name,
    recordType: type,
    targets: [...values],
    ...(ttl > 0 ? { recordTTL: ttl } : {}),
  }
}

function sourceOf(set: RecordSet | undefined): EndpointSource | undefined {
  return set?.source as EndpointSource | undefined
}

function differsFromSource({ before }: Step): boolean {
  const source = sourceOf(before)
  return source !== undefined && JSON.stringify(source.endpoint.targets) !== JSON.stringify(before?.values)
}

function idsOf(set: RecordSet | undefined): string[] {
  return set ? set.values.map(raw => recordId(set.type, ENDPOINT_VALUES.decode(set.type, raw))) : []
}

function mangled(name: string, type: string): DnsProviderError {
  return new DnsProviderError('webhook', 'invalid', sentence('dns_provider.webhook_mangled', { name, type }))
}

/** The refusal of a write that is known to have had no effect. */
function withoutEffect({ sentence: reason, code }: DnsProviderError): DnsProviderError {
  return new DnsProviderError('webhook', 'invalid', reason, code === undefined ? {} : { code })
}

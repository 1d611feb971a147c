/** A provider that neither reads nor writes outside of some domains, whatever zones its credentials can see. */
import { sentence } from '../../../platform/sentences/sentence.ts'
import { isWithin } from '../records/names.ts'
import { type Batch, type Change, type DnsProvider, DnsProviderError, type NameState } from './provider.ts'

/**
 * Restricts a provider to these domains and the names below them. Of other names it reports that no zone of the account
 * contains them, and writes there are refused with `permission`.
 */
export function scopedProvider(provider: DnsProvider, domains: readonly string[]): DnsProvider {
  const covers = (name: string) => domains.some(domain => isWithin(name, domain))
  const check = (...names: string[]) => {
    const outside = names.find(name => !covers(name))
    if (outside === undefined) return
    throw new DnsProviderError(
      provider.type,
      'permission',
      sentence('dns_provider.outside_scope', { name: outside, domains: [...domains] }),
    )
  }
  const { batch } = provider
  return {
    type: provider.type,
    test: () => provider.test(),
    findZone: async name => (covers(name) ? provider.findZone(name) : undefined),
    async list(zone, name) {
      return covers(name) ? provider.list(zone, name) : []
    },
    async read(questions) {
      const inside = questions.filter(({ name }) => covers(name))
      const answers = inside.length > 0 ? await provider.read(inside) : []
      const states = new Map(answers.map(state => [state.name, state]))
      return questions.map(({ name }): NameState => states.get(name) ?? { name, records: [] })
    },
    ...(batch ? { batch: scopedBatch(batch, check) } : {}),
    async create(zone, record, note) {
      check(record.name)
      return provider.create(zone, record, note)
    },
    async update(zone, before, record) {
      check(before.name, record.name)
      return provider.update(zone, before, record)
    },
    async remove(zone, record) {
      check(record.name)
      return provider.remove(zone, record)
    },
  }
}

function scopedBatch(batch: Batch, check: (...names: string[]) => void): Batch {
  return {
    guarded: batch.guarded,
    async write(zone, changes, seen, note) {
      check(...changes.flatMap(namesOf))
      return batch.write(zone, changes, seen, note)
    },
  }
}

function namesOf(change: Change): string[] {
  if (change.action === 'create') return [change.record.name]
  return change.action === 'delete' ? [change.before.name] : [change.before.name, change.record.name]
}

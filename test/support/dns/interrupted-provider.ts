/** Wraps a DNS provider and a ledger so that a test can stop the program at any call, before or after its effect. */

import { type DnsProvider, DnsProviderError } from '../../../services/mail/dns/providers/provider.ts'
import type { Ledger } from '../../../services/mail/domains/publishing/record-ledger.ts'
import { verbatim } from '../../../services/platform/sentences/compose.ts'

/** Simulates the end of the program: nothing may catch it. */
export class Killed extends Error {}

/** What happens at the n-th call (counted from 1) of provider and ledger together. */
export interface Interruption {
  at: number
  /** `before`: killed before the effect; `after`: killed after it; `cut`: the effect happens, the reply is lost. */
  how: 'before' | 'after' | 'cut'
}

/** The wrapped provider and ledger, and the number of calls until now. */
export interface Interrupted {
  provider: DnsProvider
  ledger: Ledger
  calls(): number
}

/** Counts every call; with an interruption, kills or cuts the given one. */
export function interrupted(provider: DnsProvider, ledger: Ledger, interruption?: Interruption): Interrupted {
  let calls = 0
  const around = async <T>(work: () => Promise<T>, write: boolean): Promise<T> => {
    calls++
    const hit = interruption?.at === calls
    if (hit && interruption.how === 'before') throw new Killed()
    const result = await work()
    if (hit && interruption.how === 'after') throw new Killed()
    if (hit && interruption.how === 'cut' && write)
      throw new DnsProviderError('memory', 'unknown_outcome', verbatim('cut'))
    return result
  }
  const { batch } = provider
  return {
    calls: () => calls,
    provider: {
      type: provider.type,
      test: () => provider.test(),
      findZone: name => around(() => provider.findZone(name), false),
      list: (zone, name) => around(() => provider.list(zone, name), false),
      read: questions => around(() => provider.read(questions), false),
      ...(batch
        ? { batch: { guarded: batch.guarded, write: (...all) => around(() => batch.write(...all), true) } }
        : {}),
      create: (zone, record, note) => around(() => provider.create(zone, record, note), true),
      update: (zone, before, record) => around(() => provider.update(zone, before, record), true),
      remove: (zone, record) => around(() => provider.remove(zone, record), true),
    },
    ledger: {
      read: () => around(() => ledger.read(), false),
      write: entries => around(() => ledger.write(entries), false),
      forget: entries => around(() => ledger.forget(entries), false),
    },
  }
}

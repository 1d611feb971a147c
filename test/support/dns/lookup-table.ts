/** DNS as a table, for tests of rules: a missing entry is NXDOMAIN, an empty one NODATA, `servfail` a temporary failure. */

import type { Answer, Lookup } from '../../../services/mail/dns/records/lookup.ts'
import { verbatim } from '../../../services/platform/sentences/compose.ts'

/** Answers by `TYPE name`, as in `TXT example.com`. */
export type ZoneTable = Record<string, readonly string[] | 'servfail'>

/** A lookup over the table. */
export function zoneLookup(table: ZoneTable): Lookup {
  return async (name, type): Promise<Answer> => {
    const entry = table[`${type} ${name}`]
    if (entry === 'servfail') return { kind: 'temporary', reason: verbatim('SERVFAIL') }
    if (entry && entry.length > 0) return { kind: 'found', values: [...entry], ttl: 300 }
    const known = entry !== undefined || Object.keys(table).some(key => key.endsWith(` ${name}`))
    return { kind: 'missing', reason: known ? 'nodata' : 'nxdomain' }
  }
}

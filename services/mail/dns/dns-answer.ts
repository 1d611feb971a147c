/** Reads replies of DNS servers as answers: found, missing or temporary. */
import { verbatim } from '../../platform/sentences/compose.ts'
import { type Sentence, sentence } from '../../platform/sentences/sentence.ts'
import { type Decoded, decodeData, negativeTtl, RCODES, TYPE, WireError } from './dns-message.ts'
import type { Answer, LookupType } from './records/lookup.ts'
import { canonicalValue } from './records/record.ts'

/** Longest alias chain that is followed. */
const MAX_ALIASES = 8

/** The answer for a name; aliases are followed within the reply. A failure that is an answer already is returned. */
export function toAnswer(reply: Decoded | Answer, name: string, type: LookupType): Answer {
  if ('kind' in reply) return reply
  if (reply.rcode !== 0 && reply.rcode !== 3) return temporary(verbatim(RCODES[reply.rcode] ?? `RCODE ${reply.rcode}`))
  const owner = type === 'CNAME' ? name : aliasTarget(reply, name)
  const records = reply.answers.filter(record => record.name === owner && record.type === TYPE[type])
  const values = valuesOf(records, type)
  if (!values) return temporary(sentence('dns.answer_unreadable'))
  if (values.length > 0) return { kind: 'found', values, ttl: Math.min(...records.map(({ ttl }) => ttl)) }
  const ttl = negativeTtl(reply.authorities)
  return { kind: 'missing', reason: reply.rcode === 3 ? 'nxdomain' : 'nodata', ...(ttl === undefined ? {} : { ttl }) }
}

/** The name at the end of the alias chain in the reply; the name itself without an alias. */
export function aliasTarget(reply: Decoded, name: string): string {
  let owner = name
  for (let i = 0; i < MAX_ALIASES; i++) {
    const alias = reply.answers.find(record => record.name === owner && record.type === TYPE.CNAME)
    if (!alias) break
    owner = decodeData(TYPE.CNAME, alias.data)
  }
  return owner
}

/** An answer that is unknown for now. */
export function temporary(reason: Sentence): Answer {
  return { kind: 'temporary', reason }
}

/** Canonical values; undefined when one is malformed for its type. */
function valuesOf(records: Decoded['answers'], type: LookupType): string[] | undefined {
  try {
    return records.map(record => canonicalValue(type, decodeData(record.type, record.data)))
  } catch (error) {
    if (error instanceof WireError) return undefined
    throw error
  }
}

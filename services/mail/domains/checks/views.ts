/** What the answers of all servers have in common. */
import type { Views } from '../../dns/records/evaluate-record.ts'
import type { Lookup } from '../../dns/records/lookup.ts'
import { isSpf } from '../../dns/records/spf.ts'
import { evaluateSpf, type SpfEvaluation } from '../../dns/records/spf-evaluate.ts'

/** Evaluates the one SPF record in the answers; undefined when there is none, or several differ. Never rejects. */
export async function evaluateSpfIn(
  name: string,
  views: Views,
  addresses: readonly string[],
  lookup: Lookup,
): Promise<SpfEvaluation | undefined> {
  const records = new Set(valuesIn(views).filter(isSpf))
  const [txt] = records
  return txt !== undefined && records.size === 1 ? evaluateSpf(name, txt, addresses, lookup) : undefined
}

/** The values of every answer. */
export function valuesIn({ authoritative, recursive }: Views): string[] {
  return [...authoritative, ...recursive].flatMap(({ answer }) => (answer.kind === 'found' ? answer.values : []))
}

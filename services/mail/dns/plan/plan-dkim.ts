/** Planning of DKIM key records: one TXT a selector, compared by key, never a second beside a foreign one. */
import { type Sentence, sentence } from '../../../platform/sentences/sentence.ts'
import { evaluateDkim } from '../records/dkim.ts'
import { parseTagList } from '../records/tag-list.ts'
import { item, type PlanItem, type RowContext, replaceOrConflict, servedOf, wasOurs } from './plan-item.ts'

/** Plans one selector. */
export function planDkim(context: RowContext): PlanItem {
  const { here, wanted, row, input } = context
  const [first, ...more] = servedOf(here.filter(record => record.type === 'TXT'))
  const key = keyOf(wanted.value)
  if (!first)
    return key.p === ''
      ? item(context, 'keep', sentence('dns_plan.key_removed'))
      : item(context, 'create', sentence('dns_plan.missing'))
  if (more.length > 0)
    return item(context, 'conflict', sentence('dns_plan.key_several', { name: wanted.name, count: more.length + 1 }), {
      before: first,
      code: 'several_records',
    })
  const verdict = evaluateDkim(first.value, key.k === 'ed25519' ? 'ed25519-sha256' : 'rsa-sha256', key.p)
  if (verdict.kind === 'revoked' ? key.p === '' : verdict.kind === 'same')
    return item(context, 'keep', sentence('dns_plan.key_present'), { before: first })
  if (key.p === '' && !wasOurs(input.owned, row.id, first))
    return item(context, 'keep', sentence('dns_plan.key_foreign'), { before: first })
  if (wasOurs(input.owned, row.id, first))
    return item(context, 'update', reasonOf(verdict.kind, key.p), { before: first })
  return replaceOrConflict(context, first, 'foreign_value', sentence('dns_plan.key_other', { name: wanted.name }))
}

function keyOf(value: string): { k: string; p: string } {
  const tagList = parseTagList(value)
  return { k: tagList?.get('k') ?? 'rsa', p: tagList?.get('p') ?? '' }
}

function reasonOf(kind: string, key: string): Sentence {
  if (key === '') return sentence('dns_plan.key_revoked')
  return sentence(kind === 'revoked' ? 'dns_plan.key_revoked_elsewhere' : 'dns_plan.key_changed_elsewhere')
}

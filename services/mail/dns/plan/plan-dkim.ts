/** Planning of DKIM key records: one TXT a selector, compared by key, never a second beside a foreign one. */
import { evaluateDkim } from '../records/dkim.ts'
import { parseTagList } from '../records/tag-list.ts'
import { item, type PlanItem, type RowContext, replaceOrConflict, servedOf, wasOurs } from './plan-item.ts'

/** Plans one selector. */
export function planDkim(context: RowContext): PlanItem {
  const { here, wanted, row, input } = context
  const [first, ...more] = servedOf(here.filter(record => record.type === 'TXT'))
  const key = keyOf(wanted.value)
  if (!first)
    return key.p === '' ? item(context, 'keep', 'The key is gone already.') : item(context, 'create', 'It is missing.')
  if (more.length > 0)
    return item(context, 'conflict', `${wanted.name} has ${more.length + 1} TXT records; receivers take any of them.`, {
      before: first,
      code: 'several_records',
    })
  const verdict = evaluateDkim(first.value, key.k === 'ed25519' ? 'ed25519-sha256' : 'rsa-sha256', key.p)
  if (verdict.kind === 'revoked' ? key.p === '' : verdict.kind === 'same')
    return item(context, 'keep', 'The key is there.', { before: first })
  if (key.p === '' && !wasOurs(input.owned, row.id, first))
    return item(context, 'keep', 'The record is not ours; it stays.', { before: first })
  if (wasOurs(input.owned, row.id, first))
    return item(context, 'update', reasonOf(verdict.kind, key.p), { before: first })
  return replaceOrConflict(context, first, 'foreign_value', `${wanted.name} holds another key.`)
}

function keyOf(value: string): { k: string; p: string } {
  const tagList = parseTagList(value)
  return { k: tagList?.get('k') ?? 'rsa', p: tagList?.get('p') ?? '' }
}

function reasonOf(kind: string, key: string): string {
  if (key === '') return 'The key is revoked.'
  return kind === 'revoked' ? 'The record was revoked by somebody.' : 'The record was changed by somebody.'
}

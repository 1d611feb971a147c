/** Planning of a CNAME record: the only record of its name (RFC 1034 section 3.6.2), so whatever else is there comes first. */
import { sentence } from '../../../platform/sentences/sentence.ts'
import { sameRecord } from '../records/record.ts'
import { isOurs, item, type PlanItem, type RowContext, replaceOrConflict } from './plan-item.ts'

/** Plans an alias: created at a free name; an alias of the owner's is replaced when that was accepted. */
export function planAlias(context: RowContext): PlanItem {
  const { here, wanted, input } = context
  const { name } = wanted
  const alias = here.find(record => record.type === 'CNAME')
  if (alias && sameRecord(alias, wanted)) {
    if (alias.proxied) return replaceOrConflict(context, alias, 'proxied', sentence('dns_plan.proxied', { name }))
    return item(context, 'keep', sentence('dns_plan.present'), { before: alias })
  }
  if (alias) {
    const reason = sentence('dns_plan.alias_changed')
    if (isOurs(input.owned, alias)) return item(context, 'update', reason, { before: alias })
    const other = sentence('dns_plan.other_address', { name, value: alias.value })
    return replaceOrConflict(context, alias, 'foreign_value', other)
  }
  const [other] = here
  if (!other) return item(context, 'create', sentence('dns_plan.missing'))
  const types = [...new Set(here.map(({ type }) => type))].toSorted()
  return item(context, 'conflict', sentence('dns_plan.name_in_use', { name, types }), {
    before: other,
    code: 'foreign_value',
  })
}

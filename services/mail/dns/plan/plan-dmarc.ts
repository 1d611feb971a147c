/** Planning of the DMARC record: created where no policy applies, never weakened, an owner's own record left alone. */
import { sentence } from '../../../platform/sentences/sentence.ts'
import { isDmarc, parseDmarc, weakenings } from '../records/dmarc.ts'
import { mergeDmarc } from '../records/merge-dmarc.ts'
import type { StoredRecord } from '../records/record.ts'
import { item, type PlanItem, type RowContext, servedOf, wasOurs } from './plan-item.ts'

/** Plans `_dmarc.<domain>`. */
export function planDmarc(context: RowContext): PlanItem {
  const records = servedOf(context.here.filter(record => record.type === 'TXT' && isDmarc(record.value)))
  const [first, ...more] = records
  if (!first) return planMissing(context)
  if (more.length > 0)
    return item(
      context,
      'conflict',
      sentence('dns_plan.dmarc_several', { name: context.wanted.name, count: records.length }),
      {
        before: first,
        code: 'several_records',
      },
    )
  return planPresent(context, first)
}

function planPresent(context: RowContext, record: StoredRecord): PlanItem {
  const { wanted, input, accepted } = context
  if (record.value === wanted.value) return item(context, 'keep', sentence('dns_plan.present'), { before: record })
  const before = parseDmarc(record.value)
  const after = parseDmarc(wanted.value)
  if (!before || !after)
    return item(context, 'conflict', sentence('dns_plan.dmarc_invalid', { value: record.value }), {
      before: record,
      code: 'broken_record',
    })
  const losses = weakenings(before, after)
  if (accepted)
    return item(context, 'update', sentence('dns_plan.dmarc_replaced', { value: record.value }), { before: record })
  // Also when its value was changed since we wrote it: the record is repaired, or reported where that would weaken it.
  const ours = wasOurs(input.owned, context.row.id, record)
  if (losses.length > 0 && ours)
    return item(context, 'conflict', sentence('dns_plan.dmarc_weaker', { losses }), {
      before: record,
      code: 'weaker_policy',
      acceptable: true,
    })
  if (losses.length === 0 && ours)
    return item(context, 'update', sentence('dns_plan.dmarc_changed'), { before: record })
  const warnings = before.obsolete.map(tag => sentence('dns.dmarc_obsolete_tag', { tag }))
  return item(context, 'keep', sentence('dns_plan.dmarc_own'), { before: record, warnings })
}

/** A record of a sub-domain overrides the organisation's: `p=none` below `p=reject` would weaken it. */
function planMissing(context: RowContext): PlanItem {
  const { wanted, input, accepted } = context
  const inherited = input.inheritedDmarc
  if (inherited.kind === 'temporary')
    return item(context, 'conflict', sentence('dns.dmarc_unknown', { reason: inherited.reason }), {
      code: 'policy_unknown',
    })
  const after = parseDmarc(wanted.value)
  if (inherited.kind !== 'inherited' || !after || accepted)
    return item(context, 'create', sentence('dns_plan.dmarc_missing'))
  const { record, effective, at } = inherited
  const applied = { ...record, p: effective }
  const losses = weakenings(applied, after)
  if (losses.length === 0) return item(context, 'create', sentence('dns_plan.dmarc_stronger', { at }))
  // Whoever sets a record for the sub-domain by hand is shown one that is no weaker.
  const value = mergeDmarc(wanted.value, `v=DMARC1; p=${effective}`)
  return item(
    { ...context, wanted: { ...wanted, value } },
    'skip',
    sentence('dns_plan.dmarc_inherited', { at, policy: effective }),
  )
}

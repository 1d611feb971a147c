/** Planning of the DMARC record: created where no policy applies, never weakened, an owner's own record left alone. */
import { isDmarc, parseDmarc, weakenings } from '../records/dmarc.ts'
import type { StoredRecord } from '../records/record.ts'
import { isOurs, item, type PlanItem, type RowContext, servedOf } from './plan-item.ts'

/** Plans `_dmarc.<domain>`. */
export function planDmarc(context: RowContext): PlanItem {
  const records = servedOf(context.here.filter(record => record.type === 'TXT' && isDmarc(record.value)))
  const [first, ...more] = records
  if (!first) return planMissing(context)
  if (more.length > 0)
    return item(
      context,
      'conflict',
      `${context.wanted.name} has ${records.length} DMARC records; receivers ignore them all. Leave one.`,
      {
        before: first,
        code: 'several_records',
      },
    )
  return planPresent(context, first)
}

function planPresent(context: RowContext, record: StoredRecord): PlanItem {
  const { wanted, input, accepted } = context
  if (record.value === wanted.value) return item(context, 'keep', 'It is there.', { before: record })
  const before = parseDmarc(record.value)
  const after = parseDmarc(wanted.value)
  if (!before || !after)
    return item(context, 'conflict', `Receivers cannot read the record: ${record.value}`, {
      before: record,
      code: 'broken_record',
    })
  const losses = weakenings(before, after)
  if (accepted) return item(context, 'update', `Replaces ${record.value}, as you chose.`, { before: record })
  if (losses.length > 0 && isOurs(input.owned, record))
    return item(context, 'conflict', `This would weaken the policy: ${losses.join('; ')}.`, {
      before: record,
      code: 'weaker_policy',
      acceptable: true,
    })
  if (losses.length === 0 && isOurs(input.owned, record))
    return item(context, 'update', 'The policy that you chose changed.', { before: record })
  const warnings = before.obsolete.map(tag => `The tag ${tag} has no meaning any more (RFC 9989).`)
  return item(context, 'keep', 'The domain has a policy of its own; it stays.', { before: record, warnings })
}

/** A record of a sub-domain overrides the organisation's: `p=none` below `p=reject` would weaken it. */
function planMissing(context: RowContext): PlanItem {
  const { wanted, input, accepted } = context
  const inherited = input.inheritedDmarc
  if (inherited.kind === 'temporary')
    return item(context, 'conflict', `The policy above cannot be read now (${inherited.reason}); try again later.`, {
      code: 'policy_unknown',
    })
  const after = parseDmarc(wanted.value)
  if (inherited.kind !== 'inherited' || !after || accepted)
    return item(context, 'create', 'The domain has no DMARC record.')
  const { record, effective, at } = inherited
  const applied = { ...record, p: effective }
  const losses = weakenings(applied, after)
  if (losses.length === 0) return item(context, 'create', `Strengthens the policy of ${at}.`)
  return item(context, 'skip', `The policy of ${at} applies (${effective}); a record here would weaken it.`)
}

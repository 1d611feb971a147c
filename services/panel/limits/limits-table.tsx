/** Table of limits of sending with their use. */
import { useTranslation } from 'react-i18next'
import { ManagedBy } from '../kubernetes/managed-by.tsx'
import { type Column, DataTable } from '../ui/layout/table.tsx'
import { useFormat } from '../ui/values/number-format.ts'
import type { SendingLimit } from './limit-form.tsx'

/** `actions` renders the last cell of a row. */
export function LimitsTable({
  limits,
  actions,
}: {
  limits: readonly SendingLimit[]
  actions: (limit: SendingLimit) => React.ReactNode
}) {
  const { t } = useTranslation()
  const { number } = useFormat()
  const ofLimit = (used: number | null, limit: number | null) =>
    limit === null ? '–' : t('overview.ofLimit', { used: number(used ?? 0), limit: number(limit) })
  const rateOf = ({ recipients_per_second: second, recipients_per_minute: minute, burst }: SendingLimit) => {
    if (second !== null) return t('limits.perSecond', { count: second, burst: number(burst ?? 0) })
    return minute === null ? '–' : t('limits.perMinute', { count: minute })
  }
  const columns: Column<SendingLimit>[] = [
    { label: t('limits.scope'), under: t('limits.name'), cell: limit => t(`limits.scopes.${limit.scope}`) },
    {
      label: t('limits.name'),
      text: true,
      cell: ({ subject, name, managed_by }) => (
        <span>
          {subject === '*' ? t('limits.everyDestination') : name} <ManagedBy resource={managed_by} />
        </span>
      ),
    },
    { label: t('limits.rate'), cell: rateOf },
    {
      label: t('limits.available'),
      end: true,
      cell: ({ available }) => (available === null ? '–' : number(available)),
    },
    { label: t('limits.hour'), end: true, cell: limit => ofLimit(limit.used_this_hour, limit.recipients_per_hour) },
    { label: t('limits.day'), end: true, cell: limit => ofLimit(limit.used_today, limit.recipients_per_day) },
    { label: t('limits.setBy'), under: t('limits.name'), cell: limit => t(`limits.by.${limit.set_by}`) },
    { label: t('ui.actions'), hidden: true, end: true, cell: actions },
  ]
  const key = ({ scope, subject, set_by: by }: SendingLimit) => `${scope} ${subject} ${by}`
  return <DataTable name={t('limits.title')} columns={columns} rows={limits} rowKey={key} />
}

/** Controls that filter a list of an app; `undefined` removes a filter. */

import { Select, TextInput } from '@mantine/core'
import { useTranslation } from 'react-i18next'
import { SearchableSelect } from '../../ui/forms/searchable-select.tsx'

interface FilterProps<V extends string> {
  label: string
  value: V | undefined
  set: (value: V | undefined) => void
  width?: number
}

export function SelectFilter<V extends string>(
  props: FilterProps<V> & { data: readonly { value: NoInfer<V>; label: string }[] },
) {
  const { t } = useTranslation()
  const Choice = props.data.length > 10 ? SearchableSelect : Select
  return (
    <Choice
      label={props.label}
      title={props.data.find(choice => choice.value === props.value)?.label}
      placeholder={t('messages.any')}
      data={[...props.data]}
      value={props.value ?? null}
      onChange={value => props.set(props.data.find(choice => choice.value === value)?.value)}
      clearable
      w={props.width ?? 150}
    />
  )
}

/** A day of the business time zone, as `2026-11-21`. */
function DayFilter({ label, value, set }: FilterProps<string>) {
  return (
    <TextInput
      type="date"
      label={label}
      value={value ?? ''}
      onChange={event => set(event.currentTarget.value || undefined)}
      w={150}
    />
  )
}

/** First and last day of creation. */
export function CreatedFilters(props: {
  search: { start_date?: string; end_date?: string }
  go: (change: { start_date?: string | undefined; end_date?: string | undefined }) => void
}) {
  const { t } = useTranslation()
  const { search, go } = props
  return (
    <>
      <DayFilter label={t('subs.createdFrom')} value={search.start_date} set={start_date => go({ start_date })} />
      <DayFilter label={t('subs.createdTo')} value={search.end_date} set={end_date => go({ end_date })} />
    </>
  )
}

/** Form of the filters of the message log; rarely used ones are folded until one is set. */
import { Button, Collapse, Group, MultiSelect, Select, TextInput } from '@mantine/core'
import { IconAdjustmentsHorizontal, IconX } from '@tabler/icons-react'
import { type ReactNode, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { usePreferences } from '../../state/preferences.ts'
import { TextFilter } from '../../ui/forms/text-filter.tsx'
import { browserTimeZone, dayOf, dayStart } from '../../ui/values/time-zone.ts'
import { MAIL_STATUSES } from './mail-statuses.ts'
import {
  FAILURE_REASONS,
  type FilterChange,
  isFiltered,
  type MessageSearch,
  NO_FILTERS,
  PERIODS,
  SOURCES,
  statusFilter,
  UNLISTED,
} from './message-search.ts'
import { SubmitterFilter } from './submitter-filter.tsx'

interface FilterProps {
  search: MessageSearch
  go: (change: FilterChange) => void
}

/** `aside` is placed beside the buttons of the form. */
export function MessageFilters({ search, go, aside }: FilterProps & { aside?: ReactNode }) {
  const { t } = useTranslation()
  const { to, domain, tag, submitted_with, source } = search
  const isUsed = [to, domain, tag, submitted_with, source].some(value => value !== undefined)
  const [unfolded, setUnfolded] = useState(false)
  const opened = unfolded || isUsed
  return (
    <search>
      <Group gap="xs" align="flex-end">
        <TextFilter
          label={t('messages.search')}
          placeholder={t('messages.searchHint')}
          value={search.q ?? ''}
          set={q => go({ q: q || undefined })}
          wide
        />
        <Statuses search={search} go={go} />
        <Choice
          label={t('messages.reason')}
          values={FAILURE_REASONS}
          value={search.reason}
          name={value => t(`messages.reasons.${value}`)}
          set={reason => go({ reason })}
          width={190}
        />
        <Period search={search} go={go} />
        <Button
          variant="subtle"
          leftSection={<IconAdjustmentsHorizontal size={15} />}
          onClick={() => setUnfolded(!opened)}
          aria-expanded={opened}
          disabled={isUsed}
        >
          {t('messages.moreFilters')}
        </Button>
        {isFiltered(search) ? (
          <Button variant="subtle" leftSection={<IconX size={15} />} onClick={() => go(NO_FILTERS)}>
            {t('messages.clearFilters')}
          </Button>
        ) : null}
        {aside}
      </Group>
      <UnlistedFilters search={search} go={go} />
      <Collapse expanded={opened}>{opened ? <MoreFilters search={search} go={go} /> : null}</Collapse>
    </search>
  )
}

/** Filters without a field, which links and saved views of the API set: each is shown and can be removed. */
function UnlistedFilters({ search, go }: FilterProps) {
  const { t } = useTranslation()
  const { simulated } = search
  const names = {
    ...{ from: t('messages.from'), template: t('messages.template'), message_id: 'Message-ID' },
    recipient_domain: t('messages.recipientDomain'),
  }
  const textOf = (key: (typeof UNLISTED)[number]) =>
    key === 'simulated'
      ? t(`messages.simulated.${simulated ?? 'false'}`)
      : `${names[key]}${t('label.separator')}${search[key]}`
  const set = UNLISTED.flatMap(key => (search[key] === undefined ? [] : [{ key, text: textOf(key) }]))
  if (set.length === 0) return null
  return (
    <Group gap="xs" mt="xs">
      {set.map(({ key, text }) => (
        <Button
          key={key}
          variant="default"
          size="compact-sm"
          maw="100%"
          rightSection={<IconX size={13} />}
          aria-label={t('messages.removeFilter', { filter: text })}
          onClick={() => go({ [key]: undefined })}
        >
          <span className="pw-ellipsis" title={text}>
            {text}
          </span>
        </Button>
      ))}
    </Group>
  )
}

function MoreFilters({ search, go }: FilterProps) {
  const { t } = useTranslation()
  return (
    <Group gap="xs" align="flex-end" mt="xs">
      <TextFilter label={t('messages.to')} value={search.to ?? ''} set={to => go({ to: to || undefined })} />
      <TextFilter
        label={t('messages.senderDomain')}
        value={search.domain ?? ''}
        set={domain => go({ domain: domain || undefined })}
      />
      <TextFilter
        label={t('messages.tag')}
        placeholder={t('messages.tagHint')}
        value={search.tag ?? ''}
        set={tag => go({ tag: tag || undefined })}
      />
      <SubmitterFilter value={search.submitted_with} set={submitted_with => go({ submitted_with })} />
      <Choice
        label={t('messages.source')}
        values={SOURCES}
        value={search.source}
        name={value => t(`messages.sources.${value}`)}
        set={source => go({ source })}
      />
    </Group>
  )
}

function Choice<T extends string>(props: {
  label: string
  values: readonly T[]
  value: T | undefined
  name: (value: T) => string
  set: (value: T | undefined) => void
  width?: number
}) {
  const { t } = useTranslation()
  const { label, values, value, name, set, width = 150 } = props
  return (
    <Select
      label={label}
      placeholder={t('messages.any')}
      data={values.map(one => ({ value: one, label: name(one) }))}
      value={value ?? null}
      onChange={chosen => set(values.find(known => known === chosen))}
      clearable
      w={width}
    />
  )
}

/** Several statuses: a message has a recipient in one of them. */
function Statuses({ search, go }: FilterProps) {
  const { t } = useTranslation()
  const chosen = [search.status ?? []].flat()
  return (
    <MultiSelect
      label={t('messages.state')}
      {...(chosen.length === 0 ? { placeholder: t('messages.any') } : {})}
      data={MAIL_STATUSES.map(value => ({ value, label: t(`messages.status.${value}`) }))}
      value={chosen}
      onChange={values => go({ status: undefined, ...statusFilter(values) })}
      clearable
      miw={150}
      maw={320}
    />
  )
}

/** A period that ends now, or days in the time zone of the user: from the first until the last one, both included. */
function Period({ search, go }: FilterProps) {
  const { t } = useTranslation()
  const { timeZone = browserTimeZone() } = usePreferences()
  const [custom, setCustom] = useState(false)
  const { days, since, until } = search
  const isCustom = custom || since !== undefined || until !== undefined
  const known = PERIODS.some(period => period === days) || days === undefined ? PERIODS : [...PERIODS, days]
  const choose = (value: string | null) => {
    setCustom(value === 'custom')
    if (value !== 'custom') go({ since: undefined, until: undefined, days: value ? Number(value) : undefined })
    else if (days !== undefined) go({ days: undefined })
  }
  return (
    <>
      <Select
        label={t('messages.period')}
        placeholder={t('messages.any')}
        data={[
          ...known.map(period => ({ value: String(period), label: t('messages.lastDays', { count: period }) })),
          { value: 'custom', label: t('messages.customPeriod') },
        ]}
        value={days === undefined ? (isCustom ? 'custom' : null) : String(days)}
        onChange={choose}
        clearable
        w={150}
      />
      {isCustom ? (
        <>
          <TextInput
            type="date"
            label={t('messages.since')}
            value={since ? dayOf(new Date(since), timeZone) : ''}
            onChange={event => go({ since: dayStart(event.currentTarget.value, timeZone)?.toISOString() })}
            w={150}
          />
          <TextInput
            type="date"
            label={t('messages.until')}
            value={until ? dayOf(new Date(new Date(until).getTime() - 1), timeZone) : ''}
            onChange={event => go({ until: dayEnd(event.currentTarget.value, timeZone)?.toISOString() })}
            w={150}
          />
        </>
      ) : null}
    </>
  )
}

/** The beginning of the day after: the end of a period that includes the day. */
function dayEnd(day: string, timeZone: string): Date | undefined {
  const start = dayStart(day, timeZone)
  if (!start) return undefined
  // 36 hours later it is the next day, also where a clock change makes a day shorter or longer.
  return dayStart(dayOf(new Date(start.getTime() + 36 * 3_600_000), timeZone), timeZone)
}

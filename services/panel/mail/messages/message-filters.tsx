import { Button, Group, Select, TextInput } from '@mantine/core'
import { IconX } from '@tabler/icons-react'
import { useTranslation } from 'react-i18next'
import { usePreferences } from '../../state/preferences.ts'
import { TextFilter } from '../../ui/forms/text-filter.tsx'
import { browserTimeZone, dayOf, dayStart } from '../../ui/values/time-zone.ts'
import { MAIL_STATUSES } from './mail-statuses.ts'
import { type FilterChange, isFiltered, type MessageSearch, SOURCES } from './message-search.ts'

export function MessageFilters({ search, go }: { search: MessageSearch; go: (change: FilterChange) => void }) {
  const { t } = useTranslation()
  const { timeZone = browserTimeZone() } = usePreferences()
  return (
    <Group gap="xs" align="flex-end" role="search">
      <TextFilter
        label={t('messages.search')}
        placeholder={t('messages.searchHint')}
        value={search.q ?? ''}
        set={q => go({ q: q || undefined })}
        wide
      />
      <Select
        label={t('messages.state')}
        placeholder={t('messages.any')}
        data={MAIL_STATUSES.map(value => ({ value, label: t(`messages.status.${value}`) }))}
        value={search.status ?? null}
        onChange={value => go({ status: MAIL_STATUSES.find(known => known === value) })}
        clearable
        w={150}
      />
      <Select
        label={t('messages.source')}
        placeholder={t('messages.any')}
        data={SOURCES.map(value => ({ value, label: t(`messages.sources.${value}`) }))}
        value={search.source ?? null}
        onChange={value => go({ source: SOURCES.find(known => known === value) })}
        clearable
        w={130}
      />
      <TextFilter label={t('messages.to')} value={search.to ?? ''} set={to => go({ to: to || undefined })} />
      <TextInput
        type="date"
        label={t('messages.since')}
        value={search.since ? dayOf(new Date(search.since), timeZone) : ''}
        onChange={event => go({ since: dayStart(event.currentTarget.value, timeZone)?.toISOString() })}
        w={150}
      />
      {isFiltered(search) ? (
        <Button variant="subtle" leftSection={<IconX size={15} />} onClick={() => go(NO_FILTERS)}>
          {t('messages.clearFilters')}
        </Button>
      ) : null}
    </Group>
  )
}

const NO_FILTERS: FilterChange = {
  q: undefined,
  status: undefined,
  source: undefined,
  domain: undefined,
  to: undefined,
  since: undefined,
  until: undefined,
}

/** The pages of analytics: subscriptions and revenue, users. */
import { Button, Group } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { useTranslation } from 'react-i18next'
import { DaysRangeControl } from '../../ui/layout/days-range.tsx'
import { type DaysRange, daysRangeSearch } from '../../ui/layout/days-range-search.ts'
import { AppScopedPage } from '../shared/app-scope.tsx'

/** The frame of both pages: the range of days in the address, and the tabs. */
export function AnalyticsFrame(props: {
  tab: 'revenue' | 'users'
  lead: string
  days: DaysRange
  go: (search: { days?: DaysRange }) => void
  children: (appKey: string) => ReactNode
}) {
  const { t } = useTranslation()
  const { tab, lead, days, go, children } = props
  return (
    <AppScopedPage
      title={t('subs.statisticsTitle')}
      name={`${t('subs.statisticsTitle')}: ${t(`subs.tabs.${tab}`)}`}
      lead={lead}
      actions={<DaysRangeControl days={days} set={chosen => go(daysRangeSearch({ days: chosen }))} />}
    >
      {({ app }) => (
        <>
          <AnalyticsTabs appKey={app.app_key} days={days} />
          {children(app.app_key)}
        </>
      )}
    </AppScopedPage>
  )
}

function AnalyticsTabs({ appKey, days }: { appKey: string; days: DaysRange }) {
  const { t } = useTranslation()
  const tabs = [
    { to: '/apps/$key', label: t('subs.tabs.revenue') },
    { to: '/apps/$key/user-statistics', label: t('subs.tabs.users') },
  ] as const
  return (
    <Group component="nav" gap="xs" aria-label={t('subs.statisticsTitle')}>
      {tabs.map(({ to, label }) => (
        <Button
          key={to}
          variant="subtle"
          size="sm"
          className="pw-tab"
          renderRoot={props => (
            <Link
              {...props}
              to={to}
              params={{ key: appKey }}
              search={daysRangeSearch({ days })}
              activeOptions={{ exact: true, includeSearch: false }}
            />
          )}
        >
          {label}
        </Button>
      ))}
    </Group>
  )
}

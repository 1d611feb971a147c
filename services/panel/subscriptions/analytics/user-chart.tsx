/** Chart of new users by day, and of those who signed in. */
import { SimpleGrid } from '@mantine/core'
import { useTranslation } from 'react-i18next'
import { StackedBars } from '../../ui/values/stacked-bars.tsx'
import type { SubOutput } from '../shared/subscriptions-api.ts'

type Day = NonNullable<SubOutput<'userStatisticsOperation'>['trend']>[number]

/** Two charts: a user may be in both counts of a day, so that their sum means nothing. */
export function UserChart({ days }: { days: readonly Day[] }) {
  const { t } = useTranslation()
  const [created, active] = [t('subs.newUsers'), t('subs.loginUsers')]
  return (
    <SimpleGrid cols={{ base: 1, md: 2 }}>
      <StackedBars
        name={created}
        days={days}
        series={[{ key: 'new_users', name: created, colour: 'var(--pw-chart-ok)' }]}
      />
      <StackedBars
        name={active}
        days={days}
        series={[{ key: 'login_users', name: active, colour: 'var(--pw-chart-wait)' }]}
      />
    </SimpleGrid>
  )
}

/** What a user may use now: the answer that the back end of the app gets. */
import { Group, Text } from '@mantine/core'
import { useTranslation } from 'react-i18next'
import { Loaded } from '../../ui/feedback/content-states.tsx'
import { StatusBadge } from '../../ui/feedback/status-badge.tsx'
import { Card } from '../../ui/layout/page.tsx'
import { DescriptionList } from '../../ui/values/description-list.tsx'
import { Time } from '../../ui/values/time.tsx'
import { useSubRead } from '../shared/subscriptions-api.ts'

export function UserAccess({ appKey, id }: { appKey: string; id: string }) {
  const { t } = useTranslation()
  const query = useSubRead('getUserEntitlement', { params: { id }, query: { app_key: appKey } })
  return (
    <Card title={t('subs.entitlements')}>
      <Loaded query={query}>
        {({ active, features, plans, expires_at }) => (
          <>
            <Group gap="xs" mb={active ? 'xs' : 0}>
              <StatusBadge tone={active ? 'ok' : 'quiet'}>{t(active ? 'subs.hasAccess' : 'subs.noAccess')}</StatusBadge>
              {active ? null : (
                <Text fz="sm" c="dimmed">
                  {t('subs.noAccessHint')}
                </Text>
              )}
            </Group>
            {active ? (
              <DescriptionList
                entries={[
                  [t('subs.plansTitle'), plans.map(({ plan_name }) => plan_name).join(', ')],
                  [t('subs.features'), features.join(', ')],
                  [t('subs.end'), <UnixTime key="end" at={expires_at} />],
                ]}
              />
            ) : null}
          </>
        )}
      </Loaded>
    </Card>
  )
}

/** Unix seconds as text; "0" means permanent. */
function UnixTime({ at }: { at: string }) {
  const { t } = useTranslation()
  if (at === '0') return <>{t('subs.permanent')}</>
  return <Time short at={new Date(Number(at) * 1000).toISOString()} />
}

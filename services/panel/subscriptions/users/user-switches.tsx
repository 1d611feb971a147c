/** The switches of the app as they evaluate for a user. */
import { Text } from '@mantine/core'
import { IconToggleRight } from '@tabler/icons-react'
import { Link } from '@tanstack/react-router'
import { useTranslation } from 'react-i18next'
import { Empty, Loaded } from '../../ui/feedback/content-states.tsx'
import { Card } from '../../ui/layout/page.tsx'
import { type Column, DataTable } from '../../ui/layout/table.tsx'
import { useSubRead } from '../shared/subscriptions-api.ts'
import { type Evaluated, evaluationReason, evaluationValue } from '../switches/evaluation-text.ts'

export function UserSwitches({ appKey, id }: { appKey: string; id: string }) {
  const { t } = useTranslation()
  const query = useSubRead('evaluateSwitches', { query: { app_key: appKey }, body: { user_id: id } })
  const columns: Column<Evaluated>[] = [
    {
      label: t('subs.name'),
      text: true,
      cell: one => (
        <>
          <Link to="/apps/$key/switches/$name" params={{ key: appKey, name: one.name }} className="pw-link pw-mono">
            {one.name}
          </Link>
          {one.description ? <span className="pw-sub">{one.description}</span> : null}
        </>
      ),
    },
    { label: t('subs.value'), text: true, cell: one => evaluationValue(one, t) },
    { label: t('subs.because'), cell: one => evaluationReason(one, t) },
  ]
  return (
    <Card title={t('subs.switchesTitle')} flush>
      <Text c="dimmed" fz="sm" px="md" pb="sm">
        {t('subs.userSwitchesHint')}
      </Text>
      <Loaded query={query}>
        {({ switches }) =>
          switches.length === 0 ? (
            <Empty icon={<IconToggleRight size={26} />} title={t('subs.noSwitches')} />
          ) : (
            <DataTable name={t('subs.switchesTitle')} columns={columns} rows={switches} rowKey={one => one.name} />
          )
        }
      </Loaded>
    </Card>
  )
}

/** The last changes of a user and of its subscriptions. */
import { Button } from '@mantine/core'
import { IconNotebook } from '@tabler/icons-react'
import { Link } from '@tanstack/react-router'
import { useTranslation } from 'react-i18next'
import { Empty, Loaded } from '../../ui/feedback/content-states.tsx'
import { Card } from '../../ui/layout/page.tsx'
import { ChangeTable } from '../history/change-table.tsx'
import { useSubRead } from '../shared/subscriptions-api.ts'

/** The page of changes has the rest. */
const SHOWN = 10

export function UserChanges({ appKey, id }: { appKey: string; id: string }) {
  const { t } = useTranslation()
  const query = useSubRead('auditLog', { query: { app_key: appKey, user_id: id, pageSize: SHOWN } })
  const all = (
    <Button
      variant="default"
      size="xs"
      renderRoot={props => <Link {...props} to="/apps/$key/changes" params={{ key: appKey }} search={{ user: id }} />}
    >
      {t('subs.allChanges')}
    </Button>
  )
  return (
    <Card title={t('subs.changesTitle')} aside={all} flush>
      <Loaded query={query}>
        {({ audit_logs }) =>
          audit_logs.length === 0 ? (
            <Empty icon={<IconNotebook size={26} />} title={t('account.auditEmpty')} />
          ) : (
            <ChangeTable entries={audit_logs} appKey={appKey} />
          )
        }
      </Loaded>
    </Card>
  )
}

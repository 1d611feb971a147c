/** Limits of sending of the own account, its logins, domains and destinations. */

import { Button, Menu } from '@mantine/core'
import { IconGauge, IconPlus } from '@tabler/icons-react'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { useRead, useWrite } from '../api/hooks.ts'
import { Empty, Loaded } from '../ui/feedback/content-states.tsx'
import { useNotifyCallbacks } from '../ui/feedback/save-result.ts'
import { Dialog } from '../ui/forms/dialog.tsx'
import { NeedsRole } from '../ui/forms/needs-role.tsx'
import { Card, Page } from '../ui/layout/page.tsx'
import { RowMenu } from '../ui/layout/row-menu.tsx'
import { OwnLimitForm, type OwnScope, type SendingLimit } from './limit-form.tsx'
import { LimitsTable } from './limits-table.tsx'

const SCOPES: readonly OwnScope[] = ['credential', 'domain', 'destination']

/** Polls every 10 seconds. */
export function LimitsPage() {
  const { t } = useTranslation()
  const query = useRead('listLimitsOperation', {}, { poll: 10_000 })
  const [adding, setAdding] = useState<OwnScope>()
  const close = () => setAdding(undefined)
  const add = (
    <Menu position="bottom-end" shadow="md">
      <Menu.Target>
        <Button leftSection={<IconPlus size={16} />}>{t('limits.add')}</Button>
      </Menu.Target>
      <Menu.Dropdown>
        {SCOPES.map(scope => (
          <Menu.Item key={scope} onClick={() => setAdding(scope)}>
            {t(`limits.addOf.${scope}`)}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  )
  return (
    <Page title={t('limits.title')} lead={t('limits.lead')} actions={<NeedsRole needs="admin">{add}</NeedsRole>}>
      <Card flush>
        <Loaded query={query}>
          {({ data }) =>
            data.length === 0 ? (
              <Empty icon={<IconGauge size={26} />} title={t('limits.none')}>
                {t('limits.noneHint')}
              </Empty>
            ) : (
              <LimitsTable limits={data} actions={limit => <LimitMenu limit={limit} />} />
            )
          }
        </Loaded>
      </Card>
      <Dialog opened={adding !== undefined} close={close} title={adding ? t(`limits.addOf.${adding}`) : ''}>
        {() => (adding ? <OwnLimitForm scope={adding} close={close} /> : null)}
      </Dialog>
    </Page>
  )
}

function LimitMenu({ limit }: { limit: SendingLimit }) {
  const { t } = useTranslation()
  const [changing, setChanging] = useState(false)
  const close = () => setChanging(false)
  const put = useWrite('putLimitOperation', ['listLimitsOperation', 'getLimits'])
  const notify = useNotifyCallbacks(t('limits.removed'))
  const { scope, subject, name } = limit
  if (scope === 'account' || limit.set_by !== 'owner' || limit.managed_by) return null
  return (
    <>
      <RowMenu name={name} needs="admin">
        <Menu.Item onClick={() => setChanging(true)}>{t('limits.change')}</Menu.Item>
        <Menu.Item color="stamp" onClick={() => put.mutate({ body: { scope, subject } }, notify)}>
          {t('limits.remove')}
        </Menu.Item>
      </RowMenu>
      <Dialog opened={changing} close={close} title={t('limits.changeOf', { name })}>
        {() => <OwnLimitForm scope={scope} limit={limit} close={close} />}
      </Dialog>
    </>
  )
}

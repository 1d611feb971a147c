/** Settings of an app: request signatures, sender of reminders. */
import { Button } from '@mantine/core'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { Dialog } from '../../ui/forms/dialog.tsx'
import { Card } from '../../ui/layout/page.tsx'
import { DescriptionList } from '../../ui/values/description-list.tsx'
import type { SubApp } from '../shared/app-scope.tsx'
import { AppForm } from './app-form.tsx'

/** Settings of a managed app are read-only here. */
export function AppSettings({ app }: { app: SubApp }) {
  const { t } = useTranslation()
  const [editing, edit] = useState(false)
  const close = () => edit(false)
  const change = app.managed_by ? null : (
    <Button variant="default" size="xs" onClick={() => edit(true)}>
      {t('ui.edit')}
    </Button>
  )
  return (
    <Card title={t('subs.settings')} aside={change}>
      <DescriptionList
        entries={[
          [t('subs.signatures'), t(app.require_signature === '1' ? 'subs.signaturesOnly' : 'subs.signaturesOrSecret')],
          [t('subs.mailFrom'), app.mail_from || t('subs.platformSender')],
        ]}
      />
      <Dialog opened={editing} close={close} title={t('subs.editApp')}>
        {() => <AppForm app={app} close={close} />}
      </Dialog>
    </Card>
  )
}

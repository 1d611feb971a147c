/** Actions on one webhook of either module. */
import { Menu } from '@mantine/core'
import { type ComponentProps, type ReactNode, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { ConfirmDialog } from '../../ui/forms/confirm-dialog.tsx'
import { Dialog } from '../../ui/forms/dialog.tsx'
import type { ShowSecrets } from '../../ui/forms/secret-once.tsx'
import { RowMenu } from '../../ui/layout/row-menu.tsx'

/** `rotate` resolves to the new secret, which is shown once. */
export function WebhookMenu(props: {
  name: string
  enabled: boolean
  needs?: ComponentProps<typeof RowMenu>['needs']
  edit: (close: () => void) => ReactNode
  toggle: () => void
  rotate: () => Promise<string>
  remove: () => Promise<unknown>
  show: ShowSecrets
}) {
  const { t } = useTranslation()
  const [asking, setAsking] = useState<'edit' | 'rotate' | 'delete'>()
  const { name, enabled, needs, edit, toggle, rotate, remove, show } = props
  const done = () => setAsking(undefined)
  return (
    <>
      <RowMenu name={name} {...(needs ? { needs } : {})}>
        <Menu.Item onClick={() => setAsking('edit')}>{t('webhooks.edit')}</Menu.Item>
        <Menu.Item onClick={toggle}>{t(enabled ? 'webhooks.disable' : 'webhooks.enable')}</Menu.Item>
        <Menu.Item onClick={() => setAsking('rotate')}>{t('webhooks.rotate')}</Menu.Item>
        <Menu.Divider />
        <Menu.Item color="stamp" onClick={() => setAsking('delete')}>
          {t('ui.delete')}
        </Menu.Item>
      </RowMenu>
      <Dialog opened={asking === 'edit'} close={done} title={name}>
        {() => edit(done)}
      </Dialog>
      <ConfirmDialog
        opened={asking === 'rotate'}
        close={done}
        title={t('webhooks.rotateTitle', { name })}
        action={t('webhooks.rotate')}
        run={async () => show([[t('webhooks.secret'), await rotate()]])}
      >
        {t('webhooks.rotateText')}
      </ConfirmDialog>
      <ConfirmDialog
        opened={asking === 'delete'}
        close={done}
        title={t('webhooks.deleteTitle', { name })}
        action={t('ui.delete')}
        run={remove}
      >
        {t('webhooks.deleteText')}
      </ConfirmDialog>
    </>
  )
}

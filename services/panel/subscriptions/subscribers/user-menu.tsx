/** Actions on an end user: grant, disable, erase. The list and the page of a user have the same. */
import { Button, Menu } from '@mantine/core'
import { IconGift } from '@tabler/icons-react'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { useNotifyCallbacks } from '../../ui/feedback/save-result.ts'
import { StatusBadge, type Tone } from '../../ui/feedback/status-badge.tsx'
import { ConfirmDialog } from '../../ui/forms/confirm-dialog.tsx'
import { Dialog } from '../../ui/forms/dialog.tsx'
import { RowMenu } from '../../ui/layout/row-menu.tsx'
import { useSubWrite } from '../shared/subscriptions-api.ts'
import { type EndUser, userName } from '../shared/user-picker.tsx'
import { GrantForm } from './grant-form.tsx'

const TONES: Record<string, Tone> = { '0': 'bad', '1': 'ok', '2': 'warn' }

export function UserStatus({ user }: { user: EndUser }) {
  const { t } = useTranslation()
  return (
    <StatusBadge tone={TONES[user.status] ?? 'quiet'}>
      {t(`subs.userStatus.${user.status as '0' | '1' | '2'}`, { defaultValue: user.status })}
    </StatusBadge>
  )
}

/** With `grantButton`, granting is a button of its own. Disabling is reversible and needs no confirmation; erasing does. */
export function UserActions(props: { user: EndUser; appKey: string; grantButton?: boolean; erased?: () => void }) {
  const { t } = useTranslation()
  const { user, appKey, grantButton } = props
  const [open, setOpen] = useState<'grant' | 'erase'>()
  const update = useSubWrite('updateUserOperation')
  const erase = useSubWrite('eraseUserOperation')
  const where = { params: { id: user.id }, query: { app_key: appKey } }
  const name = userName(user, t)
  const on = user.status === '1'
  const close = () => setOpen(undefined)
  const notify = useNotifyCallbacks()
  const toggle = () => update.mutate({ ...where, body: { status: on ? '0' : '1' } }, notify)
  return (
    <>
      {grantButton ? (
        <Button leftSection={<IconGift size={16} />} onClick={() => setOpen('grant')}>
          {t('subs.grant')}
        </Button>
      ) : null}
      <RowMenu name={name}>
        {grantButton ? null : <Menu.Item onClick={() => setOpen('grant')}>{t('subs.grant')}</Menu.Item>}
        <Menu.Item onClick={toggle}>{t(on ? 'access.disable' : 'access.enable')}</Menu.Item>
        <Menu.Divider />
        <Menu.Item color="stamp" onClick={() => setOpen('erase')}>
          {t('subs.erase')}
        </Menu.Item>
      </RowMenu>
      <Dialog opened={open === 'grant'} close={close} title={t('subs.grantTo', { name })}>
        {() => <GrantForm appKey={appKey} userId={user.id} close={close} />}
      </Dialog>
      <ConfirmDialog
        opened={open === 'erase'}
        close={close}
        title={t('subs.eraseTitle', { name })}
        phrase={name.trim()}
        action={t('subs.erase')}
        run={async () => {
          await erase.mutateAsync(where)
          props.erased?.()
        }}
      >
        {t('subs.eraseText')}
      </ConfirmDialog>
    </>
  )
}

/** Actions of an SMTP login. */

import { ActionIcon, Group, Menu, Tooltip } from '@mantine/core'
import { IconCheck, IconCopy } from '@tabler/icons-react'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { call } from '../api/client.ts'
import { useWrite } from '../api/hooks.ts'
import { useNotifyCallbacks } from '../ui/feedback/save-result.ts'
import { ConfirmDialog } from '../ui/forms/confirm-dialog.tsx'
import { Dialog } from '../ui/forms/dialog.tsx'
import { NeedsRole } from '../ui/forms/needs-role.tsx'
import type { ShowSecrets } from '../ui/forms/secret-once.tsx'
import { RowMenu } from '../ui/layout/row-menu.tsx'
import { useCopy } from '../ui/values/use-copy.ts'
import type { Credential } from './access-types.ts'
import { SmtpLimits } from './smtp-form.tsx'
import { SmtpPasswordForm } from './smtp-password-form.tsx'

type OpenDialog = 'limits' | 'password' | 'delete'

/** Button that copies the password, and the menu of a row. */
export function SmtpMenu({ login, show }: { login: Credential; show: ShowSecrets }) {
  const { t } = useTranslation()
  const [asking, setAsking] = useState<OpenDialog>()
  const patch = useWrite('patchCredentialOperation', ['listCredentialsOperation'])
  const notify = useNotifyCallbacks()
  const done = () => setAsking(undefined)
  const toggle = () => patch.mutate({ params: { id: login.id }, body: { disabled: !login.disabled } }, notify)
  return (
    <Group gap={4} wrap="nowrap" justify="flex-end" display="inline-flex">
      <CopyPassword login={login} />
      {login.managed_by ? null : (
        <RowMenu name={login.username} needs="developer">
          <Menu.Item onClick={() => setAsking('limits')}>{t('access.changeLimits')}</Menu.Item>
          <Menu.Item onClick={() => setAsking('password')}>{t('access.newPassword')}</Menu.Item>
          <Menu.Item onClick={toggle}>{t(login.disabled ? 'access.enable' : 'access.disable')}</Menu.Item>
          <Menu.Divider />
          <Menu.Item color="stamp" onClick={() => setAsking('delete')}>
            {t('ui.delete')}
          </Menu.Item>
        </RowMenu>
      )}
      <LoginDialogs login={login} asking={asking} done={done} show={show} />
    </Group>
  )
}

function LoginDialogs(props: {
  login: Credential
  asking: OpenDialog | undefined
  done: () => void
  show: ShowSecrets
}) {
  const { t } = useTranslation()
  const { login, asking, done, show } = props
  const remove = useWrite('deleteCredentialOperation', ['listCredentialsOperation'])
  const params = { id: login.id }
  return (
    <>
      <Dialog opened={asking === 'limits'} close={done} title={t('access.limitsOf', { name: login.username })}>
        {() => <SmtpLimits login={login} close={done} />}
      </Dialog>
      <Dialog
        opened={asking === 'password'}
        close={done}
        title={t('access.newPasswordTitle', { name: login.username })}
      >
        {() => <SmtpPasswordForm login={login} close={done} show={show} />}
      </Dialog>
      <ConfirmDialog
        opened={asking === 'delete'}
        close={done}
        title={t('access.deleteLoginTitle', { name: login.username })}
        phrase={login.username}
        action={t('ui.delete')}
        run={() => remove.mutateAsync({ params })}
      >
        {t('access.deleteLoginText')}
      </ConfirmDialog>
    </>
  )
}

/** Fetches the password only on request and never displays it. */
function CopyPassword({ login }: { login: Credential }) {
  const { t } = useTranslation()
  const { copied, copy } = useCopy()
  const fetchPassword = async () =>
    (await call('getCredentialPasswordOperation', { params: { id: login.id } })).password
  const label = login.copyable ? t('access.copyPassword') : t('access.notCopyable')
  return (
    <NeedsRole needs="developer">
      <Tooltip label={copied ? t('ui.copied') : label}>
        <ActionIcon
          variant="subtle"
          color="gray"
          aria-label={`${copied ? t('ui.copied') : label}: ${login.username}`}
          aria-disabled={!login.copyable}
          onClick={() => (login.copyable ? void copy(fetchPassword) : undefined)}
        >
          {copied ? <IconCheck size={16} /> : <IconCopy size={16} />}
        </ActionIcon>
      </Tooltip>
    </NeedsRole>
  )
}

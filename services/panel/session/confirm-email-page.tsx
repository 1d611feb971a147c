/** Confirms an e-mail address with the link of a mail: at a click, because some mail programs open links by themselves. */
import { Anchor, Text } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { useTranslation } from 'react-i18next'
import { useWrite } from '../api/hooks.ts'
import { Note } from '../ui/feedback/status-badge.tsx'
import { SubmitForm } from '../ui/forms/form.tsx'
import { useLinkToken } from './link-token.ts'
import { WelcomeFrame } from './welcome-frame.tsx'

export function ConfirmEmailPage() {
  const { t } = useTranslation()
  const token = useLinkToken()
  const confirm = useWrite('confirmEmailOperation', ['getSession'])
  return (
    <WelcomeFrame name={t('security.confirm')} title={t('security.confirm')} lead={t('security.confirmLead')}>
      {token === '' ? <Note tone="bad">{t('security.noToken')}</Note> : null}
      {confirm.isSuccess ? (
        <div role="status">
          <Note tone="info">{t('security.confirmed')}</Note>
        </div>
      ) : (
        <SubmitForm
          state={confirm}
          disabled={token === ''}
          submit={() => confirm.mutate({ body: { token } })}
          action={t('security.confirm')}
        >
          {null}
        </SubmitForm>
      )}
      <Text fz="sm">
        <Anchor renderRoot={props => <Link {...props} to="/" />}>{t('security.toPanel')}</Anchor>
      </Text>
    </WelcomeFrame>
  )
}

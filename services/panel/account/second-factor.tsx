/** The second factor of the own account: set up with an authenticator app, and turned off. */
import { Button, Group, Stack, Text, TextInput } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import type { Output } from '../api/client.ts'
import { useRead, useWrite } from '../api/hooks.ts'
import { Loaded } from '../ui/feedback/content-states.tsx'
import { notifySuccess } from '../ui/feedback/notifications.ts'
import { Dialog } from '../ui/forms/dialog.tsx'
import { SubmitForm } from '../ui/forms/form.tsx'
import { PasswordInput } from '../ui/forms/password-input.tsx'
import { useSecretOnce } from '../ui/forms/secret-once.tsx'
import { useFields } from '../ui/forms/use-fields.ts'
import { CodeBlock } from '../ui/values/code-block.tsx'
import { QrCode } from '../ui/values/qr-code.tsx'

export function SecondFactor() {
  const { t } = useTranslation()
  const queries = useQueryClient()
  const query = useRead('getMySecondFactor', {})
  const [open, setOpen] = useState(false)
  const close = () => setOpen(false)
  const [codes, showCodes] = useSecretOnce(t('security.recoveryCodes'))
  // Fetched again only here: a dialog that knows of the change earlier would drop the answer with the codes.
  const showRecovery = (recovery: readonly string[]) => {
    close()
    showCodes([[t('security.recoveryLead'), recovery.join('\n')]])
    for (const name of ['getMySecondFactor', 'listMySessions']) void queries.invalidateQueries({ queryKey: [name] })
  }
  return (
    <>
      <Loaded query={query}>
        {({ enabled, recovery_codes_left: left }) => (
          <Stack gap="md">
            <Text fz="sm" c="dimmed">
              {enabled
                ? `${t('security.factorOn')} ${t('security.codesLeft', { count: left })}`
                : t('security.factorOff')}
            </Text>
            <Group>
              <Button variant="default" onClick={() => setOpen(true)}>
                {enabled ? t('security.turnOff') : t('security.setUp')}
              </Button>
            </Group>
            <Dialog opened={open} close={close} title={t('security.factor')}>
              {() => (enabled ? <TurnOff close={close} /> : <SetUp close={close} done={showRecovery} />)}
            </Dialog>
          </Stack>
        )}
      </Loaded>
      {codes}
    </>
  )
}

type Secret = Output<'startMySecondFactor'>
interface SetUpProps {
  close: () => void
  done: (codes: readonly string[]) => void
}

function SetUp(props: SetUpProps) {
  const { t } = useTranslation()
  const start = useWrite('startMySecondFactor')
  const fields = useFields({ current_password: '' }, start.error)
  if (start.data) return <Confirm secret={start.data} {...props} />
  return (
    <SubmitForm
      state={start}
      fields={fields}
      submit={() => start.mutate({ body: fields.values })}
      action={t('security.setUp')}
      cancel={props.close}
    >
      <PasswordInput
        data-autofocus
        label={t('account.currentPassword')}
        autoComplete="current-password"
        {...fields.text('current_password')}
      />
    </SubmitForm>
  )
}

function Confirm({ secret, close, done }: SetUpProps & { secret: Secret }) {
  const { t } = useTranslation()
  const confirm = useWrite('confirmMySecondFactor')
  const fields = useFields({ code: '' }, confirm.error)
  const submit = () =>
    confirm.mutate({ body: { code: fields.values.code.trim() } }, { onSuccess: ({ codes }) => done(codes) })
  return (
    <SubmitForm state={confirm} fields={fields} submit={submit} action={t('security.turnOn')} cancel={close}>
      <Text fz="sm">{t('security.setUpLead')}</Text>
      <Group justify="center">
        <QrCode text={secret.uri} label={t('security.qrCode')} />
      </Group>
      <CodeBlock text={secret.secret} what={t('security.secret')} />
      <TextInput label={t('security.code')} autoComplete="one-time-code" {...fields.text('code')} />
    </SubmitForm>
  )
}

function TurnOff({ close }: { close: () => void }) {
  const { t } = useTranslation()
  const disable = useWrite('disableMySecondFactor', ['getMySecondFactor'])
  const fields = useFields({ current_password: '', code: '' }, disable.error)
  const submit = () =>
    disable.mutate(
      { body: { ...fields.values, code: fields.values.code.trim() } },
      {
        onSuccess() {
          close()
          notifySuccess(t('security.factorTurnedOff'))
        },
      },
    )
  return (
    <SubmitForm state={disable} fields={fields} submit={submit} action={t('security.turnOff')} cancel={close}>
      <Text fz="sm">{t('security.turnOffLead')}</Text>
      <PasswordInput
        data-autofocus
        label={t('account.currentPassword')}
        autoComplete="current-password"
        {...fields.text('current_password')}
      />
      <TextInput
        label={t('security.code')}
        description={t('security.codeHint')}
        autoComplete="one-time-code"
        {...fields.text('code')}
      />
    </SubmitForm>
  )
}

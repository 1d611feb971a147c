/** Asks who gets a new copy of a message, and links to the copy. */
import { Button, Group, Radio, Stack, Text } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { useTranslation } from 'react-i18next'
import type { Output } from '../../api/client.ts'
import { useWrite } from '../../api/hooks.ts'
import { Note } from '../../ui/feedback/status-badge.tsx'
import { Dialog } from '../../ui/forms/dialog.tsx'
import { SubmitForm } from '../../ui/forms/form.tsx'
import { useFields } from '../../ui/forms/use-fields.ts'

type Message = Output<'getEmail'>
type Recipients = 'failed' | 'all'

export function ResendDialog(props: { message: Message; opened: boolean; close: () => void }) {
  const { t } = useTranslation()
  return (
    <Dialog opened={props.opened} close={props.close} title={t('messages.resendTitle')}>
      {() => <ResendForm message={props.message} close={props.close} />}
    </Dialog>
  )
}

function ResendForm({ message, close }: { message: Message; close: () => void }) {
  const { t } = useTranslation()
  const resend = useWrite('resendEmail', ['listEmails'])
  const all = message.recipients.length
  const failed = message.recipients.filter(({ status }) => status === 'bounced' || status === 'failed').length
  const fields = useFields({ to: (failed > 0 ? 'failed' : 'all') as Recipients }, resend.error)
  const { to } = fields.values
  if (resend.data) return <Resent id={resend.data.id} close={close} />
  return (
    <SubmitForm
      state={resend}
      submit={() => resend.mutate({ params: { id: message.id }, body: { to } })}
      action={t('messages.resendAction', { count: to === 'failed' ? failed : all })}
      cancel={close}
    >
      <Radio.Group
        label={t('messages.resendTo')}
        {...fields.value('to')}
        onChange={value => fields.change({ to: value === 'failed' ? 'failed' : 'all' })}
      >
        <Stack gap="xs" mt={6}>
          <Radio
            value="failed"
            disabled={failed === 0}
            label={failed === 0 ? t('messages.resendNone') : t('messages.resendFailed', { count: failed })}
          />
          <Radio value="all" label={t('messages.resendAll', { count: all })} />
        </Stack>
      </Radio.Group>
      {to === 'all' && failed < all ? <Note tone="warn">{t('messages.resendTwice')}</Note> : null}
    </SubmitForm>
  )
}

function Resent({ id, close }: { id: string; close: () => void }) {
  const { t } = useTranslation()
  return (
    <Stack gap="md" role="status">
      <Text fz="sm">{t('messages.resent')}</Text>
      <span className="pw-mono">{id}</span>
      <Group justify="flex-end" gap="xs">
        <Button variant="default" onClick={close}>
          {t('ui.close')}
        </Button>
        <Button renderRoot={props => <Link {...props} to="/messages/$id" params={{ id }} onClick={close} />}>
          {t('messages.view')}
        </Button>
      </Group>
    </Stack>
  )
}

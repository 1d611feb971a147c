/** Where the mail of a domain goes: to its recipients, into its inbox, or to one address. */
import { Radio, Stack, Text, TextInput } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { useTranslation } from 'react-i18next'
import type { Output } from '../../api/client.ts'
import { useWrite } from '../../api/hooks.ts'
import { notifySuccess } from '../../ui/feedback/notifications.ts'
import { SubmitForm } from '../../ui/forms/form.tsx'
import { useFields } from '../../ui/forms/use-fields.ts'
import { Card } from '../../ui/layout/page.tsx'

type Domain = Output<'getDomainOperation'>

const MODES = ['live', 'capture', 'redirect'] as const

/** The form is reset when the stored settings change elsewhere. */
export function DeliverySettings({ domain }: { domain: Domain }) {
  const { t } = useTranslation()
  const inbox = (
    <Link to="/domains/$id/inbox" params={{ id: domain.name }} className="pw-link">
      {t('inbox.open')}
    </Link>
  )
  return (
    <Card title={t('inbox.delivery')} aside={inbox}>
      <Stack gap="md">
        <Text fz="sm" c="dimmed">
          {t('inbox.deliveryHint')}
        </Text>
        <SettingsForm key={`${domain.delivery} ${domain.redirect_to}`} domain={domain} />
      </Stack>
    </Card>
  )
}

function SettingsForm({ domain }: { domain: Domain }) {
  const { t } = useTranslation()
  const save = useWrite('patchDomainOperation', ['getDomainOperation', 'listDomainsOperation'])
  const fields = useFields({ delivery: domain.delivery, redirect_to: domain.redirect_to ?? '' }, save.error)
  const { delivery, redirect_to } = fields.values
  const submit = () =>
    save.mutate(
      { params: { id: domain.id }, body: { delivery, redirect_to: delivery === 'redirect' ? redirect_to : null } },
      { onSuccess: () => notifySuccess(t('inbox.saved')) },
    )
  return (
    <SubmitForm needs="admin" state={save} fields={fields} submit={submit} action={t('ui.save')}>
      <Radio.Group
        aria-label={t('inbox.delivery')}
        {...fields.value('delivery')}
        onChange={value => fields.change({ delivery: MODES.find(mode => mode === value) ?? 'live' })}
      >
        <Stack gap="xs">
          {MODES.map(mode => (
            <Radio key={mode} value={mode} label={t(`inbox.mode.${mode}`)} description={t(`inbox.modeHint.${mode}`)} />
          ))}
        </Stack>
      </Radio.Group>
      {delivery === 'redirect' ? (
        <TextInput type="email" label={t('inbox.redirectTo')} autoComplete="off" {...fields.text('redirect_to')} />
      ) : null}
    </SubmitForm>
  )
}

/** What of a domain's mail is tracked, with what that means for recipients. */
import { Stack, Switch, Text } from '@mantine/core'
import { useTranslation } from 'react-i18next'
import type { Output } from '../../api/client.ts'
import { useWrite } from '../../api/hooks.ts'
import { useTrial } from '../../session/session.ts'
import { notifySuccess } from '../../ui/feedback/notifications.ts'
import { SubmitForm } from '../../ui/forms/form.tsx'
import { useFields } from '../../ui/forms/use-fields.ts'
import { Card } from '../../ui/layout/page.tsx'

type Domain = Output<'getDomainOperation'>

/** The form is reset when the stored settings change elsewhere. */
export function TrackingSettings({ domain }: { domain: Domain }) {
  const { t } = useTranslation()
  // Captured mail goes nowhere: its links lead through the service itself, whatever DNS has.
  const isCaptured = useTrial()
  return (
    <Card title={t('tracking.title')}>
      <Stack gap="md">
        <Text fz="sm" c="dimmed">
          {t('tracking.hint')}
        </Text>
        {waitsForTrackingHost(domain) ? (
          <Text fz="sm">
            {t(isCaptured ? 'tracking.captured' : 'tracking.notYet')}{' '}
            <a href="#record-tracking" className="pw-link">
              {t('tracking.toRecord')}
            </a>
          </Text>
        ) : null}
        <SettingsForm key={JSON.stringify(domain.tracking)} domain={domain} />
      </Stack>
    </Card>
  )
}

/** Its mail is to be tracked, and its host does not serve links yet. */
export function waitsForTrackingHost({ records }: Pick<Domain, 'records'>): boolean {
  return records.some(({ purpose, status }) => purpose === 'tracking' && status !== 'verified')
}

function SettingsForm({ domain }: { domain: Domain }) {
  const { t } = useTranslation()
  const save = useWrite('patchDomainOperation', ['getDomainOperation'])
  const fields = useFields(domain.tracking, save.error)
  const submit = () =>
    save.mutate(
      { params: { id: domain.id }, body: { tracking: fields.values } },
      { onSuccess: () => notifySuccess(t('tracking.saved')) },
    )
  return (
    <SubmitForm needs="admin" state={save} fields={fields} submit={submit} action={t('ui.save')}>
      <Switch label={t('tracking.opens')} description={t('tracking.opensHint')} {...fields.flag('opens')} />
      <Switch label={t('tracking.clicks')} description={t('tracking.clicksHint')} {...fields.flag('clicks')} />
      <div>
        <Text fz="sm" fw={600}>
          {t('tracking.privacyTitle')}
        </Text>
        <Text fz="sm" c="dimmed">
          {t('tracking.privacy')}
        </Text>
      </div>
    </SubmitForm>
  )
}

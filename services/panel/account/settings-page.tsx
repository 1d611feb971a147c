/** Settings of the user's own account: language, time zone, colour scheme, password. */
import { SegmentedControl, Select, Stack, useMantineColorScheme } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'
import { useWrite } from '../api/hooks.ts'
import { changeLanguage } from '../i18n/index.ts'
import { sessionQuery, useAccount, useSaveLanguage } from '../session/session.ts'
import { LANGUAGES, type Language, setPreferences, usePreferences } from '../state/preferences.ts'
import { notifyError, notifySuccess } from '../ui/feedback/notifications.ts'
import { SubmitForm } from '../ui/forms/form.tsx'
import { PasswordInput } from '../ui/forms/password-input.tsx'
import { SearchableSelect } from '../ui/forms/searchable-select.tsx'
import { useFields } from '../ui/forms/use-fields.ts'
import { Card, Page } from '../ui/layout/page.tsx'
import { browserTimeZone } from '../ui/values/time-zone.ts'
import { EmailForm } from './email-form.tsx'
import { PasskeysCard } from './passkeys.tsx'
import { SecondFactor } from './second-factor.tsx'
import { Sessions } from './sessions.tsx'

/** `supportedValuesOf` does not contain UTC. */
const TIME_ZONES = ['UTC', ...Intl.supportedValuesOf('timeZone').filter(timeZone => timeZone !== 'UTC')]

export function SettingsPage() {
  const { t } = useTranslation()
  const account = useAccount()
  return (
    <Page title={t('account.settingsTitle')} lead={t('account.settingsLead', { name: account.username })}>
      <Card title={t('account.appearance')}>
        <Appearance />
      </Card>
      <Card title={t('account.changePassword')}>
        <PasswordForm />
      </Card>
      <Card title={t('security.email')}>
        <EmailForm />
      </Card>
      <Card title={t('security.factor')}>
        <SecondFactor />
      </Card>
      <PasskeysCard />
      <Card title={t('security.sessions')}>
        <Sessions />
      </Card>
    </Page>
  )
}

function Appearance() {
  const { t } = useTranslation()
  const queries = useQueryClient()
  const { language, timeZone } = usePreferences()
  const { colorScheme, setColorScheme } = useMantineColorScheme()
  const patch = useWrite('patchMe')
  const saveLanguage = useSaveLanguage()
  const saveTimeZone = (tz: string) =>
    patch.mutate(
      { body: { tz } },
      {
        onSuccess: user => queries.setQueryData(sessionQuery.queryKey, before => before && { ...before, user }),
        onError: error => notifyError(error, t),
      },
    )
  const setLanguage = async (tag: Language) => {
    await changeLanguage(tag)
    await saveLanguage(tag)
  }
  return (
    <Stack gap="md" maw={420}>
      <Select
        label={t('ui.language')}
        data={Object.entries(LANGUAGES).map(([value, label]) => ({ value, label }))}
        value={language}
        allowDeselect={false}
        onChange={value => void setLanguage(value === 'zh-CN' ? 'zh-CN' : 'en')}
      />
      <SearchableSelect
        label={t('account.zone')}
        description={t('account.zoneHint')}
        limit={100}
        data={TIME_ZONES}
        value={timeZone ?? browserTimeZone()}
        onChange={value => {
          if (!value) return
          setPreferences({ timeZone: value })
          saveTimeZone(value)
        }}
      />
      <div>
        <div id="scheme-label" className="pw-label">
          {t('account.scheme')}
        </div>
        <SegmentedControl
          aria-labelledby="scheme-label"
          value={colorScheme}
          onChange={value => setColorScheme(value)}
          data={(['light', 'dark', 'auto'] as const).map(value => ({ value, label: t(`account.schemes.${value}`) }))}
        />
      </div>
    </Stack>
  )
}

function PasswordForm() {
  const { t } = useTranslation()
  const change = useWrite('putMyPassword')
  const fields = useFields({ current_password: '', new_password: '' }, change.error)
  const submit = () =>
    change.mutate(
      { body: fields.values },
      {
        onSuccess: () => {
          fields.change({ current_password: '', new_password: '' })
          notifySuccess(t('account.passwordChanged'))
        },
      },
    )
  return (
    <div className="pw-narrow">
      <SubmitForm state={change} fields={fields} submit={submit} action={t('account.changePassword')}>
        <PasswordInput
          label={t('account.currentPassword')}
          autoComplete="current-password"
          {...fields.text('current_password')}
        />
        <PasswordInput
          label={t('account.newPassword')}
          description={t('account.newPasswordHint')}
          autoComplete="new-password"
          {...fields.text('new_password')}
        />
      </SubmitForm>
    </div>
  )
}

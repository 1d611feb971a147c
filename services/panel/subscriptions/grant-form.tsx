/** Granting a period of a plan by hand. */
import { NumberInput, Select, Stack, TextInput } from '@mantine/core'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { SubmitForm } from '../ui/form.tsx'
import { tellDone } from '../ui/notify.ts'
import { useSubRead, useSubWrite } from './api.ts'

/** The form; for a user that was chosen already, only the plan is asked for. */
export function GrantForm({ appKey, userId, close }: { appKey: string; userId?: string; close: () => void }) {
  const { t } = useTranslation()
  const grant = useSubWrite('grantSubscription')
  const plans = useSubRead('listPlansOperation', { query: { app_key: appKey, pageSize: 100 } })
  const [user, setUser] = useState(userId ?? '')
  const [plan, setPlan] = useState<string | null>(null)
  const [days, setDays] = useState<number | string>('')
  const submit = () =>
    grant.mutate(
      {
        query: { app_key: appKey },
        body: { user_id: user.trim(), plan_id: plan ?? '', ...(days === '' ? {} : { days }) },
      },
      {
        onSuccess: () => {
          close()
          tellDone(t('ui.saved'))
        },
      },
    )
  return (
    <SubmitForm state={grant} submit={submit} action={t('subs.grant')} cancel={close}>
      <Stack gap="md">
        {userId === undefined ? (
          <TextInput
            data-autofocus
            label={t('subs.userId')}
            description={t('subs.userIdHint')}
            inputMode="numeric"
            value={user}
            onChange={event => setUser(event.currentTarget.value)}
          />
        ) : null}
        <Select
          label={t('subs.plan')}
          data={plans.data?.plans.map(one => ({ value: one.id, label: one.name })) ?? []}
          value={plan}
          onChange={setPlan}
          searchable
        />
        <NumberInput
          label={t('subs.durationDays')}
          description={t('subs.grantDaysHint')}
          min={0}
          max={36_500}
          allowDecimal={false}
          value={days}
          onChange={setDays}
        />
      </Stack>
    </SubmitForm>
  )
}

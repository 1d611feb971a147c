/** Form that grants a subscription. */
import { NumberInput } from '@mantine/core'
import { useTranslation } from 'react-i18next'
import { useSaveCallbacks } from '../../ui/feedback/save-result.ts'
import { SubmitForm } from '../../ui/forms/form.tsx'
import { SearchableSelect } from '../../ui/forms/searchable-select.tsx'
import { useFields } from '../../ui/forms/use-fields.ts'
import { useSubRead, useSubWrite } from '../shared/subscriptions-api.ts'
import { UserPicker } from '../shared/user-picker.tsx'

/** With `userId`, the field for the user is omitted. */
export function GrantForm({ appKey, userId, close }: { appKey: string; userId?: string; close: () => void }) {
  const { t } = useTranslation()
  const grant = useSubWrite('grantSubscription')
  const plans = useSubRead('listPlansOperation', { query: { app_key: appKey, pageSize: 100 } })
  const saved = useSaveCallbacks(close)
  const start = { user_id: userId ?? '', plan_id: null as string | null, days: '' as number | string }
  const fields = useFields(start, grant.error)
  const submit = () => {
    const { user_id, plan_id, days } = fields.values
    const body = { user_id, plan_id: plan_id ?? '', ...(days === '' ? {} : { days }) }
    grant.mutate({ query: { app_key: appKey }, body }, saved)
  }
  return (
    <SubmitForm state={grant} fields={fields} submit={submit} action={t('subs.grant')} cancel={close}>
      {userId === undefined ? (
        <UserPicker data-autofocus appKey={appKey} label={t('subs.user')} {...fields.value('user_id')} />
      ) : null}
      <SearchableSelect
        data-autofocus={userId !== undefined}
        label={t('subs.plan')}
        data={plans.data?.plans.map(one => ({ value: one.id, label: one.name })) ?? []}
        openOnFocus={false}
        // Otherwise the library marks none a moment after the list opens, and an arrow key before that is lost.
        selectFirstOptionOnDropdownOpen={fields.values.plan_id === null}
        {...fields.value('plan_id')}
      />
      <NumberInput
        label={t('subs.durationDays')}
        description={t('subs.grantDaysHint')}
        min={0}
        max={36_500}
        allowDecimal={false}
        {...fields.value('days')}
      />
    </SubmitForm>
  )
}

/** Form of a plan. Changes do not affect existing subscriptions. */
import { Group, NumberInput, Switch, Textarea, TextInput } from '@mantine/core'
import { useTranslation } from 'react-i18next'
import { useSaveCallbacks } from '../../ui/feedback/save-result.ts'
import { SubmitForm } from '../../ui/forms/form.tsx'
import { useFields } from '../../ui/forms/use-fields.ts'
import { useSubWrite } from '../shared/subscriptions-api.ts'
import { bodyOf, fieldsOf, type Plan } from './plan-fields.ts'

export function PlanForm({ appKey, plan, close }: { appKey: string; plan?: Plan; close: () => void }) {
  const { t } = useTranslation()
  const create = useSubWrite('createPlanOperation')
  const update = useSubWrite('updatePlanOperation')
  const write = plan ? update : create
  const saved = useSaveCallbacks(close)
  const fields = useFields(() => fieldsOf(plan), write.error)
  const submit = () => {
    const body = bodyOf(fields.values)
    const query = { app_key: appKey }
    if (plan) update.mutate({ params: { id: plan.id }, query, body: { ...body, version: plan.version } }, saved)
    else create.mutate({ query, body }, saved)
  }
  return (
    <SubmitForm state={write} fields={fields} submit={submit} action={t(plan ? 'ui.save' : 'ui.create')} cancel={close}>
      <TextInput data-autofocus label={t('subs.name')} {...fields.text('name')} />
      <Textarea label={t('subs.description')} autosize minRows={2} {...fields.text('description')} />
      <Group grow align="flex-start">
        <NumberInput label={t('subs.price')} {...MONEY} {...fields.value('price')} />
        <NumberInput label={t('subs.originalPrice')} {...MONEY} {...fields.value('original_price')} />
      </Group>
      <Group grow align="flex-start">
        <NumberInput
          label={t('subs.durationDays')}
          description={t('subs.durationHint')}
          {...WHOLE}
          max={36_500}
          {...fields.count('duration')}
        />
        <NumberInput
          label={t('subs.sortOrder')}
          description={t('subs.sortHint')}
          {...WHOLE}
          max={9999}
          {...fields.count('sort_order')}
        />
      </Group>
      <Textarea
        label={t('subs.features')}
        description={t('subs.featuresHint')}
        autosize
        minRows={3}
        {...fields.text('features')}
      />
      <Group grow align="flex-start">
        <NumberInput
          label={t('subs.trialDays')}
          description={t('subs.trialHint')}
          {...WHOLE}
          max={365}
          {...fields.count('trial_days')}
        />
        <NumberInput
          label={t('subs.graceDays')}
          description={t('subs.graceHint')}
          {...WHOLE}
          max={90}
          {...fields.count('grace_days')}
        />
      </Group>
      <Switch label={t('subs.mayRenew')} {...fields.flag('auto_renew_allowed')} />
      <Switch label={t('subs.forSale')} {...fields.flag('status')} />
    </SubmitForm>
  )
}

const MONEY = { prefix: '¥', min: 0, max: 999_999.99, decimalScale: 2 }
const WHOLE = { min: 0, allowDecimal: false }

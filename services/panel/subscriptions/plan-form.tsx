/** Making or changing a plan. Who holds it keeps what was bought. */
import { Group, NumberInput, Stack, Switch, Textarea, TextInput } from '@mantine/core'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { SubmitForm } from '../ui/form.tsx'
import { tellDone } from '../ui/notify.ts'
import { type SubOutput, useSubWrite } from './api.ts'
import { featuresOf, featuresText } from './features.ts'

type Plan = SubOutput<'listPlansOperation'>['plans'][number]

/** The form, of a new plan or an existing one. */
export function PlanForm({ appKey, plan, close }: { appKey: string; plan?: Plan; close: () => void }) {
  const { t } = useTranslation()
  const create = useSubWrite('createPlanOperation')
  const update = useSubWrite('updatePlanOperation')
  const [fields, setFields] = useState(() => fieldsOf(plan))
  const set = (change: Partial<typeof fields>) => setFields({ ...fields, ...change })
  const done = {
    onSuccess: () => {
      close()
      tellDone(t('ui.saved'))
    },
  }
  const submit = () => {
    const body = bodyOf(fields)
    const query = { app_key: appKey }
    if (plan) update.mutate({ params: { id: plan.id }, query, body: { ...body, version: plan.version } }, done)
    else create.mutate({ query, body }, done)
  }
  return (
    <SubmitForm state={plan ? update : create} submit={submit} action={t('ui.save')} cancel={close}>
      <Stack gap="md">
        <TextInput
          data-autofocus
          label={t('subs.name')}
          value={fields.name}
          onChange={event => set({ name: event.currentTarget.value })}
        />
        <Textarea
          label={t('subs.description')}
          autosize
          minRows={2}
          value={fields.description}
          onChange={event => set({ description: event.currentTarget.value })}
        />
        <Group grow align="flex-start">
          <Money label={t('subs.price')} value={fields.price} set={price => set({ price })} />
          <Money label={t('subs.originalPrice')} value={fields.original} set={original => set({ original })} />
        </Group>
        <Group grow align="flex-start">
          <NumberInput
            label={t('subs.durationDays')}
            description={t('subs.durationHint')}
            min={0}
            max={36_500}
            allowDecimal={false}
            value={fields.duration}
            onChange={value => set({ duration: Number(value) || 0 })}
          />
          <NumberInput
            label={t('subs.sortOrder')}
            description={t('subs.sortHint')}
            min={0}
            max={9999}
            allowDecimal={false}
            value={fields.sort}
            onChange={value => set({ sort: Number(value) || 0 })}
          />
        </Group>
        <Textarea
          label={t('subs.features')}
          description={t('subs.featuresHint')}
          autosize
          minRows={3}
          value={fields.features}
          onChange={event => set({ features: event.currentTarget.value })}
        />
        <Group grow align="flex-start">
          <NumberInput
            label={t('subs.trialDays')}
            description={t('subs.trialHint')}
            min={0}
            max={365}
            allowDecimal={false}
            value={fields.trial}
            onChange={value => set({ trial: Number(value) || 0 })}
          />
          <NumberInput
            label={t('subs.graceDays')}
            description={t('subs.graceHint')}
            min={0}
            max={90}
            allowDecimal={false}
            value={fields.grace}
            onChange={value => set({ grace: Number(value) || 0 })}
          />
        </Group>
        <Switch
          label={t('subs.mayRenew')}
          checked={fields.mayRenew}
          onChange={event => set({ mayRenew: event.currentTarget.checked })}
        />
        <Switch
          label={t('subs.forSale')}
          checked={fields.forSale}
          onChange={event => set({ forSale: event.currentTarget.checked })}
        />
      </Stack>
    </SubmitForm>
  )
}

function Money(props: { label: string; value: string | number; set: (value: string | number) => void }) {
  return (
    <NumberInput
      label={props.label}
      prefix="¥"
      min={0}
      max={999_999.99}
      decimalScale={2}
      value={props.value}
      onChange={props.set}
    />
  )
}

function fieldsOf(plan: Plan | undefined) {
  return {
    name: plan?.name ?? '',
    description: plan?.description ?? '',
    price: (plan?.price ?? '') as string | number,
    original: (plan?.original_price ?? '') as string | number,
    duration: Number(plan?.duration ?? 30),
    sort: Number(plan?.sort_order ?? 0),
    features: featuresOf(plan?.features).join('\n'),
    forSale: plan?.status !== '0',
    trial: Number(plan?.trial_days ?? 0),
    grace: Number(plan?.grace_days ?? 0),
    mayRenew: plan?.auto_renew_allowed !== '0',
  }
}

function bodyOf(fields: ReturnType<typeof fieldsOf>) {
  return {
    name: fields.name.trim(),
    description: fields.description,
    price: fields.price === '' ? 0 : fields.price,
    ...(fields.original === '' ? {} : { original_price: fields.original }),
    duration: fields.duration,
    sort_order: String(fields.sort),
    features: featuresText(fields.features),
    status: fields.forSale ? '1' : '0',
    trial_days: String(fields.trial),
    grace_days: String(fields.grace),
    auto_renew_allowed: fields.mayRenew ? '1' : '0',
  }
}

/** Form of a feature switch: value by type, release notes, rollout, rules, schedules. */
import { Box, NumberInput, Select, Slider, Switch, Textarea, TextInput } from '@mantine/core'
import { useTranslation } from 'react-i18next'
import { useSaveCallbacks } from '../../ui/feedback/save-result.ts'
import { SubmitForm } from '../../ui/forms/form.tsx'
import { NestedErrorsOf } from '../../ui/forms/nested-errors.tsx'
import { type Fields, useFields } from '../../ui/forms/use-fields.ts'
import { useSubWrite } from '../shared/subscriptions-api.ts'
import { ReleaseNotesEditor } from './release-notes-editor.tsx'
import {
  bodyOf,
  fieldsOf,
  SWITCH_TYPES,
  type SwitchFields,
  type SwitchRecord,
  type SwitchType,
} from './switch-fields.ts'
import { RulesEditor } from './switch-rules.tsx'
import { SchedulesEditor } from './switch-schedules.tsx'

export function SwitchForm({ appKey, record, close }: { appKey: string; record?: SwitchRecord; close: () => void }) {
  const { t } = useTranslation()
  const create = useSubWrite('createSwitchOperation')
  const update = useSubWrite('updateSwitchOperation')
  const write = record ? update : create
  const saved = useSaveCallbacks(close)
  const fields = useFields(() => fieldsOf(record), write.error)
  const { values, change } = fields
  const submit = () => {
    const body = bodyOf(values)
    const query = { app_key: appKey }
    if (!record) return create.mutate({ query, body: { ...body, name: values.name.trim() } }, saved)
    return update.mutate({ query: { ...query, name: record.name }, body: { ...body, version: record.version } }, saved)
  }
  return (
    <SubmitForm
      state={write}
      fields={fields}
      shown={{ ...values, ...SHOWN_ERRORS }}
      submit={submit}
      action={t('ui.save')}
      cancel={close}
      byButtonOnly
    >
      {record ? null : (
        <TextInput
          data-autofocus
          label={t('subs.name')}
          description={t('subs.switchNameHint')}
          placeholder="new_checkout"
          {...fields.text('name')}
        />
      )}
      <TextInput label={t('subs.description')} {...fields.text('description')} />
      <Select
        label={t('subs.type')}
        data={SWITCH_TYPES.map(value => ({ value, label: t(`subs.types.${value}`) }))}
        allowDeselect={false}
        {...fields.value('type')}
        onChange={value => change(initialFields(SWITCH_TYPES.find(type => type === value) ?? 'boolean'))}
      />
      <ValueField fields={fields} />
      <NestedErrorsOf error={write.error} controls={CONTROLS}>
        <ReleaseNotesEditor fields={values} set={change} />
        <RollOut fields={fields} />
        <RulesEditor rules={values.rules} set={rules => change({ rules })} />
        <SchedulesEditor schedules={values.schedules} set={schedules => change({ schedules })} />
      </NestedErrorsOf>
      <Switch
        label={t('subs.clientVisible')}
        description={t('subs.clientVisibleHint')}
        {...fields.flag('client_visible')}
      />
    </SubmitForm>
  )
}

/** Fields of the request whose errors an editor shows, besides those of the form. */
const SHOWN_ERRORS = { logs: true }

/** Paths of the request body that have a control in an editor. */
const CONTROLS =
  /^(?:rules\.\d+\.(?:name|value|rollout|conditions\.\d+\.(?:attribute|operator|values))|schedules\.\d+\.(?:at|value|enabled|rollout)|logs\.\d+\.(?:version|date|title|features|improvements|fixes))(?:\.\d+)*$/

const INITIAL_VALUES: Record<SwitchType, string> = { boolean: '0', number: '0', string: '', json: '{}', changelog: '' }

/** A changed type resets the value to one that is valid for it. */
function initialFields(type: SwitchType): Partial<SwitchFields> {
  return { type, value: INITIAL_VALUES[type] }
}

function ValueField({ fields }: { fields: Fields<SwitchFields> }) {
  const { t } = useTranslation()
  const label = t('subs.value')
  const { type, value } = fields.values
  const { error } = fields.value('value')
  if (type === 'changelog') return null
  if (type === 'boolean')
    return (
      <Switch
        label={t('subs.on')}
        checked={['1', 'true'].includes(value)}
        {...(error ? { error } : {})}
        onChange={event => fields.change({ value: event.currentTarget.checked ? '1' : '0' })}
      />
    )
  if (type === 'number')
    return (
      <NumberInput
        label={label}
        {...fields.value('value')}
        onChange={typed => fields.change({ value: String(typed) })}
      />
    )
  return (
    <Textarea
      label={label}
      autosize
      minRows={type === 'json' ? 4 : 1}
      spellCheck={type === 'string'}
      {...(type === 'json' ? { ff: 'monospace' } : {})}
      {...fields.text('value')}
    />
  )
}

function RollOut({ fields }: { fields: Fields<SwitchFields> }) {
  const { t } = useTranslation()
  return (
    <div>
      <NumberInput
        label={t('subs.rollout')}
        description={t('subs.rolloutHint')}
        suffix=" %"
        min={0}
        max={100}
        decimalScale={3}
        {...fields.count('rollout')}
      />
      <Box px={4} pt="sm">
        <Slider
          value={fields.values.rollout}
          onChange={rollout => fields.change({ rollout })}
          label={null}
          thumbLabel={t('subs.rollout')}
        />
      </Box>
    </div>
  )
}

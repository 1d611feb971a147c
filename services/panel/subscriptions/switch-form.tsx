/** Making or changing a switch: value by type, release notes, roll-out. */
import { Box, NumberInput, Select, Slider, Stack, Switch, Textarea, TextInput } from '@mantine/core'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { SubmitForm } from '../ui/form.tsx'
import { tellDone } from '../ui/notify.ts'
import { useSubWrite } from './api.ts'
import { NotesEditor } from './notes-editor.tsx'
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

/** The form. */
export function SwitchForm({ appKey, record, close }: { appKey: string; record?: SwitchRecord; close: () => void }) {
  const { t } = useTranslation()
  const create = useSubWrite('createSwitchOperation')
  const update = useSubWrite('updateSwitchOperation')
  const [fields, setFields] = useState(() => fieldsOf(record))
  const set = (change: Partial<SwitchFields>) => setFields({ ...fields, ...change })
  const done = {
    onSuccess: () => {
      close()
      tellDone(t('ui.saved'))
    },
  }
  const submit = () => {
    const body = bodyOf(fields)
    if (!record) return create.mutate({ query: { app_key: appKey }, body: { ...body, name: fields.name.trim() } }, done)
    return update.mutate(
      { query: { app_key: appKey, name: record.name }, body: { ...body, version: record.version } },
      done,
    )
  }
  return (
    <SubmitForm state={record ? update : create} submit={submit} action={t('ui.save')} cancel={close}>
      <Stack gap="md">
        {record ? null : (
          <TextInput
            data-autofocus
            label={t('subs.name')}
            description={t('subs.switchNameHint')}
            placeholder="new_checkout"
            value={fields.name}
            onChange={event => set({ name: event.currentTarget.value })}
          />
        )}
        <TextInput
          label={t('subs.description')}
          value={fields.description}
          onChange={event => set({ description: event.currentTarget.value })}
        />
        <Select
          label={t('subs.type')}
          data={SWITCH_TYPES.map(value => ({ value, label: t(`subs.types.${value}`) }))}
          value={fields.type}
          allowDeselect={false}
          onChange={value => set(startOf(SWITCH_TYPES.find(type => type === value) ?? 'boolean'))}
        />
        <ValueField fields={fields} set={set} />
        <NotesEditor fields={fields} set={set} />
        <RollOut value={fields.rollout} set={rollout => set({ rollout })} />
        <RulesEditor rules={fields.rules} set={rules => set({ rules })} />
        <SchedulesEditor schedules={fields.schedules} set={schedules => set({ schedules })} />
        <Switch
          label={t('subs.clientVisible')}
          description={t('subs.clientVisibleHint')}
          checked={fields.clientVisible}
          onChange={event => set({ clientVisible: event.currentTarget.checked })}
        />
      </Stack>
    </SubmitForm>
  )
}

const START: Record<SwitchType, string> = { boolean: '0', number: '0', string: '', json: '{}', changelog: '' }

/** A new type begins with a value that fits it. */
function startOf(type: SwitchType): Partial<SwitchFields> {
  return { type, value: START[type] }
}

function ValueField({ fields, set }: { fields: SwitchFields; set: (change: Partial<SwitchFields>) => void }) {
  const { t } = useTranslation()
  const label = t('subs.value')
  if (fields.type === 'changelog') return null
  if (fields.type === 'boolean')
    return (
      <Switch
        label={t('subs.on')}
        checked={['1', 'true'].includes(fields.value)}
        onChange={event => set({ value: event.currentTarget.checked ? '1' : '0' })}
      />
    )
  if (fields.type === 'number')
    return <NumberInput label={label} value={fields.value} onChange={value => set({ value: String(value) })} />
  return (
    <Textarea
      label={label}
      autosize
      minRows={fields.type === 'json' ? 4 : 1}
      spellCheck={fields.type === 'string'}
      {...(fields.type === 'json' ? { ff: 'monospace' } : {})}
      value={fields.value}
      onChange={event => set({ value: event.currentTarget.value })}
    />
  )
}

function RollOut({ value, set }: { value: number; set: (value: number) => void }) {
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
        value={value}
        onChange={next => set(Number(next) || 0)}
      />
      <Box px={4} pt="sm">
        <Slider value={value} onChange={set} label={null} thumbLabel={t('subs.rollout')} />
      </Box>
    </div>
  )
}

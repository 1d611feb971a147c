/** Type, value and rollout of a switch. */
import { Box, NumberInput, Select, Slider, Switch, Textarea, TextInput } from '@mantine/core'
import type { CSSProperties } from 'react'
import { useTranslation } from 'react-i18next'
import type { Fields } from '../../ui/forms/use-fields.ts'
import { SWITCH_TYPES } from '../shared/subscriptions-search.ts'
import type { SwitchFields, SwitchType } from './switch-fields.ts'

interface Props {
  fields: Fields<SwitchFields>
}

const INITIAL_VALUES: Record<SwitchType, string> = { boolean: '0', number: '0', string: '', json: '{}', changelog: '' }

/** A changed type resets the value to one that is valid for it. */
function initialFields(type: SwitchType): Partial<SwitchFields> {
  return { type, value: INITIAL_VALUES[type] }
}

export function TypeField({ fields }: Props) {
  const { t } = useTranslation()
  return (
    <Select
      label={t('subs.type')}
      data={SWITCH_TYPES.map(value => ({ value, label: t(`subs.types.${value}`) }))}
      allowDeselect={false}
      {...fields.value('type')}
      onChange={value => fields.change(initialFields(SWITCH_TYPES.find(type => type === value) ?? 'boolean'))}
    />
  )
}

export function ValueField({ fields }: Props) {
  const { t } = useTranslation()
  const label = t('subs.value')
  const { type, value } = fields.values
  const { error } = fields.value('value')
  if (type === 'changelog') return null
  if (type === 'boolean')
    return (
      <Switch
        label={t('subs.on')}
        description={t('subs.booleanValueHint')}
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

/** A value of a rule or schedule: on or off for boolean switches, else text. `unset` names the empty value. */
export function OptionalValue(props: {
  type: SwitchType
  value: string
  set: (value: string) => void
  unset: string
  input: { label: string; description?: string; error?: string; style?: CSSProperties }
}) {
  const { t } = useTranslation()
  const { type, value, set, unset, input } = props
  if (type !== 'boolean')
    return <TextInput {...input} placeholder={unset} value={value} onChange={event => set(event.currentTarget.value)} />
  return (
    <Select
      {...input}
      data={[
        { value: '', label: unset },
        { value: '1', label: t('subs.on') },
        { value: '0', label: t('subs.off') },
      ]}
      value={BOOLEANS[value] ?? value}
      allowDeselect={false}
      onChange={chosen => set(chosen ?? '')}
    />
  )
}

/** The other form in which the API takes these values. */
const BOOLEANS: Readonly<Record<string, string>> = { true: '1', false: '0' }

export function RolloutField({ fields }: Props) {
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

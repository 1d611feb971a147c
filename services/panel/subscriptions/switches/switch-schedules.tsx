/** Scheduled changes of a switch: state, value, rollout. */
import { ActionIcon, Button, Group, NumberInput, Select, Stack, TextInput } from '@mantine/core'
import { IconPlus, IconTrash } from '@tabler/icons-react'
import { useTranslation } from 'react-i18next'
import { ListErrors, useNestedErrors } from '../../ui/forms/nested-errors.tsx'
import { browserTimeZone } from '../../ui/values/time-zone.ts'
import type { SwitchType } from './switch-fields.ts'
import { newSchedule, nextKey, type ScheduleFields } from './switch-targets.ts'
import { OptionalValue } from './switch-value-fields.tsx'

/** Times are in the browser's time zone. */
export function SchedulesEditor(props: {
  /** Of the switch, and so of the values. */
  type: SwitchType
  schedules: ScheduleFields[]
  set: (schedules: ScheduleFields[]) => void
}) {
  const { t } = useTranslation()
  const { type, schedules, set } = props
  const change = (key: number, part: Partial<ScheduleFields>) =>
    set(schedules.map(schedule => (schedule.key === key ? { ...schedule, ...part } : schedule)))
  // Schedules without a time are not sent, so that they have no place in the request.
  const sent = schedules.filter(({ at }) => at !== '')
  return (
    <fieldset className="pw-fieldset">
      <legend>{t('subs.schedules')}</legend>
      <div className="pw-sub">{t('subs.schedulesHint', { zone: browserTimeZone() })}</div>
      <ListErrors of="schedules" />
      <Stack gap="sm" mt="xs">
        {schedules.map(schedule => (
          <Schedule
            key={schedule.key}
            type={type}
            schedule={schedule}
            path={`schedules.${sent.indexOf(schedule)}`}
            change={part => change(schedule.key, part)}
            remove={() => set(schedules.filter(({ key }) => key !== schedule.key))}
          />
        ))}
        <Group>
          <Button
            variant="default"
            size="xs"
            leftSection={<IconPlus size={14} />}
            onClick={() => set([...schedules, newSchedule(nextKey(schedules), Date.now())])}
          >
            {t('subs.addSchedule')}
          </Button>
        </Group>
      </Stack>
    </fieldset>
  )
}

function Schedule(props: {
  type: SwitchType
  schedule: ScheduleFields
  /** Of the schedule in the request. */
  path: string
  change: (part: Partial<ScheduleFields>) => void
  remove: () => void
}) {
  const { t } = useTranslation()
  const { type, schedule, path, change, remove } = props
  const errorAt = useNestedErrors()
  return (
    <Group align="flex-end" gap="xs" className="pw-card pw-pad">
      <TextInput
        type="datetime-local"
        label={t('subs.scheduleAt')}
        value={schedule.at}
        onChange={event => change({ at: event.currentTarget.value })}
        {...errorAt(`${path}.at`)}
        style={{ flex: '2 1 190px' }}
      />
      <Select
        label={t('subs.scheduleState')}
        data={(['', '1', '0'] as const).map(value => ({
          value,
          label: t(value === '' ? 'subs.stays' : value === '1' ? 'subs.inForce' : 'subs.offForAll'),
        }))}
        value={schedule.enabled}
        allowDeselect={false}
        onChange={value => change({ enabled: value === '1' || value === '0' ? value : '' })}
        {...errorAt(`${path}.enabled`)}
        style={{ flex: '1 1 130px' }}
      />
      <OptionalValue
        type={type}
        value={schedule.value}
        set={value => change({ value })}
        unset={t('subs.stays')}
        input={{ label: t('subs.value'), ...errorAt(`${path}.value`), style: { flex: '1 1 110px' } }}
      />
      <NumberInput
        label={t('subs.rollout')}
        placeholder={t('subs.stays')}
        suffix=" %"
        min={0}
        max={100}
        decimalScale={3}
        value={schedule.rollout}
        onChange={rollout => change({ rollout: String(rollout) })}
        {...errorAt(`${path}.rollout`)}
        style={{ flex: '1 1 100px' }}
      />
      <ActionIcon variant="subtle" color="stamp" size="lg" onClick={remove} aria-label={t('subs.removeSchedule')}>
        <IconTrash size={16} />
      </ActionIcon>
    </Group>
  )
}

/** Changes of a switch at a time: on, off, another value, another share. */
import { ActionIcon, Button, Group, NumberInput, Select, Stack, TextInput } from '@mantine/core'
import { IconPlus, IconTrash } from '@tabler/icons-react'
import { useTranslation } from 'react-i18next'
import { browserTimeZone } from '../../ui/values/time-zone.ts'
import { nextKey, newSchedule, type ScheduleFields } from './switch-targets.ts'

/** The editor. Times are those of the reader's clock. */
export function SchedulesEditor(props: { schedules: ScheduleFields[]; set: (schedules: ScheduleFields[]) => void }) {
  const { t } = useTranslation()
  const { schedules, set } = props
  const change = (key: number, part: Partial<ScheduleFields>) =>
    set(schedules.map(one => (one.key === key ? { ...one, ...part } : one)))
  return (
    <fieldset className="pw-fieldset">
      <legend>{t('subs.schedules')}</legend>
      <div className="pw-sub">{t('subs.schedulesHint', { zone: browserTimeZone() })}</div>
      <Stack gap="sm" mt="xs">
        {schedules.map(one => (
          <Group key={one.key} align="flex-end" gap="xs" className="pw-card pw-pad">
            <TextInput
              type="datetime-local"
              label={t('subs.scheduleAt')}
              value={one.at}
              onChange={event => change(one.key, { at: event.currentTarget.value })}
              style={{ flex: '2 1 190px' }}
            />
            <Select
              label={t('subs.scheduleState')}
              data={(['', '1', '0'] as const).map(value => ({
                value,
                label: t(value === '' ? 'subs.stays' : value === '1' ? 'subs.inForce' : 'subs.offForAll'),
              }))}
              value={one.enabled}
              allowDeselect={false}
              onChange={value => change(one.key, { enabled: value === '1' || value === '0' ? value : '' })}
              style={{ flex: '1 1 130px' }}
            />
            <TextInput
              label={t('subs.value')}
              placeholder={t('subs.stays')}
              value={one.value}
              onChange={event => change(one.key, { value: event.currentTarget.value })}
              style={{ flex: '1 1 110px' }}
            />
            <NumberInput
              label={t('subs.rollout')}
              placeholder={t('subs.stays')}
              suffix=" %"
              min={0}
              max={100}
              decimalScale={3}
              value={one.rollout}
              onChange={rollout => change(one.key, { rollout: String(rollout) })}
              style={{ flex: '1 1 100px' }}
            />
            <ActionIcon
              variant="subtle"
              color="stamp"
              size="lg"
              onClick={() => set(schedules.filter(({ key }) => key !== one.key))}
              aria-label={t('subs.removeSchedule')}
            >
              <IconTrash size={16} />
            </ActionIcon>
          </Group>
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

import type { CurrentState } from '../history/revision-changes.ts'
import type { SwitchRecord } from './switch-fields.ts'

/** The current state of a switch in the form in which its revisions are stored. The value of a changelog contains its title and notes. */
export function currentSwitchState(record: SwitchRecord): CurrentState {
  const own = record.type === 'changelog' ? {} : { title: record.value.title, logs: record.value.logs }
  return {
    description: record.description,
    type: record.type,
    value: record.raw_value,
    ...own,
    enabled: record.enabled,
    client_visible: record.client_visible,
    rollout: Number(record.rollout),
    rules: record.rules,
    schedules: record.schedules.map(schedule => ({ ...schedule, at: Number(schedule.at) })),
  }
}

/** Conversion between a switch of the API and the fields of its form. */

import { splitLines } from '../../ui/forms/split-text.ts'
import type { SubOutput } from '../shared/subscriptions-api.ts'
import { SWITCH_TYPES } from '../shared/subscriptions-search.ts'
import {
  type RuleFields,
  ruleBodies,
  rulesOf,
  type ScheduleFields,
  scheduleBodies,
  schedulesOf,
} from './switch-targets.ts'

export type SwitchRecord = Extract<SubOutput<'readSwitches'>, { switches: unknown[] }>['switches'][number]

export type SwitchType = (typeof SWITCH_TYPES)[number]

/** Lists are text with one item on each line. `key` is the React key. */
export interface NoteFields {
  key: number
  version: string
  date: string
  title: string
  features: string
  improvements: string
  fixes: string
}

export interface SwitchFields {
  name: string
  description: string
  type: SwitchType
  value: string
  title: string
  notes: NoteFields[]
  enabled: boolean
  client_visible: boolean
  rollout: number
  rules: RuleFields[]
  schedules: ScheduleFields[]
}

export function fieldsOf(record: SwitchRecord | undefined): SwitchFields {
  return {
    name: record?.name ?? '',
    description: record?.description ?? '',
    type: SWITCH_TYPES.find(type => type === record?.type) ?? 'boolean',
    value: record?.type === 'changelog' ? '' : (record?.raw_value ?? '0'),
    title: record?.value.title ?? '',
    notes: (record?.value.logs ?? []).map((log, key) => ({
      key,
      version: log.version,
      date: log.date,
      title: log.title,
      features: log.features.join('\n'),
      improvements: log.improvements.join('\n'),
      fixes: log.fixes.join('\n'),
    })),
    enabled: record?.enabled !== '0',
    client_visible: record?.client_visible === '1',
    rollout: Number(record?.rollout ?? 100),
    rules: rulesOf(record?.rules ?? []),
    schedules: schedulesOf(record?.schedules ?? []),
  }
}

/** The value of a changelog contains title and notes; other types send them as separate fields. */
export function bodyOf(fields: SwitchFields) {
  const logs = fields.notes.map(({ key: _, features, improvements, fixes, ...note }) => ({
    ...note,
    features: splitLines(features),
    improvements: splitLines(improvements),
    fixes: splitLines(fixes),
  }))
  const value = fields.type === 'changelog' ? JSON.stringify({ title: fields.title, logs }) : fields.value
  return {
    description: fields.description,
    type: fields.type,
    value,
    ...(fields.type === 'changelog' ? {} : { title: fields.title, logs }),
    enabled: fields.enabled ? '1' : '0',
    client_visible: fields.client_visible ? '1' : '0',
    rollout: fields.rollout,
    rules: ruleBodies(fields.rules),
    schedules: scheduleBodies(fields.schedules),
  }
}

/** Empty release note with an unused key. */
export function newNote(notes: readonly NoteFields[], today: string): NoteFields {
  const key = Math.max(-1, ...notes.map(note => note.key)) + 1
  return { key, version: '', date: today, title: '', features: '', improvements: '', fixes: '' }
}

/** Round trip of a switch of every type between API and form. */
import { expect, test } from 'vitest'
import { SWITCH_TYPES } from '../shared/subscriptions-search.ts'
import { bodyOf, fieldsOf, newNote, type SwitchRecord } from './switch-fields.ts'

const LOG = {
  version: '1.2.0',
  date: '2026-11-20',
  title: 'Quicker',
  features: ['A quicker checkout', 'Dark, at last'],
  improvements: [],
  fixes: ['A crash'],
}

function record(change: object): SwitchRecord {
  return {
    name: 'new_checkout',
    description: 'For the brave',
    type: 'boolean',
    raw_value: '1',
    value: { title: '', logs: [] },
    enabled: '1',
    client_visible: '1',
    rollout: '25',
    rules: [],
    schedules: [],
    ...change,
  } as unknown as SwitchRecord
}

test.each([
  ['boolean', '1'],
  ['number', '12.5'],
  ['string', 'Hello, world'],
  ['json', '{"a":[1,2]}'],
])('an unmodified switch of type %s is sent unchanged', (type, raw_value) => {
  expect(bodyOf(fieldsOf(record({ type, raw_value, value: { title: 'News', logs: [LOG] } })))).toEqual({
    description: 'For the brave',
    type,
    value: raw_value,
    title: 'News',
    logs: [LOG],
    enabled: '1',
    client_visible: '1',
    rollout: 25,
    rules: [],
    schedules: [],
  })
})

test('the value of a changelog contains its title and notes, and no other field does', () => {
  const body = bodyOf(fieldsOf(record({ type: 'changelog', raw_value: '…', value: { title: 'News', logs: [LOG] } })))
  expect(JSON.parse(body.value)).toEqual({ title: 'News', logs: [LOG] })
  expect(body).not.toHaveProperty('logs')
  expect(body).not.toHaveProperty('title')
})

test.each([
  [{ enabled: '0' }, { enabled: '0' }],
  [{ client_visible: '0' }, { client_visible: '0' }],
  [{ rollout: '0' }, { rollout: 0 }],
  [{ rollout: '0.125' }, { rollout: 0.125 }],
])('%j is sent as %j', (stored, sent) => {
  expect(bodyOf(fieldsOf(record(stored)))).toMatchObject(sent)
})

test('a new switch is enabled for all with the value 0, and clients cannot read it', () => {
  expect(bodyOf(fieldsOf(undefined))).toEqual({
    description: '',
    type: 'boolean',
    value: '0',
    title: '',
    logs: [],
    enabled: '1',
    client_visible: '0',
    rollout: 100,
    rules: [],
    schedules: [],
  })
})

test('an unknown type is shown as the first one', () => {
  expect(fieldsOf(record({ type: 'colour' })).type).toBe(SWITCH_TYPES[0])
})

test('lists of notes have one item on each line; only line ends separate items', () => {
  const fields = fieldsOf(record({ value: { title: '', logs: [LOG] } }))
  expect(fields.notes[0]?.features).toBe('A quicker checkout\nDark, at last')
  const [note] = fields.notes
  const typed = { ...fields, notes: note ? [{ ...note, features: ' One, two \n\n three ' }] : [] }
  expect(bodyOf(typed)).toMatchObject({ logs: [{ features: ['One, two', 'three'] }] })
})

test('a new note has the date and an unused key, also after another one was removed', () => {
  const first = newNote([], '2026-11-21')
  expect(first).toMatchObject({ key: 0, date: '2026-11-21', version: '' })
  const second = newNote([first], '2026-11-21')
  const third = newNote([second], '2026-11-22')
  expect(new Set([first.key, second.key, third.key]).size).toBe(3)
})

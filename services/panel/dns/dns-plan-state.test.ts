import { expect, test } from 'vitest'
import { countByAction, type PlanItem, type PlanResult, rowState, stageOf } from './dns-plan-state.ts'

type Row = PlanResult['items'][number]
type Check = NonNullable<Parameters<typeof rowState>[2]>

const item = (record: string, action: PlanItem['action'] = 'create'): PlanItem => ({
  record,
  action,
  type: 'TXT',
  name: `${record}.example.com`,
  value: 'new',
  ttl: 600,
  before: null,
  reason: 'Record not found. It will be created.',
  reason_code: 'dns_plan.missing',
  reason_params: {},
  code: null,
  acceptable: false,
  warnings: [],
  warnings_codes: [],
})
const row = (record: string, status: Row['status'], action?: PlanItem['action']): Row => ({
  ...item(record, action),
  status,
  message: null,
  message_code: null,
  message_params: null,
})
const result = (...items: Row[]): PlanResult => ({
  object: 'dns_result',
  items,
  stopped: null,
  warnings: [],
  warnings_codes: [],
})
const check = (outcome: Check['outcome'], seen: Record<string, 'verified' | 'pending'>): Check => ({
  outcome,
  records: Object.entries(seen).map(([id, status]) => ({
    id,
    status,
    observed: [],
    errors: [],
    errors_codes: [],
    warnings: [],
    warnings_codes: [],
    instructions: [],
    instructions_codes: [],
  })),
})
const stopped: PlanResult = {
  ...result(row('spf', 'not_done')),
  stopped: {
    fault: 'auth',
    message: 'No.',
    message_code: 'text.verbatim',
    message_params: { text: 'No.' },
    retry_after: null,
    permission: null,
  },
}
const written = result(row('spf', 'done'), row('dkim', 'pending'), row('ptr', 'skipped', 'skip'))
const half = check('verified', { spf: 'verified', dkim: 'pending' })
const whole = check('verified', { spf: 'verified', dkim: 'verified', ptr: 'pending' })

test.each([
  ['plan', { writing: false, result: undefined, check: undefined, exhausted: false }],
  ['writing', { writing: true, result: undefined, check: undefined, exhausted: false }],
  ['stopped', { writing: false, result: stopped, check: undefined, exhausted: false }],
  ['waiting', { writing: false, result: written, check: undefined, exhausted: false }],
  ['waiting', { writing: false, result: written, check: half, exhausted: false }],
  ['later', { writing: false, result: written, check: half, exhausted: true }],
  ['waiting', { writing: false, result: written, check: { ...whole, outcome: 'pending' }, exhausted: false }],
  ['seen', { writing: false, result: written, check: whole, exhausted: false }],
  ['seen', { writing: false, result: written, check: whole, exhausted: true }],
] as const)('the stage is %s', (stage, at) => {
  expect(stageOf(at)).toBe(stage)
})

test('a removed record need not be visible', () => {
  const removal = result(row('spf', 'done'), row('old', 'done', 'delete'))
  expect(
    stageOf({ writing: false, result: removal, check: check('verified', { spf: 'verified' }), exhausted: false }),
  ).toBe('seen')
})

test.each([
  ['a row before the press', item('spf'), 'plan', undefined, undefined],
  ['a row that is being written', item('spf'), 'writing', undefined, 'writing'],
  ['a row that stays while others are written', item('spf', 'keep'), 'writing', undefined, undefined],
  ['a written row that DNS does not give yet', row('dkim', 'pending'), 'waiting', half, 'pending'],
  ['a written row that DNS gives', row('dkim', 'pending'), 'seen', whole, 'seen'],
  ['a row that failed, though an older record verifies', row('spf', 'failed'), 'later', whole, 'failed'],
  ['a row that was left out', row('ptr', 'skipped', 'skip'), 'seen', whole, 'skipped'],
] as const)('%s', (_, of, stage, seen, word) => {
  expect(rowState(of, stage, seen)?.key).toBe(word)
})

test('rows are counted by action in the order of the plan', () => {
  expect(countByAction([item('a'), item('b', 'update'), item('c'), item('d', 'keep')])).toEqual([
    ['create', 2],
    ['update', 1],
    ['keep', 1],
  ])
  expect(countByAction([])).toEqual([])
})

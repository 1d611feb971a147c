import { expect, test } from 'vitest'
import { type ProblemCode, ProblemError } from '../../../services/platform/problems.ts'
import { bad } from './conditions.ts'
import { ReportedError } from './reported-error.ts'
import { refusalOf } from './use-case-errors.ts'

const fault = { pointer: '/price', code: 'amount', message: 'is no amount' }

test.each<[ProblemCode, string, string]>([
  ['conflict', 'Conflict', 'It is taken.'],
  ['managed_by_resource', 'Conflict', 'It is taken.'],
  ['name_taken', 'Conflict', 'It is taken.'],
  ['not_found', 'Conflict', 'It is taken.'],
  ['validation_failed', 'InvalidSpec', 'It is taken. /price is no amount'],
])('%s is told as %s, and looked at again', (code, reason, message) => {
  const faults = code === 'validation_failed' ? [fault] : []
  const condition = { type: 'Accepted', status: 'False', reason, message }
  expect(refusalOf(new ProblemError(code, 'It is taken.', { faults }))).toEqual({
    conditions: [condition],
    message: '',
    requeueAfterMs: 60_000,
  })
})

test.each([
  ['a database that is away', new ProblemError('unavailable')],
  ['a rate', new ProblemError('rate_limited')],
  ['anything unknown', new TypeError('x is undefined')],
])('%s is no refusal: it is thrown on, for the queue to try again', (_what, error) => {
  expect(() => refusalOf(error)).toThrow(error)
})

test('a failure with words of its own keeps what caused it', () => {
  const cause = new Error('403')
  const told = new ReportedError(bad('SecretSynced', 'WriteRefused', 'Refused.'), cause)
  expect(told).toMatchObject({ message: 'Refused.', cause, condition: { reason: 'WriteRefused' } })
})

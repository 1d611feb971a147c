import { expect, test } from 'vitest'
import { type ProblemCode, ProblemError } from '../../../services/platform/problems.ts'
import { verbatim } from '../../../services/platform/sentences/compose.ts'
import { sentence } from '../../../services/platform/sentences/sentence.ts'
import { bad } from './conditions.ts'
import { ReportedError } from './reported-error.ts'
import { refusalOf } from './use-case-errors.ts'

const fieldError = { pointer: '/price', reason: sentence('field.format') }
const listError = { pointer: '/level', reason: sentence('field.option', { options: ['a', 'b'] }) }

test.each<[ProblemCode, string, string]>([
  ['conflict', 'Conflict', 'The SMTP user name ann is taken.'],
  ['managed_by_resource', 'Conflict', 'The SMTP user name ann is taken.'],
  ['name_taken', 'Conflict', 'The SMTP user name ann is taken.'],
  ['not_found', 'Conflict', 'The SMTP user name ann is taken.'],
  [
    'validation_failed',
    'InvalidSpec',
    'The SMTP user name ann is taken. /price has the wrong format; /level must be one of: a, b',
  ],
])('%s is reported as %s, and reconciled again', (code, reason, message) => {
  const errors = code === 'validation_failed' ? [fieldError, listError] : []
  const condition = expect.objectContaining({ type: 'Accepted', status: 'False', reason, message })
  expect(refusalOf(new ProblemError(code, sentence('detail.smtp_name_taken', { name: 'ann' }), { errors }))).toEqual({
    conditions: [condition],
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
  const reported = new ReportedError(bad('SecretSynced', 'WriteRefused', verbatim('Refused.')), cause)
  expect(reported).toMatchObject({ message: 'Refused.', cause, condition: { reason: 'WriteRefused' } })
})

/** Every status of the contract has a tone and is in progress or final. */
import { expect, test } from 'vitest'
import { catalogue as en } from '../../i18n/en/index.ts'
import { isInProgress, MAIL_STATUSES, toneOf } from './mail-statuses.ts'

test.each([
  ['scheduled', true, 'info'],
  ['queued', true, 'info'],
  ['deferred', true, 'warn'],
  ['delivered', false, 'ok'],
  ['bounced', false, 'bad'],
  ['failed', false, 'bad'],
  ['canceled', false, 'quiet'],
] as const)('%s is open: %s, and %s', (status, open, tone) => {
  expect(isInProgress(status)).toBe(open)
  expect(toneOf(status)).toBe(tone)
})

test('each status can be filtered for and is translated', () => {
  expect(MAIL_STATUSES.filter(status => en.messages.status[status] === undefined)).toEqual([])
  expect(MAIL_STATUSES).toHaveLength(9)
})

test.each(['exploded', '', 'constructor', 'toString'])('an unknown status is quiet: %j', status => {
  expect(toneOf(status)).toBe('quiet')
})

import type { SMTPServerSession } from 'smtp-server'
import { describe, expect, it } from 'vitest'
import type { Submitter } from '../submission.ts'
import { toSubmission } from './listener-replies.ts'

const submitter: Submitter = {
  userId: 'usr_1',
  via: { channel: 'smtp', id: 'crd_1' },
  allowedSenders: [],
  messagesPerHour: 0,
}

/** The library's session after DATA, as far as it is read. */
function session(rcptDsn: object, dsn: object = {}) {
  const envelope = { mailFrom: { address: 'a@example.org' }, rcptTo: [{ address: 'b@example.net', dsn: rcptDsn }], dsn }
  return { envelope, hostNameAppearsAs: 'client.example', remoteAddress: '192.0.2.1' } as unknown as SMTPServerSession
}

const submission = (rcptDsn: object, dsn?: object) => toSubmission(submitter, session(rcptDsn, dsn), Buffer.from(''))

describe('wishes for reports', () => {
  it.each([
    ['of the longest kind', `rfc822;${'x'.repeat(493)}`, `rfc822;${'x'.repeat(493)}`],
    ['longer than RFC 3461 allows', `rfc822;${'x'.repeat(494)}`, undefined],
    ['empty', '', undefined],
  ])('an original recipient %s', (_, orcpt, expected) => {
    expect(submission({ orcpt }).recipients[0]?.orcpt).toBe(expected)
  })

  it.each([
    ['of the longest kind', 'x'.repeat(100), 'x'.repeat(100)],
    ['longer than RFC 3461 allows', 'x'.repeat(101), undefined],
  ])('an envelope id %s', (_, envid, expected) => {
    expect(submission({}, { envid, ret: 'HDRS' }).dsn).toEqual({ ret: 'HDRS', ...(expected && { envid: expected }) })
    expect(submission({}, { envid }).dsn).toEqual(expected && { envid: expected })
  })

  it('each moment is asked for once', () => {
    expect(submission({ notify: ['SUCCESS', 'FAILURE', 'SUCCESS'] }).recipients[0]?.notify).toEqual([
      'SUCCESS',
      'FAILURE',
    ])
    expect(submission({}).recipients[0]).not.toHaveProperty('notify')
  })
})

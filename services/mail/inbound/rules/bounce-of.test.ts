import { describe, expect, test } from 'vitest'
import { bounceOf } from './bounce-of.ts'
import type { ReportedRecipient } from './report.ts'

const failed = (rest: Partial<ReportedRecipient>): ReportedRecipient => ({ action: 'failed', ...rest })

describe('bounceOf', () => {
  test('a mailbox that does not exist suppresses its address', () => {
    const recipient = failed({ finalRecipient: 'a@b.example', status: '5.1.1', diagnostic: '550 5.1.1 User unknown' })
    expect(bounceOf(recipient)).toEqual({
      class: 'address',
      permanent: true,
      suppresses: true,
      code: 550,
      enhanced: '5.1.1',
      text: '550 5.1.1 User unknown',
    })
  })

  test.each<[name: string, recipient: ReportedRecipient, kind: string, suppresses: boolean]>([
    ['a status without a text', failed({ status: '5.1.1' }), 'address', true],
    ['a text without a status', failed({ diagnostic: 'User unknown' }), 'address', true],
    ['a precise code in the text', failed({ status: '5.0.0', diagnostic: '550 5.1.1 no' }), 'address', true],
    ['a delay because of the address', { action: 'delayed', status: '5.1.1' }, 'address', false],
    ['a full mailbox', failed({ status: '5.2.2', diagnostic: '552 5.2.2 full' }), 'mailbox_full', false],
    ['a full mailbox that was waited for', failed({ status: '4.2.2' }), 'mailbox_full', false],
    ['nothing at all', failed({}), 'other', false],
    [
      'a reply behind other words',
      failed({ diagnostic: 'SMTP error, RCPT TO: 550 5.1.1 用户不存在' }),
      'address',
      true,
    ],
    [
      'a reply with a colon',
      failed({ diagnostic: "554: delivery error: dd This user doesn't have an account" }),
      'address',
      true,
    ],
    ['a server that was not reached', failed({ status: '5.4.1', diagnostic: 'Connection refused' }), 'network', false],
    ['a delivery that took too long', failed({ status: '4.4.7' }), 'network', false],
    ['a domain without DNS', failed({ status: '5.4.4', diagnostic: 'Host or domain name not found' }), 'dns', false],
    [
      'Microsoft 5.4.1 with a reply',
      failed({ diagnostic: '550 5.4.1 Recipient address rejected: Access denied' }),
      'address',
      true,
    ],
    ['failed authentication', failed({ diagnostic: '550 5.7.26 Unauthenticated email' }), 'authentication', false],
    [
      'a blocked sender',
      failed({ status: '5.1.1', diagnostic: '550 5.1.1 blocked using spamhaus' }),
      'reputation',
      false,
    ],
    ['refused content', failed({ diagnostic: '550 Mail content denied' }), 'content', false],
    ['a code of the third digit', failed({ diagnostic: '5500 miles' }), 'other', false],
  ])('%s', (_, recipient, kind, suppresses) => {
    expect(bounceOf(recipient)).toMatchObject({ class: kind, suppresses })
  })

  test.each(['delivered', 'relayed', 'expanded'] as const)('%s is no bounce', action => {
    expect(bounceOf({ action, finalRecipient: 'a@b.example', status: '2.0.0' })).toBeUndefined()
  })

  test('what Tencent answers with 550 to a sender that is too fast is no matter of the address', () => {
    const diagnostic = '550 Ip frequency limited'
    const recipient = failed({ finalRecipient: 'a@qq.com', status: '5.1.1', diagnostic })
    expect(bounceOf(recipient)).toMatchObject({ class: 'throttled', permanent: true, suppresses: false })
  })
})

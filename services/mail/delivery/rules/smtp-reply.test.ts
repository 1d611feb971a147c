import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { Conversation, parseReply, showReply } from './smtp-reply.ts'

describe('parseReply', () => {
  test.each([
    [['250 2.1.0 ok'], { code: 250, enhanced: '2.1.0', text: 'ok' }],
    [['550-5.1.1 no such', '550 5.1.1 user'], { code: 550, enhanced: '5.1.1', text: 'no such user' }],
    [['354 go on'], { code: 354, text: 'go on' }],
    [['250'], { code: 250, text: '' }],
    [['451 4.7.1'], { code: 451, enhanced: '4.7.1', text: '' }],
    [['550 5.1.1000 odd'], { code: 550, text: '5.1.1000 odd' }],
    [['421 a\u0007b'], { code: 421, text: 'a b' }],
  ])('%j', (lines, expected) => {
    expect(parseReply(lines)).toMatchObject(expected)
  })

  test.each([[[]], [['hello']], [['99 x']], [['150 preliminary']], [['250-a', '251 b']], [['']]])(
    '%j is no reply',
    lines => {
      expect(parseReply(lines)).toBeUndefined()
    },
  )

  test('whatever a server sends is bounded and free of control characters', () => {
    fc.assert(
      fc.property(fc.array(fc.string({ maxLength: 3_000 }), { minLength: 1, maxLength: 5 }), texts => {
        const reply = parseReply(texts.map((text, index) => `550${index === texts.length - 1 ? ' ' : '-'}${text}`))
        expect(reply?.text.length).toBeLessThanOrEqual(1_000)
        expect(reply?.text).not.toMatch(/[^\P{Cc}\t]/u)
      }),
    )
  })
})

test('showReply leaves out what is missing', () => {
  expect(showReply({ code: 250, text: '' })).toBe('250')
  expect(showReply({ code: 550, enhanced: '5.1.1', text: 'no' })).toBe('550 5.1.1 no')
})

describe('Conversation', () => {
  test('keeps both sides and hides what follows AUTH', () => {
    const conversation = new Conversation()
    conversation.sent('EHLO us.example')
    conversation.received('250 them')
    conversation.sent('AUTH PLAIN AGEAYg==')
    conversation.sent('c2VjcmV0', true)
    conversation.note('TLSv1.3')
    expect(String(conversation)).toBe(
      'C: EHLO us.example\nS: 250 them\nC: AUTH PLAIN [secret]\nC: [secret]\n-- TLSv1.3',
    )
  })

  test('stays within 4 KiB and is marked when cut', () => {
    const conversation = new Conversation()
    for (let i = 0; i < 500; i++) conversation.received(`250-line ${i} of a talkative server`)
    expect(String(conversation).length).toBeLessThanOrEqual(4_096)
    expect(String(conversation)).toMatch(/-- cut here$/)
  })
})

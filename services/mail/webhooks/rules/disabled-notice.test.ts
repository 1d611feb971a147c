import { describe, expect, test } from 'vitest'
import { sentence } from '../../../platform/sentences/sentence.ts'
import { type DisabledFacts, disabledNotice } from './disabled-notice.ts'

const facts: DisabledFacts = {
  name: 'Orders',
  url: 'https://hooks.example.com/mail',
  at: new Date('2026-11-24T10:00:00Z'),
  reason: sentence('webhook.failing', { days: 3 }),
  link: 'https://mail.example.net/webhooks',
}

describe('the notice', () => {
  test.each([
    ['en', 'Webhook disabled: Orders', 'Reason: every attempt of the last 3 days failed.'],
    ['zh', 'Webhook 已停用：Orders', '原因：最近 3 天的所有尝试都失败了。'],
  ] as const)('in %s has name, time, address, reason and the page', (lang, subject, reason) => {
    const mail = disabledNotice(lang, facts)
    expect(mail.subject).toBe(subject)
    for (const part of ['Orders', '2026-11-24T10:00:00.000Z', facts.url, reason, facts.link])
      expect(mail.text).toContain(part)
    expect(mail.text).not.toMatch(/\{\w+\}/)
  })

  test.each(['en', 'zh'] as const)('in %s has a subject of bounded length, and braces of names stay', lang => {
    expect(disabledNotice(lang, { ...facts, name: 'x'.repeat(500) }).subject.length).toBeLessThan(230)
    expect(disabledNotice(lang, { ...facts, name: '{link}' }).subject).toContain('{link}')
  })
})

import { describe, expect, test } from 'vitest'
import type { DomainDoc } from '../../../services/mail/domains/find-domains.ts'
import { addRefusals } from '../../../services/mail/domains/rules/authentication-refusals.ts'
import { DAY_MS } from '../../../services/platform/durations.ts'
import { verbatim } from '../../../services/platform/sentences/compose.ts'
import { good, summarise } from '../shared/conditions.ts'
import { authenticatedCondition } from './authenticated-condition.ts'

const now = new Date('2026-11-21T10:00:00Z')
const later = (ms: number) => new Date(now.getTime() + ms)

const domain = (sites: readonly string[], change: Partial<DomainDoc> = {}): DomainDoc => {
  const refused = sites.map(site => ({
    site,
    code: 550,
    enhanced: '5.7.26',
    text: `DMARC ${site}`,
    last_at: now,
    count: 1,
  }))
  const authentication = { revision: 'r', last_at: now, refusals: addRefusals([], refused, now) }
  return {
    ...{ _id: 'dom_1', user_id: 'usr_1', name: 'example.com', status: 'verified', verified_by: 'dns' },
    ...{ verification_token: 't', dkim: [], created_at: now, updated_at: now },
    ...(sites.length > 0 && { authentication }),
    ...change,
  }
}

describe('Authenticated', () => {
  test.each<[string, DomainDoc, Date, string, string]>([
    ['without refusals', domain([]), now, 'True', 'NoRefusals'],
    ['with a refusal', domain(['google']), now, 'False', 'Refused'],
    ['with a refusal of last week', domain(['google']), later(7 * DAY_MS), 'True', 'NoRefusals'],
    ['that is not verified', domain(['google'], { status: 'pending' }), now, 'Unknown', 'NotVerified'],
    ['that is suspended', domain([], { status: 'suspended' }), now, 'Unknown', 'NotVerified'],
  ])('of a domain %s', (_, given, at, status, reason) => {
    expect(authenticatedCondition(given, at)).toMatchObject({ type: 'Authenticated', status, reason })
  })

  test('says who refuses and what to do', () => {
    const { message } = authenticatedCondition(domain(['google']), now)
    expect(message).toMatch(/^google rejects mail from example\.com \(550 5\.7\.26\)\. DMARC did not pass/)
  })

  test('names three sites, in an order that does not change, and counts the rest', () => {
    const { message } = authenticatedCondition(domain(['yahoo', 'google', 'apple', 'tencent', 'netease']), now)
    expect([...message.matchAll(/(\w+) rejects/g)].map(([, site]) => site)).toEqual(['apple', 'google', 'netease'])
    expect(message).toContain('Other receivers that reject it: 2.')
  })

  test('does not change with the number of refusals and their replies', () => {
    const before = domain(['google'])
    const again = { site: 'google', code: 550, enhanced: '5.7.26', text: 'DMARC other', last_at: later(1), count: 9 }
    const refusals = addRefusals(before.authentication?.refusals ?? [], [again], later(1))
    const after = { ...before, authentication: { revision: 's', last_at: later(1), refusals } }
    expect(authenticatedCondition(after, now).message).toBe(authenticatedCondition(before, now).message)
  })

  test('does not decide about Ready', () => {
    const conditions = [good('Verified', 'TokenFound', verbatim('x')), authenticatedCondition(domain(['google']), now)]
    expect(summarise(conditions, verbatim('fine'))).toMatchObject({ type: 'Ready', status: 'True', message: 'fine' })
  })
})

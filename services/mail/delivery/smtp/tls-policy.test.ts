import { describe, expect, test } from 'vitest'
import type { FetchedPolicy } from '../rules/mta-sts.ts'
import { CLEAR_TEXT_MS } from '../rules/tls-requirement.ts'

import { createTlsPolicy } from './tls-policy.ts'

const ENFORCED: FetchedPolicy = { id: '1', mode: 'enforce', mx: ['mx.example.net'] }
const TEN_MINUTES = 10 * 60_000

/** A store whose fetches are answered by the test, and a clock that the test moves. */
function createFixture(answers: (FetchedPolicy | Error)[]) {
  const asked: { domain: string; known: FetchedPolicy | undefined }[] = []
  const time = { now: 1_000_000 }
  const policy = createTlsPolicy({
    now: () => time.now,
    async fetch(domain, known) {
      asked.push({ domain, known })
      const answer = answers.shift()
      if (!answer || answer instanceof Error) throw answer ?? new Error('nothing more to answer')
      return answer
    },
  })
  return { policy, asked, time }
}

describe('a policy', () => {
  test('is asked for once in ten minutes, by callers in parallel too', async () => {
    const { policy, asked, time } = createFixture([ENFORCED, ENFORCED])
    const both = await Promise.all([policy.policyOf('example.net'), policy.policyOf('example.net')])
    expect(both).toEqual([
      { mode: 'enforce', mx: ['mx.example.net'] },
      { mode: 'enforce', mx: ['mx.example.net'] },
    ])
    time.now += TEN_MINUTES
    await policy.policyOf('example.net')
    expect(asked).toEqual([{ domain: 'example.net', known: undefined }])
    time.now += 1
    await policy.policyOf('example.net')
    expect(asked[1]).toEqual({ domain: 'example.net', known: ENFORCED })
  })

  test('stays as it was known while the host does not answer', async () => {
    const { policy, time } = createFixture([ENFORCED, new Error('timeout')])
    await policy.policyOf('example.net')
    time.now += TEN_MINUTES + 1
    expect(await policy.policyOf('example.net')).toEqual({ mode: 'enforce', mx: ['mx.example.net'] })
  })

  test.each([
    ['no answer at all', new Error('refused')],
    ['mode none', { id: false, mode: 'none' } as FetchedPolicy],
  ])('is none with %s', async (_, answer) => {
    const { policy } = createFixture([answer])
    expect(await policy.policyOf('example.net')).toBeUndefined()
  })

  test('without a way to fetch there is none', async () => {
    const policy = createTlsPolicy({ now: () => 0 })
    expect(await policy.policyOf('example.net')).toBeUndefined()
  })
})

describe('a host whose handshake failed', () => {
  test('is spoken to in clear for three days, unless a policy forbids it', () => {
    const { policy, time } = createFixture([])
    const enforced = { mode: 'enforce' as const, mx: ['mx.example.net'] }
    expect(policy.modeOf('mx.example.net', undefined)).toBe('opportunistic')
    policy.rememberClear('mx.example.net')
    expect(policy.modeOf('mx.example.net', undefined)).toBe('off')
    expect(policy.modeOf('mx.example.net', { mode: 'testing', mx: [] })).toBe('off')
    expect(policy.modeOf('mx.example.net', enforced)).toBe('require-verified')
    expect(policy.modeOf('other.example.net', enforced)).toBeUndefined()
    time.now += CLEAR_TEXT_MS
    expect(policy.modeOf('mx.example.net', undefined)).toBe('opportunistic')
  })

  test('of fifty thousand is forgotten with the others: memory has a bound', () => {
    const { policy } = createFixture([])
    for (let n = 0; n <= 50_000; n++) policy.rememberClear(`mx${n}.example.net`)
    expect(policy.modeOf('mx0.example.net', undefined)).toBe('opportunistic')
    expect(policy.modeOf('mx50000.example.net', undefined)).toBe('off')
  })
})

import { describe, expect, test } from 'vitest'
import { applyStep, type RotationKey, rotationSteps } from './dkim-rotation-steps.ts'

const DAY = 24 * 3_600_000
const start = new Date('2026-11-01T00:00:00Z')
const at = (ms: number) => new Date(start.getTime() + ms)
const key = (selector: string, state: RotationKey['state'], more: Partial<RotationKey> = {}): RotationKey => ({
  selector,
  algorithm: 'rsa-sha256',
  state,
  created_at: start,
  ...more,
})
const steps = (keys: RotationKey[], more: { now?: Date; visible?: string[]; rotationDays?: number } = {}) =>
  rotationSteps({
    keys,
    now: more.now ?? start,
    visible: new Set(more.visible ?? []),
    rotationDays: more.rotationDays ?? 0,
    negativeTtlSeconds: 3600,
  })

describe('the first key', () => {
  test('signs as soon as everybody can see it', () => {
    expect(steps([key('a', 'pending')])).toEqual([])
    expect(steps([key('a', 'pending')], { visible: ['a'] })).toEqual([
      { kind: 'seen', selector: 'a' },
      { kind: 'activate', selector: 'a' },
    ])
  })
  test('an Ed25519 key waits for an RSA key that signs', () => {
    const second = key('e', 'pending', { algorithm: 'ed25519-sha256' })
    expect(steps([key('a', 'pending'), second], { visible: ['e'] })).toEqual([{ kind: 'seen', selector: 'e' }])
    expect(steps([key('a', 'active'), { ...second, seen_at: start }], { visible: ['a', 'e'] })).toEqual([
      { kind: 'activate', selector: 'e' },
    ])
  })
})

test.each<[string, RotationKey[], boolean]>([
  ['all keys are withdrawn', [key('a', 'revoked', { revoked_at: start })], true],
  ['there is none any more', [], true],
  ['only Ed25519 keys are left', [key('e', 'revoked', { algorithm: 'ed25519-sha256', revoked_at: start })], true],
  ['one signs', [key('a', 'revoked', { revoked_at: start }), key('b', 'active')], false],
  ['one waits', [key('a', 'revoked', { revoked_at: start }), key('b', 'pending')], false],
  ['one is retiring', [key('a', 'retiring', { retired_at: start })], false],
])('a domain gets a new RSA key when it has none to sign with: %s', (_, keys, created) =>
  expect(steps(keys)).toEqual(created ? [{ kind: 'create', algorithm: 'rsa-sha256' }] : []),
)

describe('hand-over', () => {
  const old = key('a', 'active', { activated_at: start })
  test.each<[string, Partial<RotationKey>, string[], number, string[]]>([
    ['waits until it is visible', {}, [], 0, []],
    ['notes when it was seen', {}, ['b'], 0, ['seen b']],
    ['waits for negative caches', { seen_at: start }, ['b'], 3_599_999, []],
    ['takes over after them', { seen_at: start }, ['b'], 3_600_000, ['activate b', 'retire a']],
    ['starts again when the record vanished', { seen_at: start }, [], 3_600_000, ['unseen b']],
  ])('%s', (_, more, visible, ms, expected) =>
    expect(
      steps([old, key('b', 'pending', more)], { visible, now: at(ms) }).map(
        step => `${step.kind} ${'selector' in step ? step.selector : ''}`,
      ),
    ).toEqual(expected),
  )
  test('is started by age only where an interval is set', () => {
    expect(steps([old], { now: at(400 * DAY) })).toEqual([])
    expect(steps([old], { now: at(90 * DAY - 1), rotationDays: 90 })).toEqual([])
    expect(steps([old], { now: at(90 * DAY), rotationDays: 90 })).toEqual([{ kind: 'create', algorithm: 'rsa-sha256' }])
    expect(steps([old, key('b', 'pending')], { now: at(90 * DAY), rotationDays: 90 })).toEqual([])
  })
})

test('a whole life: nothing signs unseen, old records outlive their mail, one RSA key is active at any time', () => {
  let keys = [key('k0', 'active', { activated_at: start, seen_at: start })]
  let made = 0
  const log: string[] = []
  for (let hour = 0; hour <= 24 * 60; hour++) {
    const now = at(hour * 3_600_000)
    // The record of a new key shows up two hours after it was made.
    const shown = keys.filter(({ created_at }) => now.getTime() - created_at.getTime() >= 2 * 3_600_000)
    const visible = shown.map(({ selector }) => selector)
    for (const step of steps(keys, { now, visible, rotationDays: 30 })) {
      log.push(`${hour}h ${step.kind} ${'selector' in step ? step.selector : ''}`.trim())
      keys =
        step.kind === 'create'
          ? [...keys, key(`k${++made}`, 'pending', { created_at: now })]
          : applyStep(keys, step, now)
    }
    expect(keys.filter(({ state }) => state === 'active')).toHaveLength(1)
    expect(steps(keys, { now, visible, rotationDays: 30 })).toEqual([])
  }
  expect(log).toEqual(['720h create', '722h seen k1', '723h activate k1', '723h retire k0', '891h revoke k0'])
})

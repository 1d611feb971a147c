import { AsyncLocalStorage, createHook } from 'node:async_hooks'
import { expect, onTestFinished, test } from 'vitest'
import { hashPassword, makePassword, verifyPassword } from './password-hashing.ts'

test('a hash names its parameters, differs each time and fits only its password', async () => {
  const [one, two] = await Promise.all([hashPassword('correct horse'), hashPassword('correct horse')])
  expect(one).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$/)
  expect(one).not.toBe(two)
  expect(await verifyPassword(one, 'correct horse')).toBe(true)
  expect(await verifyPassword(one, 'correct horsf')).toBe(false)
  expect(await verifyPassword(one, '')).toBe(false)
})

test('an unknown user is refused with any password', async () => {
  expect(await verifyPassword(undefined, 'correct horse')).toBe(false)
  expect(await verifyPassword(undefined, '')).toBe(false)
})

test('hashing leaves the event loop free', async () => {
  const turns: number[] = []
  const hashing = Promise.all(Array.from({ length: 8 }, () => hashPassword('correct horse')))
  let busy = true
  const count = async () => {
    while (busy) await new Promise(resolve => setImmediate(() => resolve(turns.push(1))))
  }
  const counting = count()
  await hashing
  busy = false
  await counting
  expect(turns.length).toBeGreaterThan(8)
})

/** The accounts whose hashes begin, in order. They end in any order, as the system schedules the threads. */
function watchBeginnings() {
  const begun: string[] = []
  const current = new AsyncLocalStorage<string>()
  const hook = createHook({
    init(_id, type) {
      const account = current.getStore()
      // All else that happens here for an account are promises.
      if (account !== undefined && type !== 'PROMISE') begun.push(account)
    },
  }).enable()
  onTestFinished(() => void hook.disable())
  const make = (account: string) => current.run(account, () => hashPassword('correct horse', account))
  return { begun, make }
}

test('accounts take turns, and one of them waits with 20 hashes at most', async () => {
  const { begun, make } = watchBeginnings()
  const many = Array.from({ length: 23 }, () => make('usr_many'))
  const other = make('usr_other')
  const results = await Promise.allSettled(many)
  await other
  expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(21)
  expect(results.at(-1)).toMatchObject({ reason: { code: 'rate_limited', retryAfter: 5 } })
  expect(begun).toHaveLength(22)
  expect(begun.indexOf('usr_other')).toBe(1)
})

test('made passwords are long, readable and never the same', () => {
  const made = Array.from({ length: 1000 }, makePassword)
  expect(new Set(made).size).toBe(1000)
  for (const password of made) expect(password).toMatch(/^[a-km-zA-HJ-NP-Z2-9]{24}$/)
})

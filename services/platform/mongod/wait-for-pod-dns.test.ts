import { expect, test } from 'vitest'
import { waitForOwnName } from './wait-for-pod-dns.ts'

const to = (...addresses: string[]) => addresses.map(address => ({ address }))

test.each([
  ['immediately', [to('10.0.0.2')]],
  ['among others', [to('fd00::2', '10.0.0.2')]],
  ['after the pod before it', [to('10.0.0.1'), to('10.0.0.2')]],
  ['after nothing', [[], to('10.0.0.2')]],
])('the name leads here %s', async (_, answers) => {
  const left = [...answers]
  await waitForOwnName('db-0.db.mail.svc', '10.0.0.2', async () => left.shift() ?? [], 5_000)
  expect(left).toEqual([])
})

test('an unknown name is looked up again; one that keeps another address is reported', async () => {
  const answers = [Promise.reject(new Error('ENOTFOUND'))]
  const lookup = () => answers.shift() ?? Promise.resolve(to('10.0.0.1'))
  await expect(waitForOwnName('db-0.db.mail.svc', '10.0.0.2', lookup, 2_000)).rejects.toThrow(
    'db-0.db.mail.svc leads to 10.0.0.1 and not to 10.0.0.2, this pod',
  )
  expect(answers).toEqual([])
})

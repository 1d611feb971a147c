/** A few kills under load; `node test/bench/kills.ts` runs fifty and more, on one and on three members. */
import { expect, test } from 'vitest'
import { runKills } from '../../support/mail/kills-under-load.ts'

test('killing workers and mongod under load loses no message, and repeats ambiguous attempts only', async () => {
  const report = await runKills({
    members: 1,
    workers: 2,
    disruptions: ['worker', 'mongod', 'worker'],
    pauseMs: 1_500,
    rate: 40,
  })
  expect(report.accepted).toBeGreaterThan(50)
  expect(report).toMatchObject({ lost: 0, queued: 0, unexplained: 0 })
  expect(report.delivered).toBe(report.accepted)
}, 480_000)

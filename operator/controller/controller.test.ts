import { expect, onTestFinished, test } from 'vitest'
import { silentLog } from '../../services/platform/observability/log.ts'
import { createMetrics } from '../../services/platform/observability/metrics.ts'
import { until } from '../../test/support/time/until.ts'
import { LaterError, type Reconcile, startController, TerminalError } from './controller.ts'
import { WorkQueue } from './work-queue.ts'

function start(reconcile: Reconcile, concurrency = 2) {
  const metrics = createMetrics('test').operator
  const queue = new WorkQueue('test', { baseMs: 1, capMs: 8 }, metrics)
  const controller = startController({ name: 'test', queue, reconcile, concurrency, log: silentLog, metrics })
  onTestFinished(() => controller.stop())
  const count = async (name: 'reconciles' | 'reconcileErrors' | 'terminalErrors') =>
    (await metrics[name].get()).values.map(({ labels, value }) => ['result' in labels ? labels.result : '', value])
  return { queue, controller, count }
}

test('a failing key is tried again until it succeeds, and the failures are forgotten', async () => {
  let runs = 0
  const { queue, count } = start(async () => {
    if (++runs < 4) throw new Error('not yet')
    return {}
  })
  queue.add('a')
  await until(() => runs === 4)
  await until(() => queue.failures('a') === 0)
  expect(await count('reconciles')).toEqual([
    ['error', 3],
    ['success', 1],
  ])
})

test('a terminal failure is not tried again before something changes', async () => {
  let runs = 0
  const { queue, count } = start(async () => {
    runs++
    throw new TerminalError('the Secret is missing')
  })
  queue.add('a')
  await until(async () => (await count('terminalErrors')).length > 0)
  expect(runs).toBe(1)
  expect(queue.depth()).toBe(0)
  queue.add('a')
  await until(() => runs === 2)
})

test.each([
  ['an error of ours', new LaterError('busy', 40)],
  ['the API server', Object.assign(new Error('429'), { retryAfterMs: 40 })],
])('a pause requested by %s is respected', async (_who, error) => {
  const times: number[] = []
  const { queue } = start(async () => {
    times.push(performance.now())
    if (times.length === 1) throw error
    return {}
  })
  queue.add('a')
  await until(() => times.length === 2)
  expect((times[1] ?? 0) - (times[0] ?? 0)).toBeGreaterThanOrEqual(39)
})

test('a run may request a later run', async () => {
  let runs = 0
  const { queue } = start(async () => (++runs < 3 ? { requeueAfterMs: 1 } : {}))
  queue.add('a')
  await until(() => runs === 3)
})

test('keys run side by side up to the concurrency, one key never beside itself', async () => {
  const active = new Set<string>()
  let most = 0
  let finished = 0
  const { queue } = start(async key => {
    expect(active.has(key)).toBe(false)
    active.add(key)
    most = Math.max(most, active.size)
    await new Promise(resolve => setImmediate(resolve))
    active.delete(key)
    finished++
    return {}
  })
  for (let i = 0; i < 20; i++) queue.add(`k${i % 5}`)
  await until(() => finished >= 5 && queue.depth() === 0 && active.size === 0)
  expect(most).toBe(2)
})

test('stopping waits for the run in flight', async () => {
  const gate = Promise.withResolvers<void>()
  let ended = false
  const { queue, controller } = start(async () => {
    await gate.promise
    ended = true
    return {}
  })
  queue.add('a')
  await until(() => queue.depth() === 0)
  const stopped = controller.stop()
  gate.resolve()
  await stopped
  expect(ended).toBe(true)
})

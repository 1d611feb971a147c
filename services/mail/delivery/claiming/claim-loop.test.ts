/** The order of rounds, searches and waits; the rounds are played by the test, the wake-ups are real. */
import { expect, onTestFinished, test } from 'vitest'
import type { ClaimedDelivery } from '../../store/delivery.ts'
import type { ClaimedBatch } from './claim-deliveries.ts'
import { runClaimLoop } from './claim-loop.ts'
import type { Round } from './claim-rounds.ts'
import { WakeUps } from './wake-ups.ts'

const batch = (count: number): ClaimedBatch => ({
  deliveries: Array<ClaimedDelivery>(count).fill({} as ClaimedDelivery),
  messages: new Map(),
})

/** A loop over these rounds; `steps` lists what it did until none is left. */
async function run(
  script: (Partial<Round> & { fails?: string; more?: boolean; undelivered?: boolean; unsearched?: boolean })[],
) {
  const steps: string[] = []
  const warnings: unknown[] = []
  const stop = new AbortController()
  onTestFinished(() => stop.abort())
  let at = -1
  const wakeUps = new WakeUps()
  const ended = runClaimLoop({
    signal: stop.signal,
    log: { warn: (fields: unknown) => void warnings.push(fields) },
    rounds: {
      async next() {
        const step = script[++at]
        if (!step) {
          stop.abort()
          wakeUps.notify()
          return { full: false }
        }
        steps.push('round')
        if (step.fails) throw new Error(step.fails)
        return { batch: step.batch, full: step.full ?? false }
      },
      async search() {
        if (!stop.signal.aborted) steps.push('search')
        if (script[at]?.unsearched) throw new Error('too slow')
        return script[at]?.more ?? false
      },
    },
    async deliver({ deliveries }) {
      steps.push(`deliver ${deliveries.length}`)
      if (script[at]?.undelivered) throw new Error('database away')
    },
    wakeUps: {
      wait(ms) {
        if (!stop.signal.aborted) steps.push(`wait ${ms}`)
        return Promise.resolve(false)
      },
    },
  })
  await ended
  return { steps, warnings }
}

test.each<[string, Parameters<typeof run>[0], string]>([
  [
    'nothing is there: it waits longer and longer',
    [{}, {}, {}],
    'round search wait 75 round search wait 112.5 round search wait 168.75',
  ],
  [
    'something is there: it is on its way before the search',
    [{ batch: batch(2) }, {}],
    'round deliver 2 search wait 50 round search wait 75',
  ],
  [
    'more is there: the next round follows immediately',
    [{ batch: batch(200), full: true }, { batch: batch(7) }],
    'round deliver 200 search round deliver 7 search wait 50',
  ],
  [
    'slots that came are not searched completely: so does it',
    [{ more: true }, { more: true }, {}],
    'round search round search round search wait 75',
  ],
  [
    'the database is away: it goes on after a pause',
    [{ fails: 'away' }, { batch: batch(1), undelivered: true }, { batch: batch(1) }],
    'round wait 75 round deliver 1 wait 112.5 round deliver 1 search wait 50',
  ],
  [
    'a search fails: what was taken still counts',
    [
      { batch: batch(200), full: true, unsearched: true },
      { batch: batch(1), unsearched: true },
    ],
    'round deliver 200 search round deliver 1 search wait 50',
  ],
])('when %s', async (_, script, expected) => {
  const { steps, warnings } = await run(script)
  expect(steps.join(' ')).toBe(expected)
  expect(warnings).toHaveLength(
    script.filter(({ fails, undelivered, unsearched }) => fails || undelivered || unsearched).length,
  )
})

test('a wake-up ends the wait, and one that comes during a round is not lost', async () => {
  const wakeUps = new WakeUps()
  const stop = new AbortController()
  let rounds = 0
  const ended = runClaimLoop({
    signal: stop.signal,
    log: { warn: () => undefined },
    rounds: {
      async next() {
        rounds++
        wakeUps.notify() // as a hint that comes while the round reads
        if (rounds === 1_000) stop.abort()
        return { full: false }
      },
      search: async () => false,
    },
    deliver: async () => undefined,
    wakeUps,
  })
  await ended
  expect(rounds).toBe(1_000)
})

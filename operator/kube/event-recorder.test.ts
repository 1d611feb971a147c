import { describe, expect, test } from 'vitest'
import { silentLog } from '../../services/platform/observability/log.ts'
import { testClock } from '../../test/support/time/test-clock.ts'
import type { KubeClient, KubeRequest } from './client.ts'
import { createRecorder, type EventInput } from './event-recorder.ts'

const MINUTE = 60_000

/** A recorder that stores its requests; `answer` responds to each. */
function recording(answer: (request: KubeRequest) => Promise<unknown> = async () => ({})) {
  const clock = testClock()
  const sent: KubeRequest[] = []
  const client: Pick<KubeClient, 'request'> = {
    request: async <T>(request: KubeRequest) => {
      sent.push(request)
      return (await answer(request)) as T
    },
  }
  const recorder = createRecorder(client as KubeClient, 'operator-1', silentLog, () => clock.now().getTime())
  const about = (name = 'shop') => ({
    kind: 'App',
    metadata: { name, namespace: 'n', uid: `uid-${name}`, resourceVersion: '7' },
  })
  const event = (note = 'refused'): EventInput => ({ type: 'Warning', reason: 'Refused', action: 'Publish', note })
  const recordEvent = (note?: string, name?: string) => recorder.record(about(name), event(note))
  /** What was sent since the last look: the note of each new event, the count of each series. */
  const seen = async () => {
    await recorder.flush(5_000)
    return sent.splice(0).map(({ body }) => {
      const { note, series } = body as { note?: string; series?: { count: number } }
      return series ? series.count : note
    })
  }
  return { clock, sent, recorder, about, event, recordEvent, seen }
}

test('an event has its reason, object and reporter, with the times that the API server requires', async () => {
  const { recorder, sent, about, event } = recording()
  recorder.record(about(), event())
  await recorder.flush(5_000)
  expect(sent).toEqual([
    {
      method: 'POST',
      path: '/apis/events.k8s.io/v1/namespaces/n/events',
      body: {
        apiVersion: 'events.k8s.io/v1',
        kind: 'Event',
        metadata: { name: expect.stringMatching(/^shop\.[0-9a-f]{17}$/), namespace: 'n' },
        eventTime: '2026-11-21T10:00:00.000000Z',
        reportingController: 'postwright.dev/operator',
        reportingInstance: 'operator-1',
        type: 'Warning',
        reason: 'Refused',
        action: 'Publish',
        note: 'refused',
        regarding: {
          apiVersion: 'postwright.dev/v1beta1',
          kind: 'App',
          name: 'shop',
          namespace: 'n',
          uid: 'uid-shop',
          resourceVersion: '7',
        },
      },
    },
  ])
})

describe('equal events', () => {
  test('repeats are one event and a series: the second opens it, later ones refresh it every half hour', async () => {
    const { clock, recordEvent, seen } = recording()
    recordEvent()
    recordEvent()
    expect(await seen()).toEqual(['refused', 2])
    const counts: unknown[] = []
    for (let minutes = 5; minutes <= 60; minutes += 5) {
      clock.advance(5 * MINUTE)
      recordEvent()
      counts.push(...(await seen()))
    }
    expect(counts).toEqual([8, 14])
  })

  test('go to the event that they repeat', async () => {
    const { recordEvent, recorder, sent } = recording()
    recordEvent()
    recordEvent()
    await recorder.flush(5_000)
    const [first, second] = sent
    const name = (first?.body as { metadata?: { name: string } } | undefined)?.metadata?.name
    expect(second).toMatchObject({ method: 'PATCH', path: `${first?.path}/${name}`, patch: 'merge' })
    expect(second?.body).toEqual({ series: { count: 2, lastObservedTime: '2026-11-21T10:00:00.000000Z' } })
  })

  test('are a new event after six quiet minutes', async () => {
    const { clock, recordEvent, seen } = recording()
    recordEvent()
    clock.advance(6 * MINUTE)
    recordEvent()
    expect(await seen()).toEqual(['refused', 2])
    clock.advance(6 * MINUTE + 1)
    recordEvent()
    expect(await seen()).toEqual(['refused'])
  })

  test('are reported again when the API server refused the first', async () => {
    let refuse = true
    const { recordEvent, seen } = recording(async () => {
      if (refuse) throw new Error('forbidden')
    })
    recordEvent()
    expect(await seen()).toEqual(['refused'])
    refuse = false
    recordEvent()
    recordEvent()
    expect(await seen()).toEqual(['refused', 2])
  })

  test('differ by object, reason, action, type and note', async () => {
    const { recorder, about, event, seen } = recording()
    const others: Partial<EventInput>[] = [{ reason: 'Other' }, { action: 'Other' }, { type: 'Normal' }, { note: 'x' }]
    for (const change of [{}, ...others]) recorder.record(about(), { ...event(), ...change })
    recorder.record(about('game'), event())
    expect(await seen()).toEqual(['refused', 'refused', 'refused', 'refused', 'x', 'refused'])
  })
})

describe('a flood about one object', () => {
  test('is limited to 25, then to one more every five minutes; other objects have their own limit', async () => {
    const { clock, recordEvent, seen } = recording()
    for (let i = 0; i < 40; i++) recordEvent(`number ${i}`)
    recordEvent('calm', 'game')
    expect(await seen()).toEqual([...Array.from({ length: 25 }, (_, i) => `number ${i}`), 'calm'])
    clock.advance(5 * MINUTE - 1)
    recordEvent('too early')
    expect(await seen()).toEqual([])
    clock.advance(1)
    recordEvent('in time')
    recordEvent('too many')
    expect(await seen()).toEqual(['in time'])
  })

  test('is forgiven with time, but never saves up more than the burst', async () => {
    const { clock, recordEvent, seen } = recording()
    for (let i = 0; i < 25; i++) recordEvent(`first ${i}`)
    clock.advance(1_000 * 5 * MINUTE)
    for (let i = 0; i < 30; i++) recordEvent(`second ${i}`)
    expect(await seen()).toHaveLength(50)
  })
})

test('what the API server does not take in time waits no more than a thousand deep', async () => {
  const gate = Promise.withResolvers<void>()
  const { recordEvent, recorder, sent } = recording(() => gate.promise)
  for (let i = 0; i < 1_200; i++) recordEvent('stuck', `app-${i}`)
  await recorder.flush(1)
  expect(sent).toHaveLength(1)
  gate.resolve()
  await recorder.flush(5_000)
  expect(sent).toHaveLength(1_000)
  // A dropped event was not reported: it is reported when it happens again.
  recordEvent('stuck', 'app-1199')
  await recorder.flush(5_000)
  expect(sent).toHaveLength(1_001)
})

test.each([
  ['complete below the limit', 'x'.repeat(1_000), 1_000],
  ['cut above it', 'x'.repeat(1_001), 1_000],
  ['cut between signs of three bytes', '域'.repeat(400), 333],
  ['cut between signs of four bytes', '📮'.repeat(300), 500],
])('a note is %s', async (_, note, length) => {
  const { recordEvent, seen } = recording()
  recordEvent(note)
  const [taken] = (await seen()) as string[]
  expect(taken).toHaveLength(length)
  expect(note.startsWith(taken ?? '-')).toBe(true)
})

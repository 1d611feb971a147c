/** The rules that all kinds have in common, over an API server of a few lines that keeps one object. */
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { silentLog } from '../../../services/platform/observability/log.ts'
import { createMetrics } from '../../../services/platform/observability/metrics.ts'
import { testClock } from '../../../test/support/time/test-clock.ts'
import { LaterError, TerminalError } from '../../controller/controller.ts'
import { type KubeClient, KubeError, type KubeRequest } from '../../kube/client.ts'
import { NotLeaderError } from '../../kube/leader-election.ts'
import { createCache, type KubeObject } from '../../kube/object-cache.ts'
import { createWriter } from '../../kube/object-writer.ts'
import { type Condition, defineKind, statusFields } from '../../resources/kind.ts'
import { bad, good, unknown } from './conditions.ts'
import type { OperatorContext } from './operator-context.ts'
import {
  accepted,
  createReconcile,
  type Outcome,
  type Reconciler,
  type Removal,
  type ResourceState,
} from './reconcile.ts'
import { ReportedError } from './reported-error.ts'

const FINALIZER = 'postwright.dev/cleanup'
const Thing = defineKind({
  kind: 'Thing',
  plural: 'things',
  shortName: 'th',
  description: 'A thing.',
  spec: z.object({ size: z.int().min(0) }),
  status: z.object({ ...statusFields, thingId: z.string().optional() }),
  columns: [],
})
type Status = z.output<typeof Thing.status>
type Stored = KubeObject & { spec: unknown; status?: Status }

const fine: Outcome = {
  conditions: [accepted('Taken on.')],
  message: 'All is well.',
  status: { thingId: 't1' },
  recordId: 't1',
}

interface Given {
  metadata?: Partial<KubeObject['metadata']>
  spec?: unknown
  status?: object
  ensure?: () => Outcome | Promise<Outcome>
  remove?: (retain: boolean) => Removal
  mirror?: (state: ResourceState) => void
  /** What the API server answers in place of doing what it is asked. */
  refuse?: (request: KubeRequest) => KubeError | undefined
  assertLeader?: () => void
}

function world(given: Given = {}) {
  const clock = testClock()
  const metrics = createMetrics('test')
  const cache = createCache(() => undefined)
  /** Everything that happened, in order. */
  const did: string[] = []
  const events: string[] = []
  let object: Stored | undefined = {
    metadata: {
      name: 'one',
      namespace: 'n',
      uid: 'u1',
      resourceVersion: '1',
      generation: 1,
      creationTimestamp: '2026-11-21T09:00:00Z',
      ...given.metadata,
    },
    spec: given.spec ?? { size: 1 },
    ...(given.status ? { status: given.status } : {}),
  }
  cache.put(object)
  const change = (part: Partial<Stored>, metadata: Partial<KubeObject['metadata']> = {}) => {
    if (!object) throw new KubeError(404, 'NotFound', 'gone')
    const resourceVersion = String(Number(object.metadata.resourceVersion) + 1)
    object = { ...object, ...part, metadata: { ...object.metadata, ...metadata, resourceVersion } }
    return object
  }
  const client: Pick<KubeClient, 'request'> = {
    request: async <T>(request: KubeRequest) => {
      const refusal = given.refuse?.(request)
      if (refusal) throw refusal
      const body = request.body as { metadata: { finalizers?: string[] }; status?: Status }
      if (request.path.endsWith('/status')) {
        did.push('status')
        return change(body.status ? { status: body.status } : {}) as T
      }
      const { finalizers = [] } = body.metadata
      did.push(`finalizers ${finalizers.join(',')}`)
      return change({}, { finalizers }) as T
    },
  }
  const context = {
    caches: new Map([['Thing', cache]]),
    writer: createWriter(client as KubeClient),
    recorder: {
      record: (_: unknown, { type, reason }: { type: string; reason: string }) => events.push(`${type} ${reason}`),
      flush: async () => undefined,
    },
    assertLeader: given.assertLeader ?? (() => undefined),
    clock,
    metrics,
    log: silentLog,
  } as unknown as OperatorContext
  const reconciler: Reconciler<{ size: number }, Status> = {
    kind: Thing,
    async ensure() {
      did.push('ensure')
      return (await given.ensure?.()) ?? fine
    },
    async remove(_resource, retain) {
      did.push(retain ? 'retain' : 'remove')
      return given.remove?.(retain) ?? { done: true }
    },
    async mirror(id, uid, state) {
      did.push(`mirror ${id} ${uid} ${state.reason}`)
      given.mirror?.(state)
    },
  }
  const reconcile = createReconcile(context, reconciler)
  return {
    clock,
    metrics,
    did,
    events,
    /** One run, after the watch has told the last state; what it did is in `did`. */
    async run() {
      did.length = 0
      events.length = 0
      if (object) cache.put(object)
      return reconcile('n/one')
    },
    runFor: reconcile,
    edit: (part: Partial<Stored>, metadata?: Partial<KubeObject['metadata']>) => void change(part, metadata),
    status: () => object?.status,
    condition: (type: string): Condition | undefined => object?.status?.conditions?.find(one => one.type === type),
    finalizers: () => object?.metadata.finalizers,
  }
}

const guarded = { finalizers: [FINALIZER] }
const going = { ...guarded, deletionTimestamp: '2026-11-21T10:00:00Z' }

describe('making it true', () => {
  test('the finalizer stands before anything is done, then the status is written and the state told', async () => {
    const w = world()
    expect(await w.run()).toEqual({})
    expect(w.did).toEqual([`finalizers ${FINALIZER}`, 'ensure', 'status', 'mirror t1 u1 Available'])
    expect(w.status()).toMatchObject({ thingId: 't1', observedGeneration: 1 })
    expect(w.condition('Ready')).toMatchObject({ status: 'True', message: 'All is well.' })
    expect(w.events).toEqual(['Normal Available'])
  })

  test('finalizers of others stay', async () => {
    const w = world({ metadata: { finalizers: ['foregroundDeletion'] } })
    await w.run()
    expect(w.finalizers()).toEqual(['foregroundDeletion', FINALIZER])
  })

  test('where nothing changed nothing is written and nothing told', async () => {
    const w = world()
    await w.run()
    await w.run()
    expect(w.did).toEqual(['ensure'])
    expect(w.events).toEqual([])
  })

  test('a status that somebody else changed is written again, without being news', async () => {
    const w = world()
    await w.run()
    w.edit({ status: { ...w.status(), thingId: 'forged' } })
    await w.run()
    expect(w.did).toEqual(['ensure', 'status'])
    expect(w.status()?.thingId).toBe('t1')
    expect(w.events).toEqual([])
  })

  test('a new generation is written although all is as it was', async () => {
    const w = world()
    await w.run()
    w.edit({ spec: { size: 2 } }, { generation: 2 })
    await w.run()
    expect(w.status()?.observedGeneration).toBe(2)
    expect(w.condition('Accepted')?.observedGeneration).toBe(2)
  })

  test.each([
    ['False', 'Warning', bad('Accepted', 'Refused', 'no')],
    ['True', 'Normal', good('Accepted', 'Accepted', 'yes')],
  ])('a first Ready=%s is told as %s; Unknown is none yet', async (_status, type, condition) => {
    let conditions = [unknown('Accepted', 'Waiting', 'not yet')]
    const w = world({ ensure: () => ({ ...fine, conditions }) })
    await w.run()
    expect(w.events).toEqual([])
    conditions = [condition]
    await w.run()
    expect(w.events).toEqual([`${type} ${condition.status === 'True' ? 'Available' : 'Refused'}`])
    conditions = [unknown('Accepted', 'Waiting', 'again')]
    await w.run()
    expect(w.events).toEqual(['Normal Waiting'])
  })

  test('another message is written and is no news', async () => {
    let message = 'One thing.'
    const w = world({ ensure: () => ({ ...fine, message }) })
    await w.run()
    message = 'Two things.'
    await w.run()
    expect(w.condition('Ready')?.message).toBe('Two things.')
    expect(w.events).toEqual([])
  })

  test('a look that found nothing out keeps what was known, and asks to come again', async () => {
    let outcome = fine
    const w = world({ ensure: () => outcome })
    await w.run()
    outcome = { conditions: [bad('Accepted', 'Conflict', 'taken')], message: '', requeueAfterMs: 60_000 }
    expect(await w.run()).toEqual({ requeueAfterMs: 60_000 })
    expect(w.status()).toMatchObject({ thingId: 't1' })
    expect(w.condition('Ready')).toMatchObject({ status: 'False', reason: 'Conflict' })
    expect(w.did).toEqual(['ensure', 'status'])
  })

  test('reported comes after the status is out, and not when it could not be written', async () => {
    let failing = true
    let reported = 0
    const w = world({
      ensure: () => ({ ...fine, reported: () => void reported++ }),
      refuse: ({ path }) =>
        failing && path.endsWith('/status') ? new KubeError(409, 'Conflict', 'meanwhile') : undefined,
    })
    await expect(w.run()).rejects.toMatchObject({ status: 409 })
    expect(reported).toBe(0)
    expect(w.did).not.toContain('mirror t1 u1 Available')
    failing = false
    await w.run()
    expect(reported).toBe(1)
  })
})

describe('the state for the panel', () => {
  test('is told again only when it is another, and when the resource is another', async () => {
    let message = 'One.'
    const w = world({ ensure: () => ({ ...fine, message }) })
    await w.run()
    message = 'Two.'
    await w.run()
    expect(w.did).toContain('mirror t1 u1 Available')
    await w.run()
    expect(w.did).toEqual(['ensure'])
    w.edit({}, { uid: 'u2' })
    await w.run()
    expect(w.did).toContain('mirror t1 u2 Available')
  })

  test('that cannot be told is counted, hinders nothing, and is told next time', async () => {
    let failing = true
    const w = world({
      mirror: () => {
        if (failing) throw new Error('away')
      },
    })
    expect(await w.run()).toEqual({})
    const { values } = await w.metrics.operator.mirrorFailures.get()
    expect(values.map(({ value, labels }) => [labels.kind, value])).toEqual([['Thing', 1]])
    failing = false
    await w.run()
    expect(w.did).toEqual(['ensure', 'mirror t1 u1 Available'])
    await w.run()
    expect(w.did).toEqual(['ensure'])
  })
})

describe('what is thrown', () => {
  const unavailable = Object.assign(new Error('no primary'), { name: 'MongoServerSelectionError' })

  test.each<[string, Error, string | undefined]>([
    [
      'a failure with words of its own',
      new ReportedError(bad('SecretSynced', 'WriteRefused', 'quota'), 0),
      'WriteRefused',
    ],
    ['a database that is away', unavailable, 'DatabaseUnavailable'],
    ['anything unknown', new Error('password=hunter2'), 'InternalError'],
    ['a refusal of the API server', new KubeError(409, 'Conflict', 'meanwhile'), undefined],
    ['a lost lease', new NotLeaderError(), undefined],
    ['what waits for a change', new TerminalError('later'), undefined],
    ['what says itself when to come back', new LaterError('later', 5), undefined],
  ])('%s goes on to the queue, and is told where people can do something', async (_what, error, reason) => {
    const w = world({
      metadata: guarded,
      ensure: () => {
        throw error
      },
    })
    await expect(w.run()).rejects.toBe(error)
    expect(w.condition('Ready')?.reason).toBe(reason)
    expect(JSON.stringify(w.status() ?? {})).not.toContain('hunter2')
  })

  test('something that is gone is looked at again, without a word', async () => {
    const w = world({
      metadata: guarded,
      ensure: () => {
        throw new KubeError(404, 'NotFound', 'gone')
      },
    })
    expect(await w.run()).toEqual({ requeueAfterMs: 5_000 })
    expect(w.did).toEqual(['ensure'])
  })

  test('whoever leads no more does not even look', async () => {
    const w = world({
      assertLeader: () => {
        throw new NotLeaderError()
      },
    })
    await expect(w.run()).rejects.toThrow(NotLeaderError)
    expect(w.did).toEqual([])
  })

  test('a conflict over the finalizer comes before anything is done', async () => {
    const w = world({
      refuse: ({ path }) => (path.endsWith('/one') ? new KubeError(409, 'Conflict', 'meanwhile') : undefined),
    })
    await expect(w.run()).rejects.toMatchObject({ status: 409 })
    expect(w.did).toEqual([])
  })

  test('a key without an object is done', async () => {
    const w = world()
    expect(await w.runFor('n/other')).toEqual({})
    expect(w.did).toEqual([])
  })
})

describe('a paused resource', () => {
  const paused = { annotations: { 'postwright.dev/reconcile': 'paused' } }

  test('is not touched, says so once, and keeps what was known', async () => {
    const w = world()
    await w.run()
    w.edit({ spec: { size: 2 } }, { ...paused, generation: 2 })
    await w.run()
    expect(w.did).toEqual(['status'])
    expect(w.events).toEqual(['Warning Paused'])
    expect(w.status()?.conditions?.map(({ type }) => type)).toEqual(['Ready', 'Active', 'Accepted'])
    expect(w.status()?.thingId).toBe('t1')
    await w.run()
    expect(w.did).toEqual([])
  })

  test('gets no finalizer', async () => {
    const w = world({ metadata: paused })
    await w.run()
    expect(w.finalizers()).toBeUndefined()
  })

  test('goes on where the annotation is gone', async () => {
    const w = world({ metadata: paused })
    await w.run()
    w.edit({}, { annotations: {} })
    await w.run()
    expect(w.did).toEqual([`finalizers ${FINALIZER}`, 'ensure', 'status', 'mirror t1 u1 Available'])
    expect(w.status()?.conditions?.map(({ type }) => type)).toEqual(['Ready', 'Accepted'])
  })

  test.each(['Paused', 'true', '', 'no'])('is none with the annotation "%s"', async value => {
    const w = world({ metadata: { ...guarded, annotations: { 'postwright.dev/reconcile': value } } })
    await w.run()
    expect(w.did).toContain('ensure')
  })

  test('that goes deletes nothing', async () => {
    const w = world({ metadata: { ...going, ...paused } })
    await w.run()
    expect(w.did).toEqual(['retain', 'finalizers '])
  })
})

describe('undoing', () => {
  test('comes before the finalizer goes; finalizers of others stay', async () => {
    const w = world({ metadata: { ...going, finalizers: ['a', FINALIZER, 'b'] } })
    expect(await w.run()).toEqual({})
    expect(w.did).toEqual(['remove', 'finalizers a,b'])
  })

  test('that cannot be done yet says why, keeps the finalizer and comes again', async () => {
    const condition = bad('DeletionBlocked', 'InUse', 'still used')
    let removal: Removal = { done: false, condition, requeueAfterMs: 5_000 }
    const w = world({ metadata: going, remove: () => removal })
    expect(await w.run()).toEqual({ requeueAfterMs: 5_000 })
    expect(w.did).toEqual(['remove', 'status'])
    expect(w.condition('Ready')).toMatchObject({ status: 'False', reason: 'InUse' })
    removal = { done: true, events: [{ type: 'Warning', reason: 'LeftBehind', action: 'Remove', note: '' }] }
    await w.run()
    expect(w.did).toEqual(['remove', 'finalizers '])
    expect(w.events).toEqual(['Warning LeftBehind'])
  })

  test('is not begun for what carries no finalizer of ours', async () => {
    const w = world({ metadata: { ...going, finalizers: ['other'] } })
    await w.run()
    expect(w.did).toEqual([])
  })

  test('is left out where force-delete is "true", and that is told', async () => {
    const w = world({ metadata: { ...going, annotations: { 'postwright.dev/force-delete': 'true' } } })
    await w.run()
    expect(w.did).toEqual(['finalizers '])
    expect(w.events).toEqual(['Warning ForcedDeletion'])
  })

  test.each(['True', 'yes', '1', ''])('is not left out for force-delete "%s"', async value => {
    const w = world({ metadata: { ...going, annotations: { 'postwright.dev/force-delete': value } } })
    await w.run()
    expect(w.did).toEqual(['remove', 'finalizers '])
  })
})

describe('a spec that this release cannot read', () => {
  test('is told, waits for a change, and is not acted on', async () => {
    const w = world({ spec: { size: 'big' }, status: { thingId: 't1' } })
    await expect(w.run()).rejects.toThrow(TerminalError)
    expect(w.did).toEqual(['status'])
    expect(w.condition('Ready')).toMatchObject({ reason: 'InvalidSpec', message: expect.stringContaining('size') })
    expect(w.status()?.thingId).toBe('t1')
    await expect(w.run()).rejects.toThrow(TerminalError)
    expect(w.did).toEqual([])
  })

  test('lets its resource go, with the finalizers of others in place', async () => {
    const w = world({ spec: { size: 'big' }, metadata: { ...going, finalizers: [FINALIZER, 'b'] } })
    expect(await w.run()).toEqual({})
    expect(w.did).toEqual(['finalizers b'])
    await w.run()
    expect(w.did).toEqual([])
  })

  test('a status of another release that does not fit is written anew', async () => {
    const w = world({ metadata: guarded, status: { conditions: 'none', thingId: 7 } })
    await w.run()
    expect(w.status()).toMatchObject({ thingId: 't1' })
  })
})

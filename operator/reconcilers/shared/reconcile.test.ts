/** The rules that all kinds have in common, over an API server of a few lines that keeps one object. */
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { silentLog } from '../../../services/platform/observability/log.ts'
import { createMetrics } from '../../../services/platform/observability/metrics.ts'
import { verbatim } from '../../../services/platform/sentences/compose.ts'
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
  shortNames: ['th'],
  description: 'A thing.',
  spec: z.object({ size: z.int().min(0) }),
  status: z.object({ ...statusFields, thingId: z.string().optional() }),
  columns: [],
})
type Status = z.output<typeof Thing.status>
type Stored = KubeObject & { spec: unknown; status?: Status }

const fine: Outcome = {
  conditions: [accepted(verbatim('Taken on.'))],
  message: verbatim('All is well.'),
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
  /** Error of the API server in place of the request's effect. */
  refuse?: (request: KubeRequest) => KubeError | undefined
  assertLeader?: () => void
}

function createFixture(given: Given = {}) {
  const clock = testClock()
  const metrics = createMetrics('test')
  const cache = createCache(() => undefined)
  /** Everything that happened, in order. */
  const did: string[] = []
  const events: string[] = []
  const logged: [level: string, fields: object, text: string][] = []
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
    log: {
      ...silentLog,
      info: (fields: object, text: string) => void logged.push(['info', fields, text]),
      warn: (fields: object, text: string) => void logged.push(['warn', fields, text]),
    },
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
    logged,
    /** One run after the watch delivered the last state; its effects are in `did`. */
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
  test('the finalizer is added first, then the status is written and reported', async () => {
    const fixture = createFixture()
    expect(await fixture.run()).toEqual({})
    expect(fixture.did).toEqual([`finalizers ${FINALIZER}`, 'ensure', 'status', 'mirror t1 u1 Available'])
    expect(fixture.status()).toMatchObject({ thingId: 't1', observedGeneration: 1 })
    expect(fixture.condition('Ready')).toMatchObject({ status: 'True', message: 'All is well.' })
    expect(fixture.events).toEqual(['Normal Available'])
  })

  test('finalizers of others stay', async () => {
    const fixture = createFixture({ metadata: { finalizers: ['foregroundDeletion'] } })
    await fixture.run()
    expect(fixture.finalizers()).toEqual(['foregroundDeletion', FINALIZER])
  })

  test('where nothing changed nothing is written or reported', async () => {
    const fixture = createFixture()
    await fixture.run()
    await fixture.run()
    expect(fixture.did).toEqual(['ensure'])
    expect(fixture.events).toEqual([])
  })

  test('a status changed by another writer is written again, without an event', async () => {
    const fixture = createFixture()
    await fixture.run()
    fixture.edit({ status: { ...fixture.status(), thingId: 'forged' } })
    await fixture.run()
    expect(fixture.did).toEqual(['ensure', 'status'])
    expect(fixture.status()?.thingId).toBe('t1')
    expect(fixture.events).toEqual([])
  })

  test('a new generation is written although all is as it was', async () => {
    const fixture = createFixture()
    await fixture.run()
    fixture.edit({ spec: { size: 2 } }, { generation: 2 })
    await fixture.run()
    expect(fixture.status()?.observedGeneration).toBe(2)
    expect(fixture.condition('Accepted')?.observedGeneration).toBe(2)
  })

  test.each([
    ['False', 'Warning', bad('Accepted', 'Refused', verbatim('no'))],
    ['True', 'Normal', good('Accepted', 'Accepted', verbatim('yes'))],
  ])('a first Ready=%s is reported as %s; Unknown is not reported', async (_status, type, condition) => {
    let conditions = [unknown('Accepted', 'Waiting', verbatim('not yet'))]
    const fixture = createFixture({ ensure: () => ({ ...fine, conditions }) })
    await fixture.run()
    expect(fixture.events).toEqual([])
    conditions = [condition]
    await fixture.run()
    expect(fixture.events).toEqual([`${type} ${condition.status === 'True' ? 'Available' : 'Refused'}`])
    conditions = [unknown('Accepted', 'Waiting', verbatim('again'))]
    await fixture.run()
    expect(fixture.events).toEqual(['Normal Waiting'])
  })

  test('another message is written and is no news', async () => {
    let message = 'One thing.'
    const fixture = createFixture({ ensure: () => ({ ...fine, message: verbatim(message) }) })
    await fixture.run()
    message = 'Two things.'
    await fixture.run()
    expect(fixture.condition('Ready')?.message).toBe('Two things.')
    expect(fixture.events).toEqual([])
  })

  test('a failed lookup keeps the known fields, and requests another run', async () => {
    let outcome = fine
    const fixture = createFixture({ ensure: () => outcome })
    await fixture.run()
    outcome = { conditions: [bad('Accepted', 'Conflict', verbatim('taken'))], requeueAfterMs: 60_000 }
    expect(await fixture.run()).toEqual({ requeueAfterMs: 60_000 })
    expect(fixture.status()).toMatchObject({ thingId: 't1' })
    expect(fixture.condition('Ready')).toMatchObject({ status: 'False', reason: 'Conflict' })
    expect(fixture.did).toEqual(['ensure', 'status'])
  })

  test('reported follows the status, and is omitted when that could not be written', async () => {
    let failing = true
    let reported = 0
    const fixture = createFixture({
      ensure: () => ({ ...fine, reported: () => void reported++ }),
      refuse: ({ path }) =>
        failing && path.endsWith('/status') ? new KubeError(409, 'Conflict', 'changed in parallel') : undefined,
    })
    await expect(fixture.run()).rejects.toMatchObject({ status: 409 })
    expect(reported).toBe(0)
    expect(fixture.did).not.toContain('mirror t1 u1 Available')
    failing = false
    await fixture.run()
    expect(reported).toBe(1)
  })
})

test('the log names the resource and each refusal, once', async () => {
  let outcome: Outcome = { conditions: [bad('Accepted', 'DomainTaken', verbatim('Another account has it.'))] }
  const fixture = createFixture({ ensure: () => outcome })
  await fixture.run()
  await fixture.run()
  const resource = { kind: 'Thing', namespace: 'n', name: 'one' }
  const refused = { ...resource, ready: 'False', reason: 'DomainTaken' }
  const first = ['warn', refused, 'resource refused: Another account has it.']
  expect(fixture.logged).toEqual([first])
  // The same reason for another cause is logged, without another Event.
  outcome = { conditions: [bad('Accepted', 'DomainTaken', verbatim('A third account has it.'))] }
  await fixture.run()
  await fixture.run()
  expect(fixture.logged).toEqual([first, ['warn', refused, 'resource refused: A third account has it.']])
  outcome = { conditions: [bad('DNSSynced', 'Guidance', verbatim('Add the records.'))] }
  await fixture.run()
  outcome = fine
  await fixture.run()
  expect(fixture.logged.slice(2)).toEqual([
    ['info', { ...resource, ready: 'False', reason: 'Guidance' }, 'resource not ready: Add the records.'],
    ['info', { ...resource, ready: 'True', reason: 'Available' }, 'resource ready'],
  ])
})

describe('the state for the panel', () => {
  test('is reported again only with another message, and for another resource', async () => {
    let message = 'One.'
    const fixture = createFixture({ ensure: () => ({ ...fine, message: verbatim(message) }) })
    await fixture.run()
    message = 'Two.'
    await fixture.run()
    expect(fixture.did).toContain('mirror t1 u1 Available')
    await fixture.run()
    expect(fixture.did).toEqual(['ensure'])
    fixture.edit({}, { uid: 'u2' })
    await fixture.run()
    expect(fixture.did).toContain('mirror t1 u2 Available')
  })

  test('that cannot be reported is counted, delays nothing, and is reported next time', async () => {
    let failing = true
    const fixture = createFixture({
      mirror: () => {
        if (failing) throw new Error('away')
      },
    })
    expect(await fixture.run()).toEqual({})
    const { values } = await fixture.metrics.operator.mirrorFailures.get()
    expect(values.map(({ value, labels }) => [labels.kind, value])).toEqual([['Thing', 1]])
    failing = false
    await fixture.run()
    expect(fixture.did).toEqual(['ensure', 'mirror t1 u1 Available'])
    await fixture.run()
    expect(fixture.did).toEqual(['ensure'])
  })
})

describe('what is thrown', () => {
  const unavailable = Object.assign(new Error('no primary'), { name: 'MongoServerSelectionError' })

  test.each<[string, Error, string | undefined]>([
    [
      'a failure with words of its own',
      new ReportedError(bad('SecretSynced', 'WriteRefused', verbatim('quota')), 0),
      'WriteRefused',
    ],
    ['a database that is away', unavailable, 'DatabaseUnavailable'],
    ['anything unknown', new Error('password=hunter2'), 'InternalError'],
    ['a missing right', new KubeError(403, 'Forbidden', 'secrets is forbidden'), 'Forbidden'],
    ['a conflict', new KubeError(409, 'Conflict', 'changed in parallel'), undefined],
    ['a lost lease', new NotLeaderError(), undefined],
    ['what waits for a change', new TerminalError('later'), undefined],
    ['an error with its own pause', new LaterError('later', 5), undefined],
  ])('%s is passed to the queue, and is reported where a person can act', async (_what, error, reason) => {
    const fixture = createFixture({
      metadata: guarded,
      ensure: () => {
        throw error
      },
    })
    await expect(fixture.run()).rejects.toBe(error)
    expect(fixture.condition('Ready')?.reason).toBe(reason)
    expect(JSON.stringify(fixture.status() ?? {})).not.toContain('hunter2')
  })

  test('a deleted object is reconciled again, without an event', async () => {
    const fixture = createFixture({
      metadata: guarded,
      ensure: () => {
        throw new KubeError(404, 'NotFound', 'gone')
      },
    })
    expect(await fixture.run()).toEqual({ requeueAfterMs: 5_000 })
    expect(fixture.did).toEqual(['ensure'])
  })

  test('whoever leads no more does not even look', async () => {
    const fixture = createFixture({
      assertLeader: () => {
        throw new NotLeaderError()
      },
    })
    await expect(fixture.run()).rejects.toThrow(NotLeaderError)
    expect(fixture.did).toEqual([])
  })

  test('a conflict over the finalizer stops the run before any other effect', async () => {
    const fixture = createFixture({
      refuse: ({ path }) => (path.endsWith('/one') ? new KubeError(409, 'Conflict', 'changed in parallel') : undefined),
    })
    await expect(fixture.run()).rejects.toMatchObject({ status: 409 })
    expect(fixture.did).toEqual([])
  })

  test('a key without an object is done', async () => {
    const fixture = createFixture()
    expect(await fixture.runFor('n/other')).toEqual({})
    expect(fixture.did).toEqual([])
  })
})

describe('a paused resource', () => {
  const paused = { annotations: { 'postwright.dev/reconcile': 'paused' } }

  test('is not changed, reports that once, and keeps its status', async () => {
    const fixture = createFixture()
    await fixture.run()
    fixture.edit({ spec: { size: 2 } }, { ...paused, generation: 2 })
    await fixture.run()
    expect(fixture.did).toEqual(['status'])
    expect(fixture.events).toEqual(['Warning Paused'])
    expect(fixture.status()?.conditions?.map(({ type }) => type)).toEqual(['Ready', 'Stalled', 'Active', 'Accepted'])
    expect(fixture.status()?.thingId).toBe('t1')
    await fixture.run()
    expect(fixture.did).toEqual([])
  })

  test('gets no finalizer', async () => {
    const fixture = createFixture({ metadata: paused })
    await fixture.run()
    expect(fixture.finalizers()).toBeUndefined()
  })

  test('continues once the annotation is removed', async () => {
    const fixture = createFixture({ metadata: paused })
    await fixture.run()
    fixture.edit({}, { annotations: {} })
    await fixture.run()
    expect(fixture.did).toEqual([`finalizers ${FINALIZER}`, 'ensure', 'status', 'mirror t1 u1 Available'])
    expect(fixture.status()?.conditions?.map(({ type }) => type)).toEqual(['Ready', 'Accepted'])
  })

  test('may be disabled as well', async () => {
    const fixture = createFixture({ metadata: { annotations: { 'postwright.dev/reconcile': 'disabled' } } })
    await fixture.run()
    expect(fixture.did).toEqual(['status'])
  })

  test.each(['Paused', 'true', '', 'no'])('is none with the annotation "%s"', async value => {
    const fixture = createFixture({ metadata: { ...guarded, annotations: { 'postwright.dev/reconcile': value } } })
    await fixture.run()
    expect(fixture.did).toContain('ensure')
  })

  test('that is deleted deletes no record', async () => {
    const fixture = createFixture({ metadata: { ...going, ...paused } })
    await fixture.run()
    expect(fixture.did).toEqual(['retain', 'finalizers '])
  })
})

describe('undoing', () => {
  test('precedes the removal of the finalizer; finalizers of others stay', async () => {
    const fixture = createFixture({ metadata: { ...going, finalizers: ['a', FINALIZER, 'b'] } })
    expect(await fixture.run()).toEqual({})
    expect(fixture.did).toEqual(['remove', 'finalizers a,b'])
  })

  test('that is not possible yet reports why, keeps the finalizer and is tried again', async () => {
    const condition = bad('DeletionBlocked', 'InUse', verbatim('still used'))
    let removal: Removal = { done: false, condition, requeueAfterMs: 5_000 }
    const fixture = createFixture({ metadata: going, remove: () => removal })
    expect(await fixture.run()).toEqual({ requeueAfterMs: 5_000 })
    expect(fixture.did).toEqual(['remove', 'status'])
    expect(fixture.condition('Ready')).toMatchObject({ status: 'False', reason: 'InUse' })
    removal = { done: true, events: [{ type: 'Warning', reason: 'LeftBehind', action: 'Remove', note: '' }] }
    await fixture.run()
    expect(fixture.did).toEqual(['remove', 'finalizers '])
    expect(fixture.events).toEqual(['Warning LeftBehind'])
  })

  test('is not begun for what carries no finalizer of ours', async () => {
    const fixture = createFixture({ metadata: { ...going, finalizers: ['other'] } })
    await fixture.run()
    expect(fixture.did).toEqual([])
  })

  test('is skipped with force-delete "true", and that is reported', async () => {
    const fixture = createFixture({ metadata: { ...going, annotations: { 'postwright.dev/force-delete': 'true' } } })
    await fixture.run()
    expect(fixture.did).toEqual(['finalizers '])
    expect(fixture.events).toEqual(['Warning ForcedDeletion'])
  })

  test.each(['True', 'yes', '1', ''])('is not left out for force-delete "%s"', async value => {
    const fixture = createFixture({ metadata: { ...going, annotations: { 'postwright.dev/force-delete': value } } })
    await fixture.run()
    expect(fixture.did).toEqual(['remove', 'finalizers '])
  })
})

describe('a spec that this release cannot read', () => {
  test('is reported, waits for a change, and is not acted on', async () => {
    const fixture = createFixture({ spec: { size: 'big' }, status: { thingId: 't1' } })
    await expect(fixture.run()).rejects.toThrow(TerminalError)
    expect(fixture.did).toEqual(['status'])
    expect(fixture.condition('Ready')).toMatchObject({
      reason: 'InvalidSpec',
      message: expect.stringContaining('size'),
    })
    expect(fixture.status()?.thingId).toBe('t1')
    await expect(fixture.run()).rejects.toThrow(TerminalError)
    expect(fixture.did).toEqual([])
  })

  test('loses its finalizer when deleted; finalizers of others stay', async () => {
    const fixture = createFixture({ spec: { size: 'big' }, metadata: { ...going, finalizers: [FINALIZER, 'b'] } })
    expect(await fixture.run()).toEqual({})
    expect(fixture.did).toEqual(['finalizers b'])
    await fixture.run()
    expect(fixture.did).toEqual([])
  })

  test('an invalid status of another release is rewritten', async () => {
    const fixture = createFixture({ metadata: guarded, status: { conditions: 'none', thingId: 7 } })
    await fixture.run()
    expect(fixture.status()).toMatchObject({ thingId: 't1' })
  })
})

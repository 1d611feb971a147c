import { expect, test } from 'vitest'
import { createMetrics } from '../../services/platform/observability/metrics.ts'
import { createCache, type KubeObject } from '../kube/object-cache.ts'
import { countResources } from './resource-metrics.ts'

let revision = 1
const thing = (name: string, ...conditions: [type: string, status: string, reason?: string][]) =>
  ({
    metadata: { name, namespace: 'n', uid: name, resourceVersion: String(revision++), creationTimestamp: '' },
    status: { conditions: conditions.map(([type, status, reason = 'R']) => ({ type, status, reason })) },
  }) as KubeObject

async function fixture() {
  const { operator } = createMetrics('operator')
  const cache = createCache(error => expect.fail(String(error)))
  countResources(new Map([['MailDomain', cache]]), operator)
  const counts = async () => {
    const ready = (await operator.resources.get()).values.map(({ labels, value }) => [labels.ready, value])
    return { ...Object.fromEntries(ready), stalled: (await operator.stalledResources.get()).values[0]?.value }
  }
  return { cache, counts }
}

test('resources are counted by Ready from the start, and as they change', async () => {
  const { cache, counts } = await fixture()
  expect(await counts()).toEqual({ True: 0, False: 0, Unknown: 0, stalled: 0 })
  cache.put(thing('new'))
  cache.put(thing('ready', ['Ready', 'True']))
  cache.put(thing('refused', ['Ready', 'False'], ['Stalled', 'True', 'Conflict']))
  expect(await counts()).toEqual({ True: 1, False: 1, Unknown: 1, stalled: 1 })
  cache.put(thing('refused', ['Ready', 'True']))
  const gone = thing('new', ['Ready', 'Sideways'])
  cache.put(gone)
  expect(await counts()).toEqual({ True: 2, False: 0, Unknown: 1, stalled: 0 })
  cache.remove(gone)
  expect(await counts()).toEqual({ True: 2, False: 0, Unknown: 0, stalled: 0 })
})

test('what users stopped on purpose is not stalled, and a forged status is counted as unknown', async () => {
  const { cache, counts } = await fixture()
  cache.put(thing('paused', ['Ready', 'False'], ['Stalled', 'True', 'Paused']))
  cache.put(thing('suspended', ['Ready', 'False'], ['Stalled', 'True', 'Suspended']))
  cache.put({ ...thing('forged'), status: { conditions: 'all fine' } } as KubeObject)
  expect(await counts()).toEqual({ True: 0, False: 2, Unknown: 1, stalled: 0 })
})

test('a complete list removes what is gone', async () => {
  const { cache, counts } = await fixture()
  cache.put(thing('a', ['Ready', 'True']))
  cache.put(thing('b', ['Ready', 'False'], ['Stalled', 'True']))
  cache.replace([thing('a', ['Ready', 'True'])], false)
  expect(await counts()).toEqual({ True: 1, False: 0, Unknown: 0, stalled: 0 })
})

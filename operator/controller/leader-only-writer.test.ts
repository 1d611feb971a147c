import { expect, test } from 'vitest'
import type { KubeClient, KubeRequest } from '../kube/client.ts'
import { createWriter, type Writer } from '../kube/object-writer.ts'
import { App } from '../resources/app.ts'
import type { Kind } from '../resources/kind.ts'
import { leaderOnly } from './leader-only-writer.ts'

const target = { name: 'shop', namespace: 'n', uid: 'u', resourceVersion: '7' }
const content = { name: 'shop-app', type: 'Opaque', data: {}, annotations: {} }
const app = App as unknown as Kind

/** A call of each method; the compiler requires one for each new method. */
const CALLS: { [M in keyof Writer]: (writer: Writer) => Promise<unknown> } = {
  readSecret: writer => writer.readSecret(target),
  readConfigMap: writer => writer.readConfigMap({ namespace: 'n', name: 'c' }),
  readNamespace: writer => writer.readNamespace('n'),
  applyStatus: writer => writer.applyStatus(app, target, {}),
  setFinalizers: writer => writer.setFinalizers(app, target, []),
  applySecret: writer => writer.applySecret(app, target, content, undefined),
  labelSecret: writer => writer.labelSecret(target),
  readDnsEndpoint: writer => writer.readDnsEndpoint({ namespace: 'n', name: 'shop' }),
  writeDnsEndpoint: writer => writer.writeDnsEndpoint({ metadata: { namespace: 'n', name: 'shop' }, spec: {} }),
  deleteDnsEndpoint: writer => writer.deleteDnsEndpoint(target),
}

function writing(assertLeader: () => void) {
  const sent: KubeRequest['method'][] = []
  const client: Pick<KubeClient, 'request'> = {
    request: async <T>({ method }: KubeRequest) => {
      sent.push(method)
      return {} as T
    },
  }
  return { sent, writer: leaderOnly(createWriter(client as KubeClient), assertLeader) }
}

test.each(Object.entries(CALLS))('%s: whoever leads no more changes nothing, and may look', async (_, call) => {
  const lost = writing(() => {
    throw new Error('not the leader')
  })
  const failure = await call(lost.writer).catch((error: Error) => error.message)
  const leading = writing(() => {})
  await call(leading.writer)
  const reads = leading.sent.every(method => method === 'GET')
  expect(leading.sent.length).toBeGreaterThan(0)
  expect(lost.sent).toEqual(reads ? leading.sent : [])
  expect(failure === 'not the leader').toBe(!reads)
})

test('the lease is checked before each write, not once', async () => {
  let leader = true
  const { sent, writer } = writing(() => {
    if (!leader) throw new Error('not the leader')
  })
  await writer.labelSecret(target)
  leader = false
  await expect(writer.labelSecret(target)).rejects.toThrow('not the leader')
  expect(sent).toHaveLength(1)
})

import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { isExposedBy } from './exposed-metrics.ts'
import { createMetrics } from './metrics.ts'

const SERVICES = ['panel', 'send', 'smtp', 'worker', 'admin', 'compat', 'inbound', 'operator']
const familiesOf = async (service: string) => {
  const text = await createMetrics(service).registry.metrics()
  return new Set([...text.matchAll(/^# TYPE (\S+) /gm)].map(([, name = '']) => name))
}

test.each([
  ['worker', 'postwright_slots_owned', true],
  ['worker', 'postwright_slots', true],
  ['worker', 'postwright_delivery_attempt_seconds', true],
  ['panel', 'postwright_slots_owned', false],
  ['panel', 'postwright_delivery_attempt_seconds', false],
  ['panel', 'postwright_messages_accepted_total', true],
  ['smtp', 'postwright_smtp_connections', true],
  ['inbound', 'postwright_smtp_connections', false],
  ['operator', 'workqueue_depth', true],
  ['operator', 'postwright_resources_stalled', true],
  ['send', 'workqueue_depth', false],
  ['send', 'postwright_mongo_up', true],
  ['send', 'process_cpu_seconds_total', true],
  ['start', 'postwright_slots_owned', true],
])('%s and %s', async (service, family, exposed) => {
  expect((await familiesOf(service)).has(family)).toBe(exposed)
})

test('every family is exposed by a service, and a family that is not exposed can be updated', async () => {
  const all = await familiesOf('docs')
  const exposed = await Promise.all(SERVICES.map(familiesOf))
  expect([...all].filter(name => !exposed.some(families => families.has(name)))).toEqual([])
  const { slotsOwned, registry } = createMetrics('panel')
  slotsOwned.set(3)
  expect(await registry.metrics()).not.toContain('slots_owned')
})

/** Fields of the metrics by the family that they declare, from their source. */
const declared = (file: string) =>
  [
    ...readFileSync(`services/platform/observability/${file}`, 'utf8').matchAll(
      /^ {4}(\w+): (counter|gauge|seconds)\(\s*'([a-z_]+)'/gm,
    ),
  ].map(([, field = '', kind = '', name = '']) => ({
    field,
    family: `postwright_${name}${kind === 'seconds' ? '_duration_seconds' : ''}`,
  }))

/** Modules that a process loads. */
function modulesOf(main: string): string[] {
  const seen = new Set<string>()
  const waiting = [main]
  for (let file = waiting.pop(); file !== undefined; file = waiting.pop()) {
    if (seen.has(file)) continue
    seen.add(file)
    const text = readFileSync(file, 'utf8').replaceAll(/^import type [^;]*? from '[^']+'$/gm, '')
    for (const [, path = ''] of text.matchAll(/(?:from|import\()\s*'(\.[^']+\.ts)'/g)) {
      const found = join(dirname(file), path)
      if (existsSync(found)) waiting.push(found)
    }
  }
  return [...seen].filter(file => !file.endsWith('observability/metrics.ts'))
}

describe('no process loads a module that updates a family which it does not expose', () => {
  const fields = declared('metrics.ts')
  test('of the metrics of services', () => expect(fields.length).toBeGreaterThan(25))
  test.each(SERVICES)('%s', service => {
    const main = service === 'operator' ? 'operator/main.ts' : `services/${service}.ts`
    // Fields of the operator's own metrics have some of these names, too.
    const modules = modulesOf(main).filter(file => !file.startsWith('operator/'))
    const texts = modules.map(file => readFileSync(file, 'utf8'))
    expect(texts.length).toBeGreaterThan(50)
    const hidden = fields.filter(({ family }) => !isExposedBy(service, family))
    const updated = hidden.filter(({ field }) =>
      texts.some(text => new RegExp(`metrics\\.${field}\\.(?:inc|dec|set|observe|startTimer)\\b`).test(text)),
    )
    expect(updated).toEqual([])
  })
})

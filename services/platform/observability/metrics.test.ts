import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { createMetrics } from './metrics.ts'

const scrape = async (metrics: ReturnType<typeof createMetrics>) => (await metrics.registry.metrics()).split('\n')
const series = (lines: readonly string[], name: string) =>
  lines.filter(line => line.startsWith(name)).map(line => sortLabels(line.slice(name.length)))
const sortLabels = (line: string) => line.replace(/{(.*)}/, (_, labels: string) => labels.split(',').toSorted().join())

test('reports the running version', async () => {
  const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string }
  expect(await scrape(createMetrics('panel'))).toContain(
    `postwright_build_info{version="${version}",service="panel"} 1`,
  )
})

test('durations have the conventional names, and for one release their former ones with the same values', async () => {
  const metrics = createMetrics('worker')
  metrics.queueSeconds.observe(0.3)
  metrics.jobs.observe({ job_name: 'sweep', outcome: 'ok' }, 2)
  metrics.jobs.observe({ job_name: 'sweep', outcome: 'failed' }, 0.002)
  const lines = await scrape(metrics)
  for (const name of ['http_request', 'accept', 'delivery_attempt', 'delivery_queue', 'mongo_write', 'job']) {
    expect(lines).toContain(`# TYPE postwright_${name}_duration_seconds histogram`)
    expect(lines).toContain(`# TYPE postwright_${name}_seconds histogram`)
    const current = series(lines, `postwright_${name}_duration_seconds`)
    expect(series(lines, `postwright_${name}_seconds`)).toEqual(current)
  }
  expect(series(lines, 'postwright_job_duration_seconds_sum')).toEqual([
    'job_name="sweep",outcome="ok",service="worker" 2',
    'job_name="sweep",outcome="failed",service="worker" 0.002',
  ])
  expect(series(lines, 'postwright_delivery_queue_duration_seconds_count')).toEqual(['service="worker" 1'])
})

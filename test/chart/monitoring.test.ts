/** Alerts and dashboards: tested rules, a runbook for each, and only existing metrics. */
import { execFile } from 'node:child_process'
import { readdir, readFile } from 'node:fs/promises'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { createMetrics } from '../../services/platform/observability/metrics.ts'
import { program } from '../support/programs/programs.ts'

interface Rules {
  groups: { rules: { alert: string; expr: string; annotations: { runbook_url: string } }[] }[]
}

const rules = (parse(await readFile('charts/postwright/files/alerts.yaml', 'utf8')) as Rules).groups.flatMap(
  group => group.rules,
)

/** Every series name that a process can export, including those of histograms. */
async function exported(): Promise<Set<string>> {
  const metrics = await createMetrics('test').registry.getMetricsAsJSON()
  return new Set(
    metrics.flatMap(({ name, type }) =>
      String(type) === 'histogram' ? [`${name}_bucket`, `${name}_count`, `${name}_sum`] : [name],
    ),
  )
}

const seriesIn = (text: string) =>
  [...text.matchAll(/\b(?:postwright|process|nodejs|workqueue|controller_runtime|leader_election)_[a-z0-9_]+/g)].map(
    ([name]) => name,
  )

test('promtool accepts the rules and their tests', async () => {
  const { stdout } = await promisify(execFile)(program('promtool'), ['test', 'rules', 'test/chart/alerts.test.yaml'])
  expect(stdout).toContain('SUCCESS')
})

test.each(rules.map(rule => [rule.alert, rule] as const))(
  '%s has a test that fires it, and a runbook',
  async (alert, rule) => {
    const tests = parse(await readFile('test/chart/alerts.test.yaml', 'utf8')) as {
      tests: { alert_rule_test: { alertname: string; exp_alerts: unknown[] }[] }[]
    }
    const cases = tests.tests
      .flatMap(({ alert_rule_test }) => alert_rule_test)
      .filter(({ alertname }) => alertname === alert)
    expect(cases.some(({ exp_alerts }) => exp_alerts.length > 0)).toBe(true)
    expect(rule.annotations.runbook_url.endsWith(`/docs/runbooks/${alert}.md`)).toBe(true)
    expect(await readFile(`docs/runbooks/${alert}.md`, 'utf8')).toContain('## What to do')
  },
)

test('alerts and dashboards use only metrics that the code exports', async () => {
  const known = await exported()
  const dashboards = await Promise.all(
    (await readdir('charts/postwright/dashboards')).map(file =>
      readFile(`charts/postwright/dashboards/${file}`, 'utf8'),
    ),
  )
  const asked = new Set([...rules.map(({ expr }) => expr), ...dashboards.flatMap(expressions)].flatMap(seriesIn))
  expect(asked.size).toBeGreaterThan(15)
  expect([...asked].filter(name => !known.has(name))).toEqual([])
})

function expressions(json: string): string[] {
  const { panels } = JSON.parse(json) as { panels: { targets: { expr: string }[] }[] }
  return panels.flatMap(({ targets }) => targets.map(({ expr }) => expr))
}

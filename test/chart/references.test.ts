/** References in texts of the operator and the chart exist. */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { parse } from 'yaml'

const values: unknown = parse(readFileSync('charts/postwright/values.yaml', 'utf8'))
const has = (path: string) =>
  path.split('.').reduce<unknown>((node, key) => (node as Record<string, unknown> | undefined)?.[key], values) !==
  undefined

test("chart values that the operator's messages name exist", () => {
  const sources = readdirSync('operator', { recursive: true, encoding: 'utf8' }).filter(file => file.endsWith('.ts'))
  const texts = sources.flatMap(
    file => readFileSync(`operator/${file}`, 'utf8').match(/[`'"][^`'"\n]* [^`'"\n]*[`'"]/g) ?? [],
  )
  const named = texts.flatMap(
    text => text.match(/\b(rbac|operator|crds|secrets|mongodb|tls|smtp)\.[a-z][a-zA-Z.]*[a-zA-Z]/g) ?? [],
  )
  expect(named).toContain('operator.watchNamespaces')
  expect(named.filter(path => !has(path) && !/\.(ts|crt|key)$/.test(path))).toEqual([])
})

test('files of this repository that the chart names exist', () => {
  const charts = readdirSync('charts/postwright', { recursive: true, encoding: 'utf8' })
  const named = charts
    .filter(file => /\.(yaml|tpl|txt|md)$/.test(file))
    .flatMap(
      file =>
        readFileSync(`charts/postwright/${file}`, 'utf8').match(
          /\b(docs|scripts|operator|services|test)\/[\w./-]+\.\w+/g,
        ) ?? [],
    )
  expect(named).toContain('operator/main.ts')
  expect(named.filter(path => !existsSync(path))).toEqual([])
})

test('the annotations for Artifact Hub parse, and name every kind with an example', () => {
  const chart = parse(readFileSync('charts/postwright/Chart.yaml', 'utf8')) as {
    icon: string
    annotations: Record<string, string>
  }
  const annotation = (name: string) =>
    parse(chart.annotations[`artifacthub.io/${name}`] ?? '') as { kind: string; name: string; url: string }[]
  const kinds = annotation('crds').map(({ kind }) => kind)
  expect(kinds).toHaveLength(readdirSync('crds').length)
  expect(
    annotation('crdsExamples')
      .map(({ kind }) => kind)
      .toSorted(),
  ).toEqual(kinds.toSorted())
  expect(annotation('images').map(({ name }) => name)).toEqual(['postwright', 'mongodb'])
  expect(
    annotation('changes').every(({ kind }) => ['added', 'changed', 'fixed', 'removed', 'security'].includes(kind)),
  ).toBe(true)
  const linked = [...annotation('links').map(({ url }) => url), chart.icon].map(url => url.split('/main/')[1] ?? url)
  expect(linked.filter(path => !existsSync(path))).toEqual([])
})

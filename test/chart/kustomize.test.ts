/** The base for Kustomize: the same objects as the chart, current, and an overlay that sets host names. */
import { execFileSync } from 'node:child_process'
import { beforeAll, expect, test } from 'vitest'
import { parseAllDocuments } from 'yaml'
import { BASE, isCurrent, type Rendered, renderBase, withoutHelm } from '../../scripts/kustomize.ts'
import { needHelm } from '../support/kubernetes/render-chart.ts'
import { kubectlProgram } from '../support/programs/programs.ts'

type Built = Rendered & { metadata: { namespace?: string } }

function build(folder: string): Built[] {
  const text = execFileSync(kubectlProgram(), ['kustomize', folder], { maxBuffer: 32 << 20, encoding: 'utf8' })
  return parseAllDocuments(text).map(document => document.toJS() as Built)
}

const nameOf = ({ kind, metadata }: Rendered) => `${kind}/${metadata.name}`
const sorted = <T extends Rendered>(objects: readonly T[]) =>
  objects.toSorted((a, b) => nameOf(a).localeCompare(nameOf(b)))

/** Kinds that are in no namespace. */
const CLUSTER_WIDE = new Set(['ClusterRole', 'ClusterRoleBinding', 'CustomResourceDefinition', 'Namespace'])

beforeAll(needHelm)

test('kubectl kustomize builds the objects of helm template, in their namespace', async () => {
  const expected = withoutHelm(await renderBase()).map(object =>
    CLUSTER_WIDE.has(object.kind) ? object : { ...object, metadata: { ...object.metadata, namespace: 'postwright' } },
  )
  const built = build(BASE)
  expect(built.length).toBeGreaterThan(40)
  expect(sorted(built).map(nameOf)).toEqual(sorted(expected).map(nameOf))
  expect(sorted(built)).toEqual(sorted(expected))
})

test('the base is current, and nothing in it is for Helm', () => {
  expect(isCurrent()).toBe(true)
  const forHelm = build(BASE).filter(object => /helm\.sh\/|managed-by":"Helm/.test(JSON.stringify(object)))
  expect(forHelm.map(nameOf)).toEqual([])
})

test('hooks become plain objects, and tests are left out', async () => {
  const rendered = await renderBase()
  const hooks = rendered.filter(({ metadata }) => metadata.annotations?.['helm.sh/hook'])
  const kept = new Set(withoutHelm(rendered).map(nameOf))
  const left = hooks.filter(hook => !kept.has(nameOf(hook)))
  expect(hooks.length).toBeGreaterThan(left.length)
  expect(left.map(({ metadata }) => metadata.annotations?.['helm.sh/hook'])).toEqual(left.map(() => 'test'))
})

test('the overlay replaces every host name of the base, and adds its Namespace', () => {
  const built = build('deploy/kustomize/overlays/example')
  const own = built.filter(({ kind }) => kind !== 'CustomResourceDefinition')
  expect(JSON.stringify(own)).not.toContain('mail.example.com')
  const job = own.find(({ kind }) => kind === 'Job')
  expect(JSON.stringify(job)).toContain('mail.example.org,postwright-smtp,')
  expect(own.map(nameOf)).toContain('Namespace/postwright')
  expect(own.map(nameOf)).not.toContain('ConfigMap/hosts')
  expect(own.find(object => nameOf(object) === 'Deployment/postwright-worker')?.spec).toMatchObject({ replicas: 3 })
})

/** Validates the rendered chart and the examples with kubeconform (strict) against the schemas of a real API server. */
import { spawn } from 'node:child_process'
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { Agent, fetch } from 'undici'
import { beforeAll, expect, test } from 'vitest'
import { parse } from 'yaml'
import { onApiServer, sharedApiServer } from '../support/kubernetes/apiserver-shared.ts'
import { type Definition, locationIn, type OpenApi, writeSchemas } from '../support/kubernetes/json-schemas.ts'
import { LEAST, renderText, VALUE_SETS } from '../support/kubernetes/render-chart.ts'
import { findGoModule, findKubeconform, pathOf } from '../support/programs/programs.ts'

/** Definitions of other projects' kinds, which a bare API server does not serve, by the Go module that contains them. */
const FOREIGN: Record<string, string[]> = {
  'sigs.k8s.io/gateway-api@v1.2.1': [
    'config/crd/standard/gateway.networking.k8s.io_httproutes.yaml',
    'config/crd/experimental/gateway.networking.k8s.io_tcproutes.yaml',
    'config/crd/experimental/gateway.networking.k8s.io_tlsroutes.yaml',
  ],
  'github.com/cert-manager/cert-manager@v1.16.3': ['deploy/crds/crd-certificates.yaml'],
  'github.com/prometheus-operator/prometheus-operator@v0.85.0': [
    'example/prometheus-operator-crd/monitoring.coreos.com_podmonitors.yaml',
    'example/prometheus-operator-crd/monitoring.coreos.com_prometheusrules.yaml',
    'example/prometheus-operator-crd/monitoring.coreos.com_servicemonitors.yaml',
  ],
  'github.com/kedacore/keda/v2@v2.16.1': [
    'config/crd/bases/keda.sh_scaledobjects.yaml',
    'config/crd/bases/keda.sh_triggerauthentications.yaml',
  ],
}

const program = await findKubeconform()
const modules = await Promise.all(
  Object.entries(FOREIGN).map(async ([module, files]) => ({ module: await findGoModule(module), files })),
)

/** Options that render objects of other projects besides our own. */
const EVERY_KIND = [
  'tls.mode=certManager',
  'tls.certManager.issuerRef.name=ca',
  'worker.keda.enabled=true',
  'gateway.enabled=true',
  'gateway.parentRefs[0].name=public',
  'trustedProxies={private}',
].flatMap(pair => ['--set', pair])

interface Report {
  resources: { kind: string; name: string; status: string; msg: string }[] | null
  summary: { valid: number; invalid: number; errors: number; skipped: number }
}

onApiServer('kubeconform', () => {
  let folder: string
  let foreignFiles: string[]

  beforeAll(async () => {
    pathOf(program)
    foreignFiles = modules.flatMap(({ module, files }) => files.map(file => join(pathOf(module), file)))
    folder = await mkdtemp(join(tmpdir(), 'pw-schemas-'))
    const { url, ca, admin } = sharedApiServer()
    const dispatcher = new Agent({ connect: { ca } })
    const answer = await fetch(`${url}/openapi/v2`, { headers: { authorization: `Bearer ${admin}` }, dispatcher })
    const api = (await answer.json()) as OpenApi
    await dispatcher.close()
    const files = [...(await readdir('crds')).map(file => `crds/${file}`), ...foreignFiles]
    const crds = files.map(async file => parse(await readFile(file, 'utf8')) as Definition)
    await writeSchemas(folder, api, await Promise.all(crds))
    return () => rm(folder, { recursive: true })
  })

  async function validate(manifests: string): Promise<Report> {
    const options = ['-strict', '-summary', '-output=json', `-schema-location=${locationIn(folder)}`]
    const child = spawn(pathOf(program), [...options, '-'], { stdio: ['pipe', 'pipe', 'inherit'] })
    child.stdin.end(manifests)
    return JSON.parse(await text(child.stdout)) as Report
  }

  const errorsOf = ({ resources }: Report) => (resources ?? []).map(({ kind, name, msg }) => `${kind} ${name}: ${msg}`)

  test.each(VALUE_SETS)('%s conforms', async values => {
    const result = await validate(await renderText('-f', values))
    expect(errorsOf(result)).toEqual([])
    expect(result.summary).toMatchObject({ skipped: 0 })
    expect(result.summary.valid).toBeGreaterThan(20)
  })

  test('the value sets render an object of every kind of another project', async () => {
    const rendered = (await Promise.all(VALUE_SETS.map(values => renderText('-f', values)))).join('\n')
    const kinds = await Promise.all(
      foreignFiles.map(async file => (parse(await readFile(file, 'utf8')) as Definition).spec.names.kind),
    )
    expect(kinds).toHaveLength(9)
    expect(kinds.filter(kind => !rendered.includes(`\nkind: ${kind}\n`))).toEqual([])
  })

  test('the examples conform to the custom resource definitions', async () => {
    const files = await readdir('docs/examples')
    const result = await validate(
      (await Promise.all(files.map(f => readFile(`docs/examples/${f}`, 'utf8')))).join('\n---\n'),
    )
    expect(errorsOf(result)).toEqual([])
    expect(result.summary).toMatchObject({ skipped: 0 })
    expect(result.summary.valid).toBeGreaterThanOrEqual(files.length)
  })

  test.each([
    ['a field that does not exist', 'replicas: 2', 'replica: 2', /replica/],
    ['a value of the wrong type', 'revisionHistoryLimit: 5', 'revisionHistoryLimit: "5"', /revisionHistoryLimit/],
    ['a duplicate key', 'replicas: 2', 'replicas: 2\n  replicas: 3', /replicas/],
    ['a kind that does not exist', 'kind: Deployment', 'kind: Deploymint', /could not find schema for Deploymint/],
    ['a field of another project that does not exist', 'minReplicaCount: 1', 'minReplicas: 1', /minReplicas/],
    ['a field of another project that is missing', 'issuerRef:', 'secretTemplate:', /issuerRef/],
    ['a wrong value in a kind of another project', 'backendRefs: [', 'backendRefs: [1, ', /HTTPRoute/],
  ])('reports %s', async (_, good, bad, message) => {
    const manifests = await renderText(...LEAST, ...EVERY_KIND)
    expect(manifests).toContain(good)
    expect(errorsOf(await validate(manifests.replace(good, bad))).join('\n')).toMatch(message)
  })
})

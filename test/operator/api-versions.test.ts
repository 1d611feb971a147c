/** From `v1alpha1` to `v1beta1` and back on a real API server, with the commands of the installation guide. */
import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import type { KubeClient } from '../../operator/kube/client.ts'
import { secretsPath } from '../../operator/kube/object-paths.ts'
import type { SecretObject } from '../../operator/kube/object-writer.ts'
import { API_VERSION, FORMER_VERSIONS, GROUP, VERSION } from '../../operator/resources/kind.ts'
import { kinds } from '../../operator/resources/kinds.ts'
import { sharedMongoUri } from '../support/database/test-database.ts'
import { type ApiServer, startApiServer } from '../support/kubernetes/apiserver.ts'
import { adminClient, installCrds } from '../support/kubernetes/clients-and-crds.ts'
import { writeKubeconfig } from '../support/kubernetes/kubeconfig.ts'
import { type OperatorUnderTest, operatorUnderTest, type Seen } from '../support/kubernetes/operator-under-test.ts'
import { kubectlProgram } from '../support/programs/programs.ts'
import { until } from '../support/time/until.ts'

const run = promisify(execFile)
const [FORMER] = FORMER_VERSIONS
const CRDS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
/** The kinds of the release before. */
const former = kinds.filter(kind => kind.formerVersions.includes(FORMER))
const SPECS = {
  DNSProvider: { type: 'cloudflare', secretRef: { name: 'dns' } },
  MailDomain: { domainName: 'example.com', dmarc: { policy: 'quarantine' } },
  SMTPCredential: { domainRef: { name: 'x' } },
  APIToken: { domainRef: { name: 'x' } },
  App: { appKey: 'shop', appName: 'Shop' },
  SubscriptionPlan: { appRef: { name: 'x' }, name: 'Pro', price: '19.90', durationDays: 30 },
  FeatureSwitch: { appRef: { name: 'x' }, name: 'dark-mode', value: '1' },
}

interface Versioned extends Seen {
  apiVersion: string
  kind: string
}

interface Crd {
  metadata: { name: string }
  spec: { versions: { name: string; storage: boolean }[] }
  status: { storedVersions: string[] }
}

/** Objects that the definitions of 0.1.0 accepted, and that those of today refuse. */
const ODD = {
  SMTPCredential: { domainRef: { name: 'x' }, allowedSenders: ['not-an-address'] },
  FeatureSwitch: { appRef: { name: 'x' }, name: 'limits', type: 'json', value: 'not json' },
}

/** The definition that release 0.1.0 installed. */
async function formerCrd(plural: string): Promise<object> {
  const file = join(import.meta.dirname, 'fixtures/crds-0.1.0', `${GROUP}_${plural}.yaml`)
  return parse(await readFile(file, 'utf8')) as object
}

describe('versions of the API', () => {
  let server: ApiServer
  let admin: KubeClient
  let folder: string
  beforeAll(async () => {
    server = await startApiServer(() => undefined)
    admin = adminClient(server)
    folder = await mkdtemp(join(tmpdir(), 'pw-versions-'))
    await writeKubeconfig(folder, server, server.admin)
    await applyFormerCrds()
    await giveOddObjects()
  }, 300_000)
  afterAll(async () => {
    await admin?.close()
    await server?.stop()
    await rm(folder, { recursive: true, force: true })
  })

  const crd = (plural: string) => admin.request<Crd>({ method: 'GET', path: `${CRDS}/${plural}.${GROUP}` })
  const at = (version: string, plural: string, namespace: string, name = 'x') =>
    `/apis/${GROUP}/${version}/namespaces/${namespace}/${plural}${name && `/${name}`}`
  const read = (version: string, plural: string, namespace: string) =>
    admin.request<Versioned>({ method: 'GET', path: at(version, plural, namespace) })

  async function applyFormerCrds() {
    for (const kind of former) {
      const path = `${CRDS}/${kind.plural}.${GROUP}`
      const query = { fieldManager: 'test', force: true }
      await admin.request({ method: 'PATCH', path, query, body: await formerCrd(kind.plural), patch: 'apply' })
    }
    for (const { plural } of former) await served(FORMER, plural)
  }

  const served = (version: string, plural: string) =>
    until(async () => {
      const path = at(version, plural, 'default', '')
      return admin.request({ method: 'GET', path }).then(
        () => true,
        () => false,
      )
    }, 30_000)

  /** Runs lines of a shell against the server; returns both outputs. */
  async function shell(lines: string): Promise<string> {
    const env = { ...process.env, KUBECONFIG: join(folder, 'kubeconfig'), KUBECACHEDIR: folder }
    const path = `${dirname(kubectlProgram())}:${process.env.PATH}`
    const { stdout, stderr } = await run('bash', ['-c', lines], { env: { ...env, PATH: path } })
    return stdout + stderr
  }

  /** The steps of the guide, from the first command to the one before `helm rollback`. */
  async function stepsOfTheGuide(): Promise<string> {
    const guide = await readFile('docs/install.md', 'utf8')
    const steps = /```sh\n(?<steps>kinds='[\s\S]*?)helm rollback/.exec(guide)?.groups?.steps
    if (!steps) throw new Error('the guide has no steps')
    return steps
  }

  /** An object of each former kind, made as version `v1alpha1`. */
  async function giveFormerObjects(namespace: string) {
    for (const { kind, plural } of former) {
      const spec = SPECS[kind as keyof typeof SPECS]
      const body = { apiVersion: `${GROUP}/${FORMER}`, kind, metadata: { name: 'x', namespace }, spec }
      const query = { fieldManager: 'kubectl', fieldValidation: 'Strict' }
      await admin.request({ method: 'PATCH', path: at(FORMER, plural, namespace), query, body, patch: 'apply' })
    }
  }

  /** Two of each odd kind: one to correct, one to delete. */
  async function giveOddObjects() {
    await admin.request({ method: 'POST', path: '/api/v1/namespaces', body: { metadata: { name: 'odd' } } })
    for (const { kind, plural } of former)
      for (const name of kind in ODD ? ['wrong', 'useless'] : []) {
        const spec = { ...ODD[kind as keyof typeof ODD], ...(kind === 'FeatureSwitch' ? { name } : {}) }
        const body = { apiVersion: `${GROUP}/${FORMER}`, kind, metadata: { name, namespace: 'odd' }, spec }
        await admin.request({ method: 'POST', path: at(FORMER, plural, 'odd', ''), body })
      }
  }

  const secretOf = (operator: OperatorUnderTest, name: string) =>
    admin.request<SecretObject>({ method: 'GET', path: `${secretsPath(operator.namespace)}/${name}` })

  test('objects of v1alpha1 work under v1beta1, and the guide leads back', { timeout: 300_000 }, async () => {
    const namespace = 'team'
    await admin.request({ method: 'POST', path: '/api/v1/namespaces', body: { metadata: { name: namespace } } })
    await giveFormerObjects(namespace)
    const before = await Promise.all(former.map(({ plural }) => read(FORMER, plural, namespace)))

    await installCrds(admin)
    for (const { plural } of former) await served(VERSION, plural)
    for (const [n, { kind, plural }] of former.entries()) {
      const made = before[n] as Versioned
      const [now, same] = [await read(VERSION, plural, namespace), await read(FORMER, plural, namespace)]
      expect([kind, now.apiVersion, same.apiVersion]).toEqual([kind, API_VERSION, `${GROUP}/${FORMER}`])
      expect(now.metadata.uid).toBe(made.metadata.uid)
      // Fields that are younger have their defaults.
      expect(now.spec).toMatchObject(made.spec)
      expect(now.status).toEqual({ observedGeneration: -1 })
      expect([same.spec, same.status]).toEqual([now.spec, now.status])
      expect((await crd(plural)).status.storedVersions).toEqual([FORMER, VERSION])
    }
    const warned = await shell(`kubectl get maildomains.${FORMER}.${GROUP} -n ${namespace}`)
    expect(warned).toContain(`Warning: ${GROUP}/${FORMER} MailDomain is deprecated; use ${API_VERSION}`)
    expect(await shell(`kubectl get maildomains -n ${namespace}`)).not.toContain('Warning')

    // An operator of this release works on them, and a change through the former version reaches it.
    const operator = await operatorUnderTest({ server, mongoUri: sharedMongoUri(), namespaces: [namespace] })
    for (const kind of ['SMTPCredential', 'APIToken', 'App', 'SubscriptionPlan', 'FeatureSwitch'])
      await operator.condition(kind, 'x', 'Ready', 'True', namespace)
    const change = { spec: { description: 'changed' } }
    const path = at(FORMER, 'featureswitches', namespace)
    await admin.request({ method: 'PATCH', path, body: change, patch: 'merge' })
    const changed = await operator.condition('FeatureSwitch', 'x', 'Ready', 'True', namespace)
    expect([changed.metadata.generation, changed.spec.description]).toEqual([2, 'changed'])

    // The way back: nothing is stored as v1beta1, and the former definitions are accepted.
    await expect(applyFormerCrds()).rejects.toThrow('v1beta1 was previously a storage version')
    await operator.running.stop()
    await shell(await stepsOfTheGuide())
    await applyFormerCrds()
    for (const { plural } of former) {
      expect((await crd(plural)).status.storedVersions).toEqual([FORMER])
      const last = await read(FORMER, plural, namespace)
      expect(last.metadata.uid).toBe(before.find(made => made.kind === last.kind)?.metadata.uid)
    }
    expect((await read(FORMER, 'featureswitches', namespace)).spec.description).toBe('changed')

    // And forward again, until v1alpha1 could be removed.
    await installCrds(admin)
    for (const { plural } of former) await served(VERSION, plural)
    const [, ...loops] = (await stepsOfTheGuide()).split(/(?=^for )/m)
    const kindsLine = /^kinds=.*/m.exec(await stepsOfTheGuide())?.[0]
    await shell([kindsLine, ...loops.slice(1)].join('\n').replaceAll(`["${FORMER}"]`, `["${VERSION}"]`))
    for (const { plural } of former) expect((await crd(plural)).status.storedVersions).toEqual([VERSION])
  })

  test('objects of 0.1.0 that are refused today are reported, can be corrected, and can be deleted', async () => {
    await installCrds(admin)
    for (const { plural } of former) await served(VERSION, plural)
    const operator = await operatorUnderTest({ server, mongoUri: sharedMongoUri(), namespaces: ['odd'] })
    await operator.apply('MailDomain', 'x', { domainName: 'odd.example' }, {}, 'odd')
    await operator.apply('App', 'x', { appKey: 'odd', appName: 'Odd' }, {}, 'odd')
    await operator.condition('App', 'x', 'Ready', 'True', 'odd')
    const refusal = async (kind: string, name: string) => {
      const { status } = await operator.condition(kind, name, 'Accepted', 'False', 'odd')
      return status?.conditions?.slice(0, 2)
    }
    const stalled = (message: RegExp) => [
      { type: 'Ready', status: 'False', reason: 'InvalidSpec', message: expect.stringMatching(message) },
      { type: 'Stalled', status: 'True' },
    ]
    expect(await refusal('SMTPCredential', 'wrong')).toMatchObject(stalled(/not-an-address .*allowedSenders/))
    expect(await refusal('FeatureSwitch', 'wrong')).toMatchObject(stalled(/value/))

    const change = (plural: string, spec: object) =>
      admin.request<Versioned>({
        ...{ method: 'PATCH', path: at(VERSION, plural, 'odd', 'wrong'), patch: 'merge' },
        body: { spec },
      })
    // A rule of an unchanged field does not refuse other changes; one over fields together refuses in a sentence.
    expect((await change('smtpcredentials', { endpoint: 'Public' })).spec.endpoint).toBe('Public')
    await expect(change('featureswitches', { title: 'Limits' })).rejects.toThrow('is a JSON object')
    await change('smtpcredentials', { allowedSenders: ['@odd.example'] })
    await change('featureswitches', { title: 'Limits', value: '{}' })
    for (const kind of Object.keys(ODD)) await operator.condition(kind, 'wrong', 'Ready', 'True', 'odd')

    for (const kind of Object.keys(ODD)) {
      const held = await operator.get(kind, 'useless', 'odd')
      expect([kind, held?.metadata.finalizers?.length]).toEqual([kind, 1])
      await operator.removeAndWait(kind, 'useless', 'odd')
    }
  })

  test('a Secret that names its owner by v1alpha1 is kept and belongs to the same resource', async () => {
    await installCrds(admin)
    for (const { plural } of former) await served(VERSION, plural)
    const operator = await operatorUnderTest({ server, mongoUri: sharedMongoUri() })
    await operator.apply('MailDomain', 'example', { domainName: 'example.com' })
    await operator.apply('SMTPCredential', 'news', { domainRef: { name: 'example' } })
    const { status } = await operator.condition('SMTPCredential', 'news', 'Ready', 'True')
    await operator.running.stop()
    const written = await secretOf(operator, 'news-smtp')
    const [owner] = written.metadata.ownerReferences ?? []
    const ownerReferences = [{ ...owner, apiVersion: `${GROUP}/${FORMER}` }]
    const path = `${secretsPath(operator.namespace)}/news-smtp`
    await admin.request({ method: 'PATCH', path, body: { metadata: { ownerReferences } }, patch: 'merge' })

    await operator.another()
    // Another host in the Secret: the operator writes what it did not take for foreign.
    await operator.apply('SMTPCredential', 'news', { domainRef: { name: 'example' }, endpoint: 'Public' })
    const still = await operator.condition('SMTPCredential', 'news', 'Ready', 'True')
    expect(still.status?.username).toBe(status?.username)
    const after = await secretOf(operator, 'news-smtp')
    expect(after.data?.host).not.toBe(written.data?.host)
    expect(after.metadata.ownerReferences).toMatchObject([{ apiVersion: API_VERSION, uid: owner?.uid }])
    expect(after.data?.password).toBe(written.data?.password)
  })
})

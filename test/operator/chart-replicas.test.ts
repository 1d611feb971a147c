/** Numbers of replicas that others decide: what an upgrade by server-side apply, as Helm 4 does it, makes of them. */
import { spawn } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { beforeAll, expect, onTestFinished, test } from 'vitest'
import { onApiServer, sharedApiServer } from '../support/kubernetes/apiserver-shared.ts'
import { adminClient, newNamespace } from '../support/kubernetes/clients-and-crds.ts'
import { writeKubeconfig } from '../support/kubernetes/kubeconfig.ts'
import { LEAST, needHelm, renderChart } from '../support/kubernetes/render-chart.ts'
import { kubectlProgram } from '../support/programs/programs.ts'

interface Deployment {
  spec: { replicas: number }
}

onApiServer('the number of replicas', () => {
  beforeAll(needHelm)

  /** A namespace with kubectl and the worker of the chart. */
  async function installation() {
    const server = sharedApiServer()
    const admin = adminClient(server)
    const folder = await mkdtemp(join(tmpdir(), 'pw-replicas-'))
    onTestFinished(async () => {
      await admin.close()
      await rm(folder, { recursive: true, force: true })
    })
    const namespace = await newNamespace(admin)
    const kubeconfig = await writeKubeconfig(folder, server, server.admin, namespace)
    const kubectl = async (args: string[], input = '') => {
      const child = spawn(kubectlProgram(), [`--kubeconfig=${kubeconfig}`, `--cache-dir=${folder}`, ...args])
      child.stdin.end(input)
      const [out, err] = await Promise.all([text(child.stdout), text(child.stderr)])
      return out + err
    }
    /** What `helm upgrade` of Helm 4 does with the Deployment of the worker. */
    const upgrade = async (...values: string[]) => {
      const manifests = await renderChart(...LEAST, ...values.flatMap(value => ['--set', value]))
      const worker = manifests.find(({ kind, metadata }) => kind === 'Deployment' && metadata.name.endsWith('-worker'))
      const placed = { ...worker, metadata: { ...worker?.metadata, namespace } }
      return kubectl(['apply', '--server-side', '--field-manager=helm', '-f', '-'], JSON.stringify(placed))
    }
    const scale = (count: number) => kubectl(['scale', 'deployment/pw-postwright-worker', `--replicas=${count}`])
    const replicas = async () => {
      const path = `/apis/apps/v1/namespaces/${namespace}/deployments/pw-postwright-worker`
      return (await admin.request<Deployment>({ method: 'GET', path })).spec.replicas
    }
    return { upgrade, scale, replicas }
  }

  test('conflicts after kubectl scale, unless the chart leaves it to others', async () => {
    const { upgrade, scale, replicas } = await installation()
    expect(await upgrade()).toContain('serverside-applied')
    await scale(5)
    expect(await upgrade('worker.replicas=3')).toContain('conflict with "kubectl"')
    expect(await replicas()).toBe(5)
    expect(await upgrade('worker.replicas=null')).toContain('serverside-applied')
    expect(await replicas()).toBe(5)
    await scale(4)
    expect(await upgrade('worker.replicas=null')).toContain('serverside-applied')
    expect(await replicas()).toBe(4)
  })

  test('is 1 when the chart gives it up before anyone else has set it', async () => {
    const { upgrade, replicas } = await installation()
    await upgrade()
    expect(await replicas()).toBe(2)
    expect(await upgrade('worker.replicas=null')).toContain('serverside-applied')
    expect(await replicas()).toBe(1)
  })
})

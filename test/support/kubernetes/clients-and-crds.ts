/** Clients, CRDs and namespaces for tests on a real API server. */
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { KubeConfig } from '@kubernetes/client-node'
import { parse } from 'yaml'
import { createKubeClient, type KubeClient } from '../../../operator/kube/client.ts'
import { createMetrics } from '../../../services/platform/observability/metrics.ts'
import { until } from '../time/until.ts'
import type { ApiServerAccess } from './apiserver.ts'

/** A client with all permissions. */
export function adminClient(server: ApiServerAccess): KubeClient {
  return clientFor(server, server.admin)
}

/** A client with another user's token. */
export function clientFor(server: ApiServerAccess, token: string): KubeClient {
  return createKubeClient(() => tokenLogin(server.url, server.ca, token), createMetrics('test').operator)
}

interface CrdStatus {
  status?: { conditions?: { type: string; status: string }[] }
}

/** Installs the CRDs of the repository and waits until they are served. */
export async function installCrds(admin: KubeClient): Promise<void> {
  const folder = join(import.meta.dirname, '../../../crds')
  const path = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
  for (const file of await readdir(folder)) {
    const crd = parse(await readFile(join(folder, file), 'utf8')) as { metadata: { name: string } }
    const one = `${path}/${crd.metadata.name}`
    const query = { fieldManager: 'test', force: true }
    await admin.request({ method: 'PATCH', path: one, query, body: crd, patch: 'apply' })
    await until(async () => {
      const { status } = await admin.request<CrdStatus>({ method: 'GET', path: one })
      return status?.conditions?.some(({ type, status: is }) => type === 'Established' && is === 'True') ?? false
    }, 60_000)
  }
}

let namespaces = 0

/** Creates a namespace with a unique name. */
export async function newNamespace(admin: KubeClient, annotations: Record<string, string> = {}): Promise<string> {
  const name = `t${process.pid}-${Date.now().toString(36)}-${namespaces++}`
  const body = { apiVersion: 'v1', kind: 'Namespace', metadata: { name, annotations } }
  await admin.request({ method: 'POST', path: '/api/v1/namespaces', body })
  return name
}

/** Creates a namespace with a temporary admin client. */
export async function extraNamespace(server: ApiServerAccess): Promise<string> {
  const admin = adminClient(server)
  const name = await newNamespace(admin)
  await admin.close()
  return name
}

/** Applies roles and bindings of rbac.ts; the returned function removes them again. */
export async function applyRbac(admin: KubeClient, objects: readonly object[]): Promise<() => Promise<void>> {
  const paths: string[] = []
  for (const object of objects as { kind: string; metadata: { name: string; namespace?: string } }[]) {
    const { name, namespace } = object.metadata
    if (namespace) await ensureNamespace(admin, namespace)
    const plural = `${object.kind.toLowerCase()}s`
    const path = `/apis/rbac.authorization.k8s.io/v1${namespace ? `/namespaces/${namespace}` : ''}/${plural}/${name}`
    await admin.request({
      method: 'PATCH',
      path,
      query: { fieldManager: 'test', force: true },
      body: object,
      patch: 'apply',
    })
    paths.push(path)
  }
  return async () => {
    for (const path of paths) await admin.request({ method: 'DELETE', path })
  }
}

/** Creates a namespace unless it exists. */
export async function ensureNamespace(admin: KubeClient, name: string): Promise<void> {
  const body = { apiVersion: 'v1', kind: 'Namespace', metadata: { name } }
  const query = { fieldManager: 'test' }
  await admin.request({ method: 'PATCH', path: `/api/v1/namespaces/${name}`, query, body, patch: 'apply' })
}

/** A kubeconfig with a bearer token. */
function tokenLogin(server: string, ca: string, token: string): KubeConfig {
  const config = new KubeConfig()
  const caData = Buffer.from(ca).toString('base64')
  config.loadFromClusterAndUser({ name: 'cluster', server, skipTLSVerify: false, caData }, { name: 'user', token })
  return config
}

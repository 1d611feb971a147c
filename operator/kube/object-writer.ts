/** Writes to the API server: status and Secrets by server-side apply, finalizers with the revision as a guard. */
import type { Kind, Metadata } from '../resources/kind.ts'
import { API_VERSION } from '../resources/kind.ts'
import { type KubeClient, KubeError } from './client.ts'
import type { KubeObject } from './object-cache.ts'
import {
  configMapsPath,
  DNS_ENDPOINT_API,
  dnsEndpointsPath,
  NAMESPACES_PATH,
  type ObjectId,
  objectPath,
  secretsPath,
} from './object-paths.ts'

/** A Secret as the API server keeps it; values are base64. */
export interface SecretObject extends KubeObject {
  type?: string
  data?: Record<string, string>
}

/** A ConfigMap as the API server keeps it: text, and what is no UTF-8 apart from it. */
export interface ConfigMapObject extends KubeObject {
  data?: Record<string, string>
}

/** What identifies an object for a write. */
export type Target = Pick<Metadata, 'name' | 'namespace' | 'uid'>

/** What a Secret of ours holds. */
export interface SecretContent {
  name: string
  type: string
  /** Plain values. */
  data: Record<string, string>
  annotations: Record<string, string>
}

/**
 * Label of the Secrets that are watched: `managed` for those that we write, `credentials` for those of users that a
 * DNSProvider reads.
 */
export const SECRET_LABEL = 'postwright.dev/secret'

/** A DNSEndpoint as external-dns defines it. */
export interface DnsEndpointObject extends KubeObject {
  spec?: { endpoints?: { dnsName?: string; recordType?: string; recordTTL?: number; targets?: string[] }[] }
  status?: { observedGeneration?: number }
}

/** What is written of a DNSEndpoint; with uid and revision, only the object that was read is replaced. */
export type DnsEndpointContent = Pick<DnsEndpointObject, 'spec'> & {
  metadata: Partial<KubeObject['metadata']> & ObjectId
}

/** All writes of the reconcilers. Every method throws {@link KubeError} on refusal. */
export interface Writer {
  /** Replaces our fields of the status and returns the new object. */
  applyStatus(kind: Kind, target: Target, status: object): Promise<KubeObject>
  /** Sets the list of finalizers if the object is still the one that was read. */
  setFinalizers(
    kind: Kind,
    target: Pick<Metadata, 'name' | 'namespace' | 'uid' | 'resourceVersion'>,
    finalizers: readonly string[],
  ): Promise<KubeObject>
  /** A Secret, or undefined when there is none. */
  readSecret(id: ObjectId): Promise<SecretObject | undefined>
  /**
   * Creates a Secret of ours, owned by the target, or replaces the `known` one as it was read; it holds these
   * values and no others. 409 when another client created, changed or removed one in the meantime.
   */
  applySecret(kind: Kind, owner: Target, content: SecretContent, known: KubeObject | undefined): Promise<SecretObject>
  /** Labels a Secret of a user as credentials, so that its changes are seen. */
  labelSecret(id: ObjectId): Promise<void>
  /** A ConfigMap; undefined when it does not exist. */
  readConfigMap(id: ObjectId): Promise<ConfigMapObject | undefined>
  /** A Namespace; undefined when it does not exist. */
  readNamespace(name: string): Promise<KubeObject | undefined>
  /** A DNSEndpoint; undefined when there is none, or no such kind. */
  readDnsEndpoint(id: ObjectId): Promise<DnsEndpointObject | undefined>
  /** Creates a DNSEndpoint, or replaces the one with the uid and revision in `content`. 409 when there is another one. */
  writeDnsEndpoint(content: DnsEndpointContent): Promise<void>
  /** Deletes the DNSEndpoint with this uid; a missing one is success. */
  deleteDnsEndpoint(target: Target): Promise<void>
}

/** A writer under field managers `postwright/<kind>`. */
export function createWriter(client: KubeClient): Writer {
  const manager = (kind: Kind) => `postwright/${kind.kind.toLowerCase()}`
  const read = <T extends KubeObject>(path: string): Promise<T | undefined> =>
    client.request<T>({ method: 'GET', path }).catch((error: unknown) => {
      if (error instanceof KubeError && error.status === 404) return undefined
      throw error
    })
  return {
    applyStatus(kind, { name, namespace, uid }, status) {
      // With the uid, an apply to a deleted object is refused instead of creating it again.
      const place = kind.scope === 'Cluster' ? {} : { namespace }
      const body = { apiVersion: API_VERSION, kind: kind.kind, metadata: { name, ...place, uid }, status }
      const path = `${objectPath(kind, { namespace, name })}/status`
      const query = { fieldManager: manager(kind), force: true }
      return client.request({ method: 'PATCH', path, query, body, patch: 'apply' })
    },
    setFinalizers(kind, { name, namespace, uid, resourceVersion }, finalizers) {
      const body = { metadata: { uid, resourceVersion, finalizers } }
      return client.request({
        method: 'PATCH',
        path: objectPath(kind, { namespace, name }),
        query: { fieldManager: manager(kind) },
        body,
        patch: 'merge',
      })
    },
    readSecret: ({ namespace, name }) => read(`${secretsPath(namespace)}/${name}`),
    async applySecret(kind, owner, { name, type, data, annotations }, known) {
      const { namespace } = owner
      const reference = { apiVersion: API_VERSION, kind: kind.kind, name: owner.name, uid: owner.uid, controller: true }
      const body = {
        apiVersion: 'v1',
        kind: 'Secret',
        type,
        metadata: {
          name,
          namespace,
          ...(known && { uid: known.metadata.uid, resourceVersion: known.metadata.resourceVersion }),
          labels: { [SECRET_LABEL]: 'managed' },
          annotations,
          ownerReferences: [reference],
        },
        data: Object.fromEntries(
          Object.entries(data).map(([key, value]) => [key, Buffer.from(value).toString('base64')]),
        ),
      }
      const fieldManager = manager(kind)
      // An apply would take over what it finds under the name.
      if (!known) return client.request({ method: 'POST', path: secretsPath(namespace), query: { fieldManager }, body })
      const path = `${secretsPath(namespace)}/${name}`
      const query = { fieldManager, force: true }
      const written = await client.request<SecretObject>({ method: 'PATCH', path, query, body, patch: 'apply' })
      const foreign = Object.keys(written.data ?? {}).filter(key => !Object.hasOwn(data, key))
      if (foreign.length === 0) return written
      // An apply leaves keys that another client added: they are removed unless the Secret changed in the meantime.
      const { resourceVersion } = written.metadata
      const without = {
        metadata: { uid: written.metadata.uid, resourceVersion },
        data: Object.fromEntries(foreign.map(key => [key, null])),
      }
      return client.request({ method: 'PATCH', path, query: { fieldManager }, body: without, patch: 'merge' })
    },
    async labelSecret({ namespace, name }) {
      const body = { metadata: { labels: { [SECRET_LABEL]: 'credentials' } } }
      const path = `${secretsPath(namespace)}/${name}`
      await client.request({
        method: 'PATCH',
        path,
        query: { fieldManager: 'postwright/source' },
        body,
        patch: 'merge',
      })
    },
    readConfigMap: ({ namespace, name }) => read(`${configMapsPath(namespace)}/${name}`),
    readNamespace: name => read(`${NAMESPACES_PATH}/${name}`),
    readDnsEndpoint: ({ namespace, name }) => read(`${dnsEndpointsPath(namespace)}/${name}`),
    async writeDnsEndpoint({ metadata, spec }) {
      const { namespace, name, uid } = metadata
      const body = { apiVersion: DNS_ENDPOINT_API, kind: 'DNSEndpoint', metadata, spec }
      const query = { fieldManager: 'postwright/maildomain' }
      const path = dnsEndpointsPath(namespace)
      if (uid === undefined) await client.request({ method: 'POST', path, query, body })
      else await client.request({ method: 'PUT', path: `${path}/${name}`, query, body })
    },
    async deleteDnsEndpoint({ namespace, name, uid }) {
      const body = { apiVersion: 'v1', kind: 'DeleteOptions', preconditions: { uid } }
      await client
        .request({ method: 'DELETE', path: `${dnsEndpointsPath(namespace)}/${name}`, body })
        .catch((error: unknown) => {
          if (!(error instanceof KubeError && error.status === 404)) throw error
        })
    },
  }
}

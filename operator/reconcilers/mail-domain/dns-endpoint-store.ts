/** The DNSEndpoint object of a MailDomain on the API server: of the same name, owned by it, never taken from others. */
import { isDeepStrictEqual } from 'node:util'
import { DnsProviderError, type ProviderErrorKind } from '../../../services/mail/dns/providers/provider.ts'
import type {
  Endpoint,
  EndpointStore,
  StoredEndpoints,
} from '../../../services/mail/domains/publishing/publish-endpoint.ts'
import { verbatim } from '../../../services/platform/sentences/compose.ts'
import { type Sentence, sentence } from '../../../services/platform/sentences/sentence.ts'
import { KubeError } from '../../kube/client.ts'
import type { KubeObject } from '../../kube/object-cache.ts'
import type { DnsEndpointObject } from '../../kube/object-writer.ts'
import { API_VERSION } from '../../resources/kind.ts'
import type { MailDomain } from '../../resources/mail-domain.ts'
import type { OperatorContext } from '../shared/operator-context.ts'

/** Label of our objects; its value is the name of the MailDomain, or `true` for one that is too long for a label. */
export const ENDPOINT_LABEL = 'postwright.dev/maildomain'
/** Annotation of our objects: the domain, so that a new MailDomain for it takes over what a deleted one left. */
const DOMAIN_ANNOTATION = 'postwright.dev/domain'
const MAX_LABEL = 63

type Context = Pick<OperatorContext, 'writer'>
/** How the owner is named in the object. */
type OwnerReference = NonNullable<KubeObject['metadata']['ownerReferences']>[number]

/** The store for {@link publishEndpoint}. Refusals of the API server become DnsProviderErrors. */
export function dnsEndpointStore({ writer }: Context, resource: MailDomain): EndpointStore {
  const { namespace, name } = resource.metadata
  /** The object at the last read: a write replaces exactly this one. */
  let last: DnsEndpointObject | undefined
  return {
    async read(): Promise<StoredEndpoints | undefined> {
      const object = await translated(() => writer.readDnsEndpoint({ namespace, name }), 'read')
      if (object && !isOurs(object, resource)) throw failed('conflict', sentence('dns_endpoint.foreign', { name }))
      last = object
      return (
        object && {
          endpoints: object.spec?.endpoints?.flatMap(toEndpoint) ?? [],
          revision: object.metadata.resourceVersion,
          isOutdated: !isDeepStrictEqual(labelled(object.metadata), labelled(metadataOf(resource, object))),
        }
      )
    },
    async write(endpoints, known) {
      const before = known === undefined ? undefined : last
      const metadata = metadataOf(resource, before)
      await translated(() => writer.writeDnsEndpoint({ metadata, spec: { endpoints: [...endpoints] } }), 'write')
    },
  }
}

/** Deletes the object, if it is ours. Throws DnsProviderError. */
export async function deleteEndpoint({ writer }: Context, resource: MailDomain): Promise<void> {
  const object = await ownObject({ writer }, resource)
  if (!object) return
  const { uid } = object.metadata
  await translated(() => writer.deleteDnsEndpoint({ ...resource.metadata, uid }), 'write')
}

/** Takes the owner off the object, so that it outlives the MailDomain and external-dns keeps the records. */
export async function releaseEndpoint({ writer }: Context, resource: MailDomain): Promise<void> {
  const object = await ownObject({ writer }, resource)
  if (!object?.metadata.ownerReferences?.length) return
  const { managedFields: _, ...metadata } = object.metadata as KubeObject['metadata'] & { managedFields?: unknown }
  const { namespace, name } = resource.metadata
  const content = { metadata: { ...metadata, namespace, name, ownerReferences: [] }, spec: object.spec ?? {} }
  await translated(() => writer.writeDnsEndpoint(content), 'write')
}

/** Whether external-dns has read the object as it is now; undefined without an object. */
export async function isReadByExternalDns({ writer }: Context, resource: MailDomain): Promise<boolean | undefined> {
  const object = await ownObject({ writer }, resource)
  return object && (object.status?.observedGeneration ?? 0) >= (object.metadata.generation ?? 0)
}

async function ownObject({ writer }: Context, resource: MailDomain): Promise<DnsEndpointObject | undefined> {
  const { namespace, name } = resource.metadata
  const object = await translated(() => writer.readDnsEndpoint({ namespace, name }), 'read')
  return object && isOurs(object, resource) ? object : undefined
}

/** Owned by this MailDomain, or left by one of the same name for the same domain. */
function isOurs({ metadata }: DnsEndpointObject, { metadata: owner, spec }: MailDomain): boolean {
  const references = metadata.ownerReferences ?? []
  if (references.some(({ uid }) => uid === owner.uid)) return true
  const isLeft = references.every(({ kind, name }) => kind === 'MailDomain' && name === owner.name)
  return (
    isLeft &&
    metadata.labels?.[ENDPOINT_LABEL] !== undefined &&
    metadata.annotations?.[DOMAIN_ANNOTATION] === spec.domainName
  )
}

function metadataOf({ metadata, spec }: MailDomain, before: DnsEndpointObject | undefined) {
  const { namespace, name, uid } = metadata
  const { labels, annotations } = spec.dns.dnsEndpoint ?? {}
  const reference = { apiVersion: API_VERSION, kind: 'MailDomain', name, uid, controller: true }
  return {
    namespace,
    name,
    ...(before ? { uid: before.metadata.uid, resourceVersion: before.metadata.resourceVersion } : {}),
    labels: { ...labels, [ENDPOINT_LABEL]: name.length > MAX_LABEL ? 'true' : name },
    annotations: { ...annotations, [DOMAIN_ANNOTATION]: spec.domainName },
    ownerReferences: [reference as OwnerReference],
  }
}

function labelled({ labels, annotations, ownerReferences = [] }: Partial<KubeObject['metadata']>) {
  return { labels, annotations, owners: ownerReferences.map(({ uid }) => uid) }
}

/** An endpoint that lacks a name or type is not ours; external-dns ignores it. */
function toEndpoint({
  dnsName,
  recordType,
  recordTTL,
  targets,
}: NonNullable<NonNullable<DnsEndpointObject['spec']>['endpoints']>[number]): Endpoint[] {
  if (dnsName === undefined || recordType === undefined) return []
  return [{ dnsName, recordType, ...(recordTTL === undefined ? {} : { recordTTL }), targets: targets ?? [] }]
}

async function translated<T>(work: () => Promise<T>, what: 'read' | 'write'): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof KubeError)) throw error
    const reason = verbatim(error.message)
    if (error.status === 403) throw failed('permission', sentence('dns_endpoint.forbidden', { reason }))
    if (error.status === 409) throw failed('changed', sentence('dns_provider.records_changed'))
    if (error.status === 404 && what === 'write') throw failed('unavailable', sentence('dns_endpoint.unknown_kind'))
    if (error.status === 422 || error.status === 400)
      throw failed('invalid', sentence('dns_endpoint.refused', { reason }))
    throw error
  }
}

function failed(kind: ProviderErrorKind, reason: Sentence): DnsProviderError {
  return new DnsProviderError('dnsendpoint', kind, reason)
}

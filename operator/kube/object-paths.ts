/** Addresses of objects on the API server. */
import { API_VERSION, type Kind } from '../resources/kind.ts'

/** Identity of an object within a kind. */
export interface ObjectId {
  namespace: string
  name: string
}

/** `namespace/name`. */
export function keyOf({ namespace, name }: ObjectId): string {
  return `${namespace}/${name}`
}

/** Address of the list of a kind, in one namespace or in all. */
export function listPath(plural: string, namespace?: string): string {
  return `/apis/${API_VERSION}${namespace ? `/namespaces/${namespace}` : ''}/${plural}`
}

/** Address of an object of a kind. */
export function objectPath(kind: Pick<Kind, 'plural'>, { namespace, name }: ObjectId): string {
  return `${listPath(kind.plural, namespace)}/${name}`
}

/** Address of the Secrets of a namespace, or of all. */
export function secretsPath(namespace?: string): string {
  return `/api/v1${namespace ? `/namespaces/${namespace}` : ''}/secrets`
}

/** Address of the ConfigMaps of a namespace. */
export function configMapsPath(namespace: string): string {
  return `/api/v1/namespaces/${namespace}/configmaps`
}

/** Address of the Namespaces. */
export const NAMESPACES_PATH = '/api/v1/namespaces'

/** `apiVersion` of the objects that external-dns reads. */
export const DNS_ENDPOINT_API = 'externaldns.k8s.io/v1alpha1'

/** Address of the DNSEndpoint objects of a namespace, or of all. */
export function dnsEndpointsPath(namespace?: string): string {
  return `/apis/${DNS_ENDPOINT_API}${namespace ? `/namespaces/${namespace}` : ''}/dnsendpoints`
}

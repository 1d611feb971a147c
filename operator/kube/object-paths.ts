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

/** Address of the Namespaces. */
export const NAMESPACES_PATH = '/api/v1/namespaces'

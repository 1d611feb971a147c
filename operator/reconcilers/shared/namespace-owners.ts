/**
 * Accounts that the resources of a namespace may act for: that of the namespace, and those listed on the Namespace by
 * users who may change it (ADR 36).
 */
import { ADOPT_ANNOTATION } from '../../../services/subscriptions/kubernetes/declared-record.ts'

export { ADOPT_ANNOTATION }

/** Annotation on the Namespace: accounts and app keys that its resources may act for or take over, comma separated. */
export const OWNERS_ANNOTATION = 'postwright.dev/owners'

/** Name of the account of a namespace. */
export function namespaceAccount(namespace: string): string {
  return `k8s-${namespace}`
}

/** Accounts and app keys that the Namespace lists. */
export function allowedOwners(annotations: Readonly<Record<string, string>> | undefined): string[] {
  return (annotations?.[OWNERS_ANNOTATION] ?? '')
    .split(',')
    .map(entry => entry.trim())
    .filter(Boolean)
}

/** True when resources of the namespace may act for the account. The Namespace is read only if needed. */
export async function mayOwn(
  namespace: string,
  username: string,
  listed: () => Promise<readonly string[]>,
): Promise<boolean> {
  return username === namespaceAccount(namespace) || (await listed()).includes(username)
}

/** True when the resource wants an existing record that no resource manages. */
export function wantsToAdopt({ annotations }: { annotations: Readonly<Record<string, string>> }): boolean {
  return annotations[ADOPT_ANNOTATION] === 'true'
}

/** True when a resource with these annotations may take over an existing record of `owner`, an account or app key. */
export async function mayAdopt(
  annotations: Readonly<Record<string, string>>,
  owner: string,
  listed: () => Promise<readonly string[]>,
): Promise<boolean> {
  return wantsToAdopt({ annotations }) && (await listed()).includes(owner)
}

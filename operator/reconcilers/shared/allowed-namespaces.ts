/** Whether a ClusterDNSProvider allows a namespace. */
import type { ClusterDNSProvider } from '../../resources/cluster-dns-provider.ts'
import { selects } from './namespace-selector.ts'
import type { OperatorContext } from './operator-context.ts'

/** Labels are read from the API server: a stale cache must not grant a permission. */
export async function allowsNamespace(
  { writer }: Pick<OperatorContext, 'writer'>,
  { names = [], selector }: ClusterDNSProvider['spec']['allowedNamespaces'],
  namespace: string,
): Promise<boolean> {
  if (names.includes(namespace)) return true
  if (!selector) return false
  const found = await writer.readNamespace(namespace)
  return found !== undefined && selects(selector, found.metadata.labels ?? {})
}

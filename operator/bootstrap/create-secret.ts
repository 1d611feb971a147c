/** Creates a Secret that does not exist; existing ones are never changed. */

import { type KubeClient, KubeError } from '../kube/client.ts'
import type { KubeObject } from '../kube/object-cache.ts'
import { type ObjectId, secretsPath } from '../kube/object-paths.ts'

/** What was found or done. */
export interface CreatedOnce {
  created: boolean
  /** Wanted keys that an existing Secret lacks. */
  missing: string[]
}

/**
 * Creates the Secret with these values unless it exists; of two parallel callers one creates it. Throws {@link
 * KubeError}.
 */
export async function createSecretOnce(
  client: KubeClient,
  { namespace, name }: ObjectId,
  type: string,
  values: Readonly<Record<string, string>>,
): Promise<CreatedOnce> {
  const path = secretsPath(namespace)
  const body = { apiVersion: 'v1', kind: 'Secret', metadata: { name, namespace }, type, stringData: values }
  try {
    await client.request({ method: 'POST', path, body })
    return { created: true, missing: [] }
  } catch (error) {
    if (!(error instanceof KubeError && error.reason === 'AlreadyExists')) throw error
  }
  const existing = await client.request<KubeObject & { data?: Record<string, string> }>({
    method: 'GET',
    path: `${path}/${name}`,
  })
  return { created: false, missing: Object.keys(values).filter(key => existing.data?.[key] === undefined) }
}

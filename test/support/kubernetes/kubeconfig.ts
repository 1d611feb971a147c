/** A kubeconfig for programs that run in other processes. */
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { stringify } from 'yaml'
import type { ApiServerAccess } from './apiserver.ts'

/** Writes a kubeconfig into the folder and returns its path. */
export async function writeKubeconfig(
  folder: string,
  server: ApiServerAccess,
  token: string,
  namespace = 'default',
): Promise<string> {
  const path = join(folder, 'kubeconfig')
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [
      {
        name: 'test',
        cluster: { server: server.url, 'certificate-authority-data': Buffer.from(server.ca).toString('base64') },
      },
    ],
    users: [{ name: 'test', user: { token } }],
    contexts: [{ name: 'test', context: { cluster: 'test', user: 'test', namespace } }],
    'current-context': 'test',
  }
  await writeFile(path, stringify(config), { mode: 0o600 })
  return path
}

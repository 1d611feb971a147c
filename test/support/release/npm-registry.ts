/** An npm registry on a free port of this machine: what `npm view` and `npm publish` need of its protocol. */
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'

/** A running registry. */
export interface NpmRegistry {
  /** Variables of npm that lead to it. */
  environment: Record<string, string>
  /** Versions in the order of their publication, as in `name@1.0.0`. */
  published: string[]
  tags(name: string): Record<string, string> | undefined
  stop(): Promise<void>
}

interface Packument {
  name: string
  versions: Record<string, object>
  'dist-tags': Record<string, string>
}

/** Starts it, without packages. A version that is published twice is refused, as npm does. */
export async function startNpmRegistry(): Promise<NpmRegistry> {
  const packages = new Map<string, Packument>()
  const published: string[] = []
  const server = createServer(async (request, response) => {
    const answer = (status: number, body: object) =>
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
    const name = decodeURIComponent(new URL(request.url ?? '', 'http://localhost').pathname.slice(1))
    const known = packages.get(name)
    if (request.method !== 'PUT') return known ? answer(200, known) : answer(404, { error: 'not_found' })
    const sent = (await json(request)) as Packument
    const versions = Object.keys(sent.versions)
    if (versions.some(version => known?.versions[version])) return answer(403, { error: 'published already' })
    published.push(...versions.map(version => `${name}@${version}`))
    packages.set(name, {
      name,
      versions: { ...known?.versions, ...sent.versions },
      'dist-tags': { ...known?.['dist-tags'], ...sent['dist-tags'] },
    })
    return answer(201, { ok: true })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    environment: {
      npm_config_registry: `http://${host}/`,
      [`npm_config_//${host}/:_authToken`]: 'a token of a test',
      // The cache would answer after the registry has stopped.
      npm_config_prefer_online: 'true',
      npm_config_fetch_retries: '0',
      npm_config_update_notifier: 'false',
    },
    published,
    tags: name => packages.get(name)?.['dist-tags'],
    async stop() {
      if (!server.listening) return
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

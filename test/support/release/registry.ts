/** A real OCI registry (distribution) on a free port of this machine, with its data in a folder. */
import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from '../database/test-mongod.ts'
import { findReleaseProgram, pathOf } from '../programs/programs.ts'
import { until } from '../time/until.ts'

/** A running registry. */
export interface Registry {
  /** As in `127.0.0.1:5000`. */
  host: string
  stop(): Promise<void>
}

/** Starts it. Throws MissingProgram where it can be neither found nor built. */
export async function startRegistry(): Promise<Registry> {
  const program = pathOf(await findReleaseProgram('registry'))
  const folder = await mkdtemp(join(tmpdir(), 'pw-registry-'))
  const host = `127.0.0.1:${await freePort()}`
  const settings = {
    ...{ version: '0.1', log: { level: 'error', accesslog: { disabled: true } } },
    ...{ storage: { filesystem: { rootdirectory: join(folder, 'data') }, delete: { enabled: true } } },
    http: { addr: host },
  }
  await writeFile(join(folder, 'config.yml'), JSON.stringify(settings))
  const env = { ...process.env, OTEL_TRACES_EXPORTER: 'none' }
  const child = spawn(program, ['serve', join(folder, 'config.yml')], { stdio: 'ignore', env })
  const ended = new Promise<void>(resolve => child.once('close', () => resolve()))
  const stop = async () => {
    child.kill('SIGTERM')
    await ended
    await rm(folder, { recursive: true, force: true })
  }
  await until(() =>
    fetch(`http://${host}/v2/`).then(
      response => response.ok,
      () => false,
    ),
  ).catch(async error => {
    await stop()
    throw error
  })
  return { host, stop }
}

/** A small image for two platforms. `layers`: contents of the first layer, by platform. */
export interface TestImage {
  revision: string
  layers?: { amd64: string; arm64: string }
}

const MANIFEST = 'application/vnd.oci.image.manifest.v1+json'
const INDEX = 'application/vnd.oci.image.index.v1+json'

/** Pushes an image that is as large as its labels; resolves to the digest of its index. */
export async function pushImage(host: string, name: string, tag: string, image: TestImage): Promise<string> {
  const base = `http://${host}/v2/${name}`
  const layers = image.layers ?? { amd64: 'files of amd64', arm64: 'files of arm64' }
  const manifests = await Promise.all(
    (['amd64', 'arm64'] as const).map(async architecture => {
      const Labels = {
        'org.opencontainers.image.revision': image.revision,
        'org.opencontainers.image.base.name': `docker.io/library/debian:bookworm-slim@sha256:${'c'.repeat(64)}`,
        'dev.postwright.node-image': `docker.io/library/node:24-bookworm-slim@sha256:${'d'.repeat(64)}`,
      }
      const rootfs = { type: 'layers', diff_ids: [digestOf(layers[architecture])] }
      const config = JSON.stringify({ architecture, os: 'linux', config: { Labels }, rootfs })
      const manifest = {
        ...{ schemaVersion: 2, mediaType: MANIFEST },
        config: await pushBlob(base, 'application/vnd.oci.image.config.v1+json', config),
        layers: [await pushBlob(base, 'application/vnd.oci.image.layer.v1.tar', layers[architecture])],
      }
      return { ...(await pushManifest(base, undefined, MANIFEST, manifest)), platform: { architecture, os: 'linux' } }
    }),
  )
  return (await pushManifest(base, tag, INDEX, { schemaVersion: 2, mediaType: INDEX, manifests })).digest
}

async function pushBlob(base: string, mediaType: string, content: string) {
  const digest = digestOf(content)
  const started = await fetch(`${base}/blobs/uploads/`, { method: 'POST' })
  const target = new URL(started.headers.get('location') ?? '', base)
  target.searchParams.set('digest', digest)
  await accept(fetch(target, { method: 'PUT', body: content, headers: { 'content-type': 'application/octet-stream' } }))
  return { mediaType, digest, size: Buffer.byteLength(content) }
}

async function pushManifest(base: string, tag: string | undefined, mediaType: string, manifest: object) {
  const body = JSON.stringify(manifest)
  const digest = digestOf(body)
  const headers = { 'content-type': mediaType }
  await accept(fetch(`${base}/manifests/${tag ?? digest}`, { method: 'PUT', body, headers }))
  return { mediaType, digest, size: Buffer.byteLength(body) }
}

async function accept(response: Promise<Response>): Promise<void> {
  const { status, url } = await response
  if (status !== 201) throw new Error(`the registry answered ${status} for ${url}`)
}

function digestOf(content: string): string {
  return `sha256:${createHash('sha256').update(content).digest('hex')}`
}

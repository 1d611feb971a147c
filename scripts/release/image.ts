/** The image: built for all platforms and pushed once. */
import { mkdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { keepPublished, platformsOf, type Recorded, recordArtifact } from './recorded.ts'
import { ReleaseError } from './release-error.ts'
import {
  type Artifact,
  checkDigest,
  imageName,
  NO_DIGEST,
  orasOptions,
  pinned,
  type Target,
  workFolder,
} from './target.ts'

/** Programs that can build it. buildx adds SBOM and provenance of its own to the index. */
export const BUILDERS = ['buildx', 'buildah'] as const

/** How the image is built. */
export interface ImageOptions {
  builder: (typeof BUILDERS)[number]
  /** As in `linux/amd64`. */
  platforms: readonly string[]
  /** Base images without digest: the digests that the tags have now are built from and recorded. */
  nodeImage: string
  baseImage: string
}

/** Name of the builder that can build for several platforms and attest. */
const BUILDX = 'postwright-release'

/** Publishes the image and records its digests, unless an earlier run did so from this commit. */
export async function publishImage(target: Target, options: ImageOptions): Promise<Recorded> {
  const name = imageName(target)
  const published = await keepPublished(target, name, image => imageRevision(target, image))
  if (published) {
    await checkBases(target, published)
    return published
  }
  const buildArguments = [
    `VERSION=${target.version}`,
    `RELEASE=${target.version}`,
    `REVISION=${target.revision}`,
    `NODE_IMAGE=${await withDigest(target, options.nodeImage)}`,
    `BASE_IMAGE=${await withDigest(target, options.baseImage)}`,
  ].flatMap(pair => ['--build-arg', pair])
  await mkdir(workFolder(target), { recursive: true })
  const build = options.builder === 'buildx' ? buildx : buildah
  const image = await recordArtifact(target, name, await build(target, options.platforms, buildArguments))
  await checkBases(target, image)
  target.print(`image: ${pinned(image)}`)
  return image
}

/** Base images of an image, with digest, as the build recorded them in its labels. */
export async function baseImages(target: Target, image: Artifact): Promise<string[]> {
  const labels = await labelsOf(target, image)
  return ['org.opencontainers.image.base.name', 'dev.postwright.node-image'].flatMap(label => labels[label] ?? [])
}

/**
 * Throws {@link ReleaseError} if two platforms have the same base: a builder that finds an image of one platform under the
 * digest of the base may use it for the other one, and the result does not start.
 */
async function checkBases(target: Target, image: Recorded): Promise<void> {
  const bases = new Map<string, string>()
  for (const [platform, digest] of Object.entries(image.platforms)) {
    const args = ['manifest', 'fetch', ...orasOptions(target), pinned({ ...image, digest })]
    const { layers } = JSON.parse(await target.runner.run('oras', args)) as { layers: { digest: string }[] }
    const base = layers[0]?.digest ?? ''
    const other = bases.get(base)
    if (other !== undefined)
      throw new ReleaseError(
        `${pinned(image)} has the base of ${other} for ${platform} as well; delete its tag and build it again`,
      )
    bases.set(base, platform)
  }
}

async function imageRevision(target: Target, image: Artifact): Promise<string | undefined> {
  return (await labelsOf(target, image))['org.opencontainers.image.revision']
}

async function labelsOf(target: Target, image: Artifact): Promise<Record<string, string>> {
  const [digest] = Object.values(await platformsOf(target, image))
  if (digest === undefined) return {}
  const args = ['manifest', 'fetch-config', ...orasOptions(target), pinned({ ...image, digest })]
  const config = JSON.parse(await target.runner.run('oras', args)) as { config?: { Labels?: Record<string, string> } }
  return config.config?.Labels ?? {}
}

async function withDigest(target: Target, reference: string): Promise<string> {
  if (reference.includes('@')) return reference
  const local = reference.startsWith(`${target.registry.split('/', 1)[0]}/`)
  const digest = await target.runner.run('oras', ['resolve', ...(local ? orasOptions(target) : []), reference])
  return target.runner.dryRun ? reference : `${reference}@${checkDigest(digest.trim())}`
}

/** Resolves to the digest of what was pushed. */
async function buildx(
  target: Target,
  platforms: readonly string[],
  buildArguments: readonly string[],
): Promise<string> {
  const { runner, root, version } = target
  if (target.plainHttp)
    throw new ReleaseError(
      'buildx cannot push over plain HTTP without a configuration of its own; use --builder buildah',
    )
  // The default builder of Docker can neither build for several platforms nor attest.
  if ((await runner.attempt('docker', ['buildx', 'inspect', BUILDX])).code !== 0)
    await runner.run('docker', ['buildx', 'create', '--name', BUILDX, '--driver', 'docker-container'])
  const metadata = join(workFolder(target), 'buildx.json')
  await runner.run('docker', [
    ...['buildx', 'build', '--builder', BUILDX, '--progress', 'plain', '--platform', platforms.join(',')],
    ...['--provenance', 'mode=max', '--sbom', 'true', ...buildArguments],
    ...['--tag', `${imageName(target)}:${version}`, '--metadata-file', metadata, '--push', root],
  ])
  if (runner.dryRun) return NO_DIGEST
  return String((JSON.parse(await readFile(metadata, 'utf8')) as Record<string, unknown>)['containerimage.digest'])
}

/** For machines without Docker. The isolation follows BUILDAH_ISOLATION. Resolves to the digest of what was pushed. */
async function buildah(
  target: Target,
  platforms: readonly string[],
  buildArguments: readonly string[],
): Promise<string> {
  const { runner, root, version } = target
  const insecure = target.plainHttp ? ['--tls-verify=false'] : []
  const list = `localhost/postwright-release:${version}`
  const digest = join(workFolder(target), 'buildah-digest.txt')
  await runner.attempt('buildah', ['manifest', 'rm', list]) // of a run that was stopped
  // buildah before 1.29 knows the platform of the machine only by an argument.
  const buildPlatform = `BUILDPLATFORM=linux/${process.arch === 'x64' ? 'amd64' : process.arch}`
  // One after the other: builds with chroot isolation disturb each other.
  for (const platform of platforms)
    await runner.run('buildah', [
      // By a digest that is stored already, buildah would take the image of another platform.
      ...['build', '--layers', '--pull-always', '--format', 'oci', ...insecure, '--platform', platform],
      ...['--build-arg', buildPlatform, ...buildArguments, '--manifest', list, root],
    ])
  await runner.run('buildah', [
    ...['manifest', 'push', '--all', ...insecure, '--digestfile', digest],
    ...[list, `docker://${imageName(target)}:${version}`],
  ])
  return runner.dryRun ? NO_DIGEST : (await readFile(digest, 'utf8')).trim()
}

/** Builds the images of the cluster tests with buildah or docker and loads them into the cluster. */
import { access } from 'node:fs/promises'
import { delimiter, join } from 'node:path'
import { cluster, host } from './cluster.ts'

/** The image under test. */
export const IMAGE = 'localhost/postwright:dev'
/** The next release: the same code with one more migration (next-release/). */
export const NEXT_IMAGE = 'localhost/postwright:next'
const ENVIRONMENT_IMAGE = 'localhost/postwright-test-environment:dev'

/** Builds the images and loads them; takes a minute with cached layers. */
export async function buildAndLoad(): Promise<void> {
  await build(IMAGE, '.', [])
  await build(NEXT_IMAGE, 'test/cluster/next-release', ['--build-arg', `RELEASE_BEFORE=${IMAGE}`])
  await build(ENVIRONMENT_IMAGE, 'test/cluster', [])
  for (const image of [IMAGE, NEXT_IMAGE, ENVIRONMENT_IMAGE]) await cluster('load', image)
}

async function build(image: string, folder: string, extra: readonly string[]): Promise<void> {
  if (await onPath('buildah'))
    await host('buildah', ['build', '--isolation', 'chroot', '--pull-never', '--layers', '-t', image, ...extra, folder])
  else await host('docker', ['build', '-t', image, ...extra, folder])
}

async function onPath(name: string): Promise<boolean> {
  for (const folder of (process.env.PATH ?? '').split(delimiter))
    if (
      await access(join(folder, name)).then(
        () => true,
        () => false,
      )
    )
      return true
  return false
}

/** What a tag must fulfil before anything is published from it. */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parse } from 'yaml'
import { entriesOf } from './changelog.ts'
import { versionOf } from './prepare.ts'
import { ReleaseError } from './release-error.ts'
import { checkVersion } from './version.ts'

/** Versions of all files of a checkout that contain it, by file and field. */
export async function versionsOf(root: string): Promise<Record<string, string>> {
  const read = (name: string) => readFile(join(root, name), 'utf8')
  const lock = JSON.parse(await read('package-lock.json')) as Locked & { packages: Record<string, Locked> }
  const chart = parse(await read('charts/postwright/Chart.yaml')) as Record<string, unknown>
  const annotations = chart.annotations as Record<string, string>
  const images = parse(annotations['artifacthub.io/images'] ?? '') as { name: string; image: string }[]
  const source = await read('clients/typescript/src/generated/version.ts')
  return {
    'package.json version': versionOf(await read('package.json')),
    'package-lock.json version': String(lock.version),
    'package-lock.json packages[""].version': String(lock.packages['']?.version),
    'Chart.yaml version': String(chart.version),
    'Chart.yaml appVersion': String(chart.appVersion),
    'Chart.yaml artifacthub.io/images': String(images.find(({ name }) => name === 'postwright')?.image.split(':')[1]),
    'clients/typescript/package.json version': versionOf(await read('clients/typescript/package.json')),
    'clients/typescript version.ts': String(/VERSION = '([^']*)'/.exec(source)?.[1]),
  }
}

interface Locked {
  version?: string
}

/** Throws {@link ReleaseError} if a file has another version than package.json, or the changelog no section for it. */
export async function checkVersions(root: string): Promise<string> {
  const versions = await versionsOf(root)
  const version = checkVersion(versions['package.json version'] ?? '')
  const others = Object.entries(versions).filter(([, other]) => other !== version)
  if (others.length > 0) {
    const list = others.map(([place, other]) => `${place} is ${other}`).join(', ')
    throw new ReleaseError(`package.json has version ${version}, but ${list}; run "npm run docs"`)
  }
  if (!entriesOf(await readFile(join(root, 'CHANGELOG.md'), 'utf8'), version)?.length)
    throw new ReleaseError(`CHANGELOG.md has no section ${version}`)
  return version
}

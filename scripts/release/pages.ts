/** What points at a release: the GitHub release, the npm package, and the entry of the chart in Artifact Hub. */
import { createHash } from 'node:crypto'
import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parseDocument } from 'yaml'
import { notesOf } from './changelog.ts'
import { tagOf } from './prepare.ts'
import { requireRecorded } from './recorded.ts'
import { ReleaseError } from './release-error.ts'
import { chartName, imageName, orasOptions, pinned, type Target, workFolder } from './target.ts'
import { isNewestFinal, isPrerelease, lineOf } from './version.ts'

/** GitHub refuses texts of more than 125,000 characters. */
const LONGEST_NOTES = 120_000
const CLIENT = 'clients/typescript'
const HUB_CONFIG = 'application/vnd.cncf.artifacthub.config.v1+yaml'
const HUB_LAYER = 'application/vnd.cncf.artifacthub.repository-metadata.layer.v1.yaml'

/** Notes of the release: its changelog section, shortened at the end of a line if GitHub would refuse it. */
export async function releaseNotes({ root, version, repository }: Target): Promise<string> {
  const notes = notesOf(await readFile(join(root, 'CHANGELOG.md'), 'utf8'), version)
  if (notes.length <= LONGEST_NOTES) return notes
  const link = `https://github.com/${repository}/blob/${tagOf(version)}/CHANGELOG.md`
  return `${notes.slice(0, notes.lastIndexOf('\n', LONGEST_NOTES))}\n\nAll changes: ${link}\n`
}

/** Writes the files of the GitHub release; resolves to their paths. The chart is the recorded one, by digest. */
export async function collectAssets(target: Target): Promise<string[]> {
  const folder = join(workFolder(target), 'assets')
  await rm(folder, { recursive: true, force: true })
  await mkdir(folder, { recursive: true })
  const image = await requireRecorded(target, imageName(target))
  const chart = await requireRecorded(target, chartName(target))
  const plain = target.plainHttp ? ['--plain-http'] : []
  await target.runner.run('helm', ['pull', `oci://${pinned(chart)}`, '--destination', folder, ...plain])
  // Helm names an archive that is pulled by digest after the digest.
  for (const name of await readdir(folder))
    await rename(join(folder, name), join(folder, `postwright-${target.version}.tgz`))
  const definitions = (await readdir(join(target.root, 'crds'))).sort()
  const texts = await Promise.all(definitions.map(name => readFile(join(target.root, 'crds', name), 'utf8')))
  await writeFile(join(folder, 'crds.yaml'), texts.map(text => `---\n${text.replace(/^---\n/, '')}`).join(''))
  await writeFile(join(folder, 'digests.txt'), [image, chart].map(artifact => `${pinned(artifact)}\n`).join(''))
  const names = (await readdir(folder)).sort()
  const sums = await Promise.all(names.map(async name => `${sha256(await readFile(join(folder, name)))}  ${name}\n`))
  await writeFile(join(folder, 'SHA256SUMS'), sums.join(''))
  return [...names, 'SHA256SUMS'].map(name => join(folder, name))
}

/** Creates the GitHub release from the tag, or updates the one of an earlier run. */
export async function publishGitHubRelease(target: Target): Promise<void> {
  const { runner, version, root } = target
  const tag = tagOf(version)
  const assets = await collectAssets(target)
  const notes = join(workFolder(target), 'notes.md')
  await writeFile(notes, await releaseNotes(target))
  const options = { cwd: root }
  // A patch of an older line is not the latest release, whenever it was made.
  const latest = `--latest=${isNewestFinal(version, await announcedVersions(target))}`
  if ((await runner.attempt('gh', ['release', 'view', tag], options)).code === 0) {
    await runner.run('gh', ['release', 'edit', tag, '--notes-file', notes, latest], options)
    await runner.run('gh', ['release', 'upload', tag, ...assets, '--clobber'], options)
    return
  }
  const candidate = isPrerelease(version) ? ['--prerelease'] : []
  const args = ['--verify-tag', '--title', `Postwright ${version}`, '--notes-file', notes, latest, ...candidate]
  await runner.run('gh', ['release', 'create', tag, ...args, ...assets], options)
}

/** Final versions with a GitHub release. */
async function announcedVersions({ runner, root }: Target): Promise<string[]> {
  const filter = ['--exclude-drafts', '--exclude-pre-releases', '--limit', '1000']
  const list = ['release', 'list', ...filter, '--json', 'tagName', '--jq', '.[].tagName']
  const tags = (await runner.run('gh', list, { cwd: root })).split('\n')
  return tags.filter(tag => tag.startsWith('v')).map(tag => tag.slice(1))
}

/** Publishes the npm package, unless it has this version already. */
export async function publishClient(target: Target, withProvenance: boolean): Promise<void> {
  const { runner, version, root } = target
  const { name } = JSON.parse(await readFile(join(root, CLIENT, 'package.json'), 'utf8')) as { name: string }
  const published = await publishedVersions(target, name)
  if (published.includes(version)) return target.print(`${name}@${version} is published already`)
  const args = ['--access', 'public', '--tag', distTag(version, published)]
  await runner.run('npm', ['publish', `./${CLIENT}`, ...args, ...(withProvenance ? ['--provenance'] : [])], {
    cwd: root,
  })
}

/**
 * The tag of a version at npm: `next` for candidates, `latest` for the highest final version, which `npm install` takes, and
 * `release-X.Y` for a patch of an older line.
 */
export function distTag(version: string, published: readonly string[]): string {
  if (isPrerelease(version)) return 'next'
  return isNewestFinal(version, published) ? 'latest' : `release-${lineOf(version)}`
}

/** Versions of the package at npm; none of one that does not exist yet. */
async function publishedVersions({ runner, root }: Target, name: string): Promise<string[]> {
  // An npm around this process may have told it to be silent, which would hide the answer and the reason of a failure.
  const view = ['view', name, 'versions', '--json', '--loglevel=error']
  const { code, stdout, stderr } = await runner.attempt('npm', view, { cwd: root })
  if (code === 0) return [JSON.parse(stdout || '[]') as string | string[]].flat()
  if (runner.dryRun || /E404/.test(stderr)) return []
  throw new ReleaseError(`npm cannot be asked for the versions of ${name}:\n${stderr}`)
}

/** Pushes the metadata by which Artifact Hub knows the publisher of the chart. `id`: of the repository at Artifact Hub. */
export async function publishHubMetadata(target: Target, id: string): Promise<void> {
  if (!/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(id))
    throw new ReleaseError(`"${id.slice(0, 64)}" is not the ID of a repository at Artifact Hub (a UUID)`)
  const folder = workFolder(target)
  const file = 'artifacthub-repo.yml'
  const metadata = parseDocument(await readFile(join(target.root, 'charts', file), 'utf8'))
  metadata.set('repositoryID', id)
  await mkdir(folder, { recursive: true })
  await writeFile(join(folder, file), metadata.toString())
  const args = ['--config', `/dev/null:${HUB_CONFIG}`, `${file}:${HUB_LAYER}`]
  await target.runner.run('oras', ['push', ...orasOptions(target), `${chartName(target)}:artifacthub.io`, ...args], {
    cwd: folder,
  })
}

function sha256(content: Buffer): string {
  return createHash('sha256').update(content).digest('hex')
}

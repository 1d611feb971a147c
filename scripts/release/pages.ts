/** What points at a release: the GitHub release, the npm package, and the entry of the chart in Artifact Hub. */
import { createHash } from 'node:crypto'
import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parseDocument } from 'yaml'
import { notesOf } from './changelog.ts'
import { tagOf } from './prepare.ts'
import { ReleaseError } from './release-error.ts'
import { chartName, imageName, orasOptions, pinned, requireArtifact, type Target, workFolder } from './target.ts'
import { isPrerelease } from './version.ts'

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

/** Writes the files of the GitHub release; resolves to their paths. The chart is the one in the registry, by digest. */
export async function collectAssets(target: Target): Promise<string[]> {
  const folder = join(workFolder(target), 'assets')
  await rm(folder, { recursive: true, force: true })
  await mkdir(folder, { recursive: true })
  const image = await requireArtifact(target, imageName(target))
  const chart = await requireArtifact(target, chartName(target))
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
  if ((await runner.attempt('gh', ['release', 'view', tag], options)).code === 0) {
    await runner.run('gh', ['release', 'edit', tag, '--notes-file', notes], options)
    await runner.run('gh', ['release', 'upload', tag, ...assets, '--clobber'], options)
    return
  }
  const candidate = isPrerelease(version) ? ['--prerelease'] : []
  const args = ['--verify-tag', '--title', `Postwright ${version}`, '--notes-file', notes, ...candidate]
  await runner.run('gh', ['release', 'create', tag, ...args, ...assets], options)
}

/** Publishes the npm package, unless it has this version already. Candidates get the tag `next`. */
export async function publishClient(target: Target, withProvenance: boolean): Promise<void> {
  const { runner, version, root } = target
  const { name } = JSON.parse(await readFile(join(root, CLIENT, 'package.json'), 'utf8')) as { name: string }
  const known = await runner.attempt('npm', ['view', `${name}@${version}`, 'version'], { cwd: root })
  if (known.code === 0 && known.stdout.trim() === version)
    return target.print(`${name}@${version} is published already`)
  const args = ['--access', 'public', '--tag', isPrerelease(version) ? 'next' : 'latest']
  await runner.run('npm', ['publish', `./${CLIENT}`, ...args, ...(withProvenance ? ['--provenance'] : [])], {
    cwd: root,
  })
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

/** The part of a release on the machine of a maintainer: version, changelog, commit and tag. Nothing is pushed. */
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { notesOf, released } from './changelog.ts'
import { ReleaseError } from './release-error.ts'
import type { Runner } from './run.ts'
import { checkVersion, compareVersions } from './version.ts'

/** What {@link prepareRelease} works on. */
export interface Preparation {
  /** The checkout. */
  root: string
  version: string
  /** As in `2026-11-24`. */
  date: string
  /** Signs commit and tag with the key that git is configured with. */
  sign: boolean
  runner: Runner
  print(line: string): void
  /** Writes the files that follow from the version. */
  derive(): Promise<void>
}

/** Name of the tag of a version. */
export const tagOf = (version: string) => `v${version}`

/**
 * Commits the version and its changelog section, and creates the tag. Everything is validated first; a dry run stops there and
 * prints the result. Throws {@link ReleaseError}.
 */
export async function prepareRelease(preparation: Preparation): Promise<void> {
  const { root, version, runner, print } = preparation
  const git = (...args: string[]) => runner.run('git', args, { cwd: root })
  const files = await changedFiles(preparation)
  await checkRepository(preparation)
  const notes = notesOf(files['CHANGELOG.md'] ?? '', version)
  print(
    `version: ${version}\nfiles: ${Object.keys(files).join(', ')}, and those that "npm run docs" derives\nnotes:\n${notes}`,
  )
  if (!runner.dryRun) {
    for (const [name, text] of Object.entries(files)) await writeFile(join(root, name), text)
    await preparation.derive().catch((error: unknown) => {
      throw new ReleaseError(`${String(error)}\nNothing is committed; "git restore ." restores the files`)
    })
  }
  await git('add', '--all')
  await git('commit', ...(preparation.sign ? ['--gpg-sign'] : []), '--message', `Release ${version}`)
  const message = `Postwright ${version}`
  await git('tag', preparation.sign ? '--sign' : '--annotate', tagOf(version), '--message', message)
  print(`publish it: git push --atomic origin HEAD ${tagOf(version)}`)
}

/** New contents of the files that are the sources of the version. */
async function changedFiles({ root, version, date }: Preparation): Promise<Record<string, string>> {
  checkVersion(version)
  const read = (name: string) => readFile(join(root, name), 'utf8')
  const manifest = await read('package.json')
  const current = versionOf(manifest)
  if (compareVersions(version, current) <= 0)
    throw new ReleaseError(`${version} is not higher than ${current}, the version in package.json`)
  return {
    'package.json': manifest.replace(`"version": "${current}"`, `"version": "${version}"`),
    'package-lock.json': withLockVersion(await read('package-lock.json'), version),
    'CHANGELOG.md': released(await read('CHANGELOG.md'), version, checkDate(date)),
  }
}

/** The version in the text of a package.json. */
export function versionOf(manifest: string): string {
  return String((JSON.parse(manifest) as { version?: unknown }).version)
}

function withLockVersion(text: string, version: string): string {
  const lock = JSON.parse(text) as { version: string; packages: Record<string, { version?: string }> }
  const own = lock.packages['']
  if (!own) throw new ReleaseError('package-lock.json does not describe this package')
  lock.version = version
  own.version = version
  return `${JSON.stringify(lock, null, 2)}\n`
}

function checkDate(date: string): string {
  const day = /^\d{4}-\d{2}-\d{2}$/.test(date) ? new Date(`${date}T00:00:00Z`) : undefined
  if (!day || Number.isNaN(day.getTime()) || day.toISOString().slice(0, 10) !== date)
    throw new ReleaseError(`"${date}" is not a date: write YYYY-MM-DD`)
  return date
}

/** Refuses uncommitted changes, a detached HEAD, and a tag that exists already. */
async function checkRepository({ root, version, runner }: Preparation): Promise<void> {
  const read = (...args: string[]) => runner.run('git', args, { cwd: root, reads: true })
  const changes = (await read('status', '--porcelain')).trim()
  if (changes) throw new ReleaseError(`there are changes that are not committed:\n${changes}`)
  const branch = (await read('branch', '--show-current')).trim()
  if (!branch) throw new ReleaseError('HEAD is detached: check out main or the branch of a release line')
  if ((await read('tag', '--list', tagOf(version))).trim())
    throw new ReleaseError(`the tag ${tagOf(version)} exists already; a released version is never made again`)
}

/** Release lines of MongoDB, and which of them can open which data. */
import { access, readFile } from 'node:fs/promises'
import { join } from 'node:path'

/** A release line, as 8.0 of 8.0.32. */
export interface Release {
  major: number
  minor: number
}

/** The oldest line that Postwright runs on, and the one of data of which nothing else is known. */
const OLDEST: Release = { major: 6, minor: 0 }

/** The release in a text such as `8.0.32` or `db version v6.0.5`; undefined when there is none. */
export function releaseIn(text: string): Release | undefined {
  const match = /(\d+)\.(\d+)/.exec(text)
  return match ? { major: Number(match[1]), minor: Number(match[2]) } : undefined
}

/** As in `8.0`. */
export function showRelease({ major, minor }: Release): string {
  return `${major}.${minor}`
}

/** True unless the program is older than 6.0. */
export function isRecentEnough({ major }: Release): boolean {
  return major >= OLDEST.major
}

/**
 * True when a program can open data whose feature compatibility version is `data`: MongoDB opens data of its own line
 * and of the one before, so 8.0 refuses what 6.0 wrote, and an older program refuses what a newer one wrote.
 */
export function canOpen(program: Release, data: Release): boolean {
  return program.major === data.major ? program.minor >= data.minor : program.major === data.major + 1
}

/**
 * The release line that the data in this folder of a mongod needs; undefined for a folder without data. Releases of
 * Postwright that did not write it down left the log of their last mongod, or had no other than 6.0.
 */
export async function releaseOfData(folder: string): Promise<Release | undefined> {
  const hasData = await access(join(folder, 'WiredTiger')).then(
    () => true,
    () => false,
  )
  if (!hasData) return undefined
  const state = await readFile(join(folder, 'postwright.json'), 'utf8').catch(() => '')
  const noted = /"dataRelease":"([\d.]+)"/.exec(state)?.[1]
  if (noted !== undefined) return releaseIn(noted)
  const log = await readFile(join(folder, 'mongod.log'), 'utf8').catch(() => '')
  return releaseIn(/"buildInfo":\{"version":"([\d.]+)"/.exec(log)?.[1] ?? '') ?? OLDEST
}

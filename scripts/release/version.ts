/** Versions of releases: SemVer 2.0.0 without build metadata, which tags of images cannot contain. */
import { ReleaseError } from './release-error.ts'

const VERSION =
  /^(0|[1-9]\d{0,5})\.(0|[1-9]\d{0,5})\.(0|[1-9]\d{0,5})(?:-((?:0|[1-9]\d{0,5}|\d*[a-zA-Z-][\da-zA-Z-]*)(?:\.(?:0|[1-9]\d{0,5}|\d*[a-zA-Z-][\da-zA-Z-]*))*))?$/

/** Longest accepted version; a tag of an image has at most 128 characters. */
const LONGEST = 64

/** The version itself. Throws {@link ReleaseError} for anything else, also with a leading `v`. */
export function checkVersion(text: string): string {
  if (text.length > LONGEST || !VERSION.test(text))
    throw new ReleaseError(`"${text.slice(0, LONGEST)}" is not a version: write X.Y.Z, or X.Y.Z-rc.1 for a candidate`)
  return text
}

/** Whether it is a candidate of a release, as in `1.2.0-rc.1`. */
export function isPrerelease(version: string): boolean {
  return version.includes('-')
}

/** The version that a candidate becomes. */
export function finalVersion(version: string): string {
  return version.split('-', 1)[0] ?? version
}

/** Whether it is a final version, and higher than all final ones among the others; `others` may contain it. */
export function isNewestFinal(version: string, others: readonly string[]): boolean {
  return !isPrerelease(version) && others.every(other => isPrerelease(other) || compareVersions(other, version) <= 0)
}

/** As in `1.2`: the line that gets the patches of a version. */
export function lineOf(version: string): string {
  return version.split('.', 2).join('.')
}

/** Negative, zero or positive, by SemVer 2.0.0 section 11. Both must be valid. */
export function compareVersions(a: string, b: string): number {
  const [left, right] = [partsOf(a), partsOf(b)]
  return compareLists(left.core, right.core) || compareCandidates(left.candidate, right.candidate)
}

type Identifier = number | string

function partsOf(version: string): { core: number[]; candidate: Identifier[] } {
  const [, major, minor, patch, candidate] = VERSION.exec(checkVersion(version)) ?? []
  return {
    core: [major, minor, patch].map(Number),
    candidate: candidate?.split('.').map(part => (/^\d+$/.test(part) ? Number(part) : part)) ?? [],
  }
}

/** A release comes after all its candidates. */
function compareCandidates(a: readonly Identifier[], b: readonly Identifier[]): number {
  if (a.length === 0 || b.length === 0) return Number(a.length === 0) - Number(b.length === 0)
  return compareLists(a, b)
}

function compareLists(a: readonly Identifier[], b: readonly Identifier[]): number {
  for (const [index, one] of a.entries()) {
    const other = b[index]
    if (other === undefined) return 1
    if (one !== other) return compareIdentifiers(one, other)
  }
  return a.length - b.length
}

/** Numbers are compared as numbers and come before words. */
function compareIdentifiers(a: Identifier, b: Identifier): number {
  if (typeof a === 'number' && typeof b === 'number') return a - b
  if (typeof a === 'number') return -1
  if (typeof b === 'number') return 1
  return a < b ? -1 : 1
}

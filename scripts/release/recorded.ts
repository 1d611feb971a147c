/**
 * The digests that this run pushed, as the programs that pushed them reported. Only these are signed, verified and announced:
 * a tag may point at something else by then.
 */
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { ReleaseError } from './release-error.ts'
import {
  type Artifact,
  checkDigest,
  findArtifact,
  NO_DIGEST,
  orasOptions,
  pinned,
  type Target,
  workFolder,
} from './target.ts'
import { isSigned } from './verification.ts'

/** An artifact that this run pushed, or kept because it verified. */
export interface Recorded extends Artifact {
  /** Digests of the images in an index, by platform as in `linux/arm64`; none of an artifact that is no index. */
  platforms: Record<string, string>
}

/** The file, and what {@link digestsLine} prints. */
interface DigestRecord {
  version: string
  revision: string
  /** By name without tag. */
  artifacts: Record<string, Pick<Recorded, 'digest' | 'platforms'>>
}

const recordFile = (target: Target) => join(workFolder(target), 'digests.json')

/** Records the digest that a push reported, with those of its platforms: the index that has the digest lists them. */
export async function recordArtifact(target: Target, name: string, digest: string): Promise<Recorded> {
  const artifact = { name, tag: target.version, digest: checkDigest(digest) }
  if (target.runner.dryRun) return { ...artifact, platforms: {} }
  const platforms = await platformsOf(target, artifact)
  const record = (await readRecord(target)) ?? { version: target.version, revision: target.revision, artifacts: {} }
  record.artifacts[name] = { digest, platforms }
  await mkdir(workFolder(target), { recursive: true })
  await writeFile(recordFile(target), `${JSON.stringify(record, null, 2)}\n`)
  return { ...artifact, platforms }
}

/** What this run recorded under the name. Throws {@link ReleaseError} if it recorded nothing. */
export async function requireRecorded(target: Target, name: string): Promise<Recorded> {
  const tag = target.version
  if (target.runner.dryRun) return { name, tag, digest: NO_DIGEST, platforms: {} }
  const found = (await readRecord(target))?.artifacts[name]
  if (!found)
    throw new ReleaseError(
      `this run has not recorded a digest of ${name}:${tag} for ${target.revision}: run "image" and "chart" first, or give RELEASE_DIGESTS the output of "digests"`,
    )
  return { name, tag, ...found }
}

/** Throws {@link ReleaseError} if the tag of the version points at something else than what was recorded. */
export async function checkTagOf(target: Target, artifact: Artifact): Promise<void> {
  if (target.runner.dryRun) return
  const found = await findArtifact(target, artifact.name)
  if (found?.digest !== artifact.digest)
    throw new ReleaseError(
      `${artifact.name}:${artifact.tag} points at ${found?.digest ?? 'nothing'} instead of ${artifact.digest}, which this run pushed`,
    )
}

/** The record on one line, for RELEASE_DIGESTS of another machine. */
export async function digestsLine(target: Target): Promise<string> {
  const record = await readRecord(target)
  if (!record) throw new ReleaseError('this run has not recorded any digest')
  return JSON.stringify(record)
}

/**
 * Keeps an artifact of this commit that an earlier run published, so that a run that was stopped can be repeated: one whose
 * digest is recorded here, or that has a signature of this release. Resolves to undefined if it must be made. Throws
 * {@link ReleaseError} for an artifact of another commit: a version never changes.
 */
export async function keepPublished(
  target: Target,
  name: string,
  revisionOf: (artifact: Artifact) => Promise<string | undefined>,
): Promise<Recorded | undefined> {
  const artifact = await findArtifact(target, name)
  if (!artifact) return undefined
  const revision = await revisionOf(artifact)
  if (revision !== target.revision)
    throw new ReleaseError(
      `${name}:${target.version} exists already, made from commit ${revision ?? 'unknown'} instead of ${target.revision}; release a higher version`,
    )
  const isRecorded = (await readRecord(target))?.artifacts[name]?.digest === artifact.digest
  // A label with the commit proves nothing: anybody who may push could have written it.
  if (!isRecorded && !(await isSigned(target, artifact))) {
    target.print(`${pinned(artifact)} is neither recorded by this run nor signed: it is made again`)
    return undefined
  }
  target.print(`${pinned(artifact)} is published already`)
  return recordArtifact(target, name, artifact.digest)
}

/** Digests by platform; attestations of buildx are listed in the index as unknown. */
export async function platformsOf(target: Target, artifact: Artifact): Promise<Record<string, string>> {
  const output = await target.runner.run('oras', ['manifest', 'fetch', ...orasOptions(target), pinned(artifact)])
  const { manifests = [] } = JSON.parse(output || '{}') as {
    manifests?: { digest: string; platform?: { os: string; architecture: string } }[]
  }
  return Object.fromEntries(
    manifests.flatMap(({ digest, platform }) =>
      platform && platform.os !== 'unknown' ? [[`${platform.os}/${platform.architecture}`, checkDigest(digest)]] : [],
    ),
  )
}

/** The record of this version and commit; undefined without one. */
async function readRecord(target: Target): Promise<DigestRecord | undefined> {
  const text = target.digests ?? (await readFile(recordFile(target), 'utf8').catch(isMissing))
  if (text === undefined) return undefined
  const record = parseRecord(text)
  return record.version === target.version && record.revision === target.revision ? record : undefined
}

function parseRecord(text: string): DigestRecord {
  try {
    const record = JSON.parse(text) as DigestRecord
    for (const { digest, platforms } of Object.values(record.artifacts))
      for (const one of [digest, ...Object.values(platforms)]) checkDigest(one)
    return record
  } catch {
    throw new ReleaseError(
      'the record of digests is broken: delete dist/release/digests.json, or set RELEASE_DIGESTS again',
    )
  }
}

function isMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT') throw error
}

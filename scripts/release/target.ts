/** Where a release is published, and what a registry has of it. */
import { join } from 'node:path'
import { ReleaseError } from './release-error.ts'
import type { Runner } from './run.ts'

/** What makes the image's bill of materials: syft reads the image; npm lists the production packages only. */
export const SBOM_PROGRAMS = ['syft', 'npm'] as const

/** One release at one registry. */
export interface Target {
  /** The checkout of the tag. */
  root: string
  /** Host with path, as in `ghcr.io/postwright`. */
  registry: string
  /** The registry speaks HTTP: only for one on this machine. */
  plainHttp: boolean
  version: string
  /** Commit of the release, 40 hex digits. */
  revision: string
  /** As in `postwright/postwright`. */
  repository: string
  /** Private key file of cosign, or the public one to verify; without it signatures are keyless (OIDC). */
  key?: string
  /** The record of digests that another machine of this run printed; without it the one in {@link workFolder}. */
  digests?: string
  sbom: (typeof SBOM_PROGRAMS)[number]
  runner: Runner
  print(line: string): void
}

/** An artifact in the registry: `name` without tag. */
export interface Artifact {
  name: string
  tag: string
  digest: string
}

/** Largest path of a registry; longer names are refused by registries as well. */
const REGISTRY = /^(?=.{1,200}$)[a-z0-9.-]+(:\d{1,5})?(\/[a-z0-9]+([._-]+[a-z0-9]+)*)+$/
const DIGEST = /^sha256:[0-9a-f]{64}$/
/** Replies of registries for an artifact, or a repository, that does not exist yet. GHCR denies access to those. */
const ABSENT = /not found|manifest unknown|name unknown|denied/i
/** Shown by a dry run, in which nothing was pushed. */
export const NO_DIGEST = `sha256:${'0'.repeat(64)}`

/** The registry of an option. Throws {@link ReleaseError}. */
export function checkRegistry(text: string): string {
  if (!REGISTRY.test(text))
    throw new ReleaseError(`"${text.slice(0, 200)}" is not a registry: write HOST[:PORT]/PATH, in small letters`)
  return text
}

/** Name of the image without tag. */
export const imageName = ({ registry }: Target) => `${registry}/postwright`
/** Name of the chart without tag. Helm adds the last part. */
export const chartName = ({ registry }: Target) => `${registry}/charts/postwright`
/** Folder for files that steps produce. */
export const workFolder = ({ root }: Pick<Target, 'root'>) => join(root, 'dist/release')
/** Reference by digest, which cannot change. */
export const pinned = ({ name, digest }: Artifact) => `${name}@${digest}`

/** Options of `oras` for this registry. */
export const orasOptions = ({ plainHttp }: Target) => (plainHttp ? ['--plain-http'] : [])

/** The artifact with the tag of this version; undefined if there is none. */
export async function findArtifact(target: Target, name: string): Promise<Artifact | undefined> {
  const tag = target.version
  const { code, stdout, stderr } = await target.runner.attempt('oras', [
    ...['resolve', `${name}:${tag}`],
    ...orasOptions(target),
  ])
  if (code === 0) return { name, tag, digest: checkDigest(stdout.trim()) }
  if (target.runner.dryRun || ABSENT.test(stderr)) return undefined
  throw new ReleaseError(`the registry cannot be asked for ${name}:${tag}:\n${stderr}`)
}

/** The digest itself. Throws {@link ReleaseError} for any other text. */
export function checkDigest(text: string): string {
  if (!DIGEST.test(text)) throw new ReleaseError(`"${text.slice(0, 100)}" is not a digest`)
  return text
}

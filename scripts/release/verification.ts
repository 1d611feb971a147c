/** Verifies signatures and attestations by cosign, of one digest. */
import { tagOf } from './prepare.ts'
import { ReleaseError } from './release-error.ts'
import { type Artifact, pinned, type Target } from './target.ts'

/** Types of attestations: cosign's names. */
const TYPES = ['cyclonedx', 'slsaprovenance1'] as const
/** The type of an attestation. */
export type AttestationType = (typeof TYPES)[number]

const ISSUER = 'https://token.actions.githubusercontent.com'

/** Whether the digest has a signature of this release: of the workflow at this tag, or of the key. */
export async function isSigned(target: Target, artifact: Artifact): Promise<boolean> {
  return (await target.runner.attempt('cosign', ['verify', ...verification(target), pinned(artifact)])).code === 0
}

/** Throws {@link ReleaseError} unless the digest has a signature of this release. */
export async function verifySignature(target: Target, artifact: Artifact): Promise<void> {
  await target.runner.run('cosign', ['verify', ...verification(target), pinned(artifact)])
}

/** Throws {@link ReleaseError} unless SBOM and provenance of the digest are signed, and the provenance names this commit. */
export async function verifyAttestations(target: Target, artifact: Artifact): Promise<void> {
  for (const type of TYPES) {
    const args = ['verify-attestation', '--type', type, ...verification(target), pinned(artifact)]
    const output = await target.runner.run('cosign', args)
    if (type === 'slsaprovenance1' && !target.runner.dryRun) checkCommit(output, target.revision, artifact)
  }
}

/** Every statement of provenance must name the commit: an attacker who could add one must not have a say. */
function checkCommit(output: string, revision: string, artifact: Artifact): void {
  const commits = output
    .split('\n')
    .filter(Boolean)
    .map(line => {
      const { payload } = JSON.parse(line) as { payload: string }
      const { predicate } = JSON.parse(Buffer.from(payload, 'base64').toString()) as { predicate: Predicate }
      return predicate.buildDefinition?.resolvedDependencies?.[0]?.digest?.gitCommit
    })
  const other = commits.find(commit => commit !== revision)
  if (commits.length === 0 || commits.some(commit => commit !== revision))
    throw new ReleaseError(
      `the provenance of ${pinned(artifact)} names commit ${other ?? 'none'} instead of ${revision}`,
    )
}

interface Predicate {
  buildDefinition?: { resolvedDependencies?: { digest?: { gitCommit?: string } }[] }
}

/** Keyless signatures must come from the release workflow, run for this very tag. */
function verification({ key, plainHttp, repository, version }: Target): string[] {
  if (key) return ['--key', publicKey(key), '--insecure-ignore-tlog=true', ...insecure(plainHttp)]
  const identity = `https://github.com/${repository}/.github/workflows/release.yml@refs/tags/${tagOf(version)}`
  return ['--certificate-identity', identity, '--certificate-oidc-issuer', ISSUER, ...insecure(plainHttp)]
}

/** cosign writes the two files of a pair next to each other. */
function publicKey(key: string): string {
  return key.replace(/\.key$/, '.pub')
}

/** Options of cosign for a registry without TLS. */
export function insecure(plainHttp: boolean): string[] {
  return plainHttp ? ['--allow-http-registry'] : []
}

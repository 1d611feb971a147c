/** Signatures and attestations by cosign: keyless with the identity of the workflow, or with a key file. */
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { baseImages, platformsOf } from './image.ts'
import { tagOf } from './prepare.ts'
import { ReleaseError } from './release-error.ts'
import { type BuildEnvironment, chartMaterials, provenance } from './statements.ts'
import { type Artifact, chartName, imageName, pinned, requireArtifact, type Target, workFolder } from './target.ts'

/** Types of attestations: cosign's names. */
const TYPES = ['cyclonedx', 'slsaprovenance1'] as const
type AttestationType = (typeof TYPES)[number]

const ISSUER = 'https://token.actions.githubusercontent.com'

/** Signs image and chart, and attests SBOM and provenance of both. What is signed already stays as it is. */
export async function signRelease(target: Target, environment: BuildEnvironment): Promise<void> {
  const image = await requireArtifact(target, imageName(target))
  const chart = await requireArtifact(target, chartName(target))
  await mkdir(workFolder(target), { recursive: true })
  const source = { repository: target.repository, version: target.version, revision: target.revision }
  await sign(target, image)
  await attest(target, image, 'cyclonedx', await imageMaterials(target, image))
  await attest(target, image, 'slsaprovenance1', [
    await statement(
      target,
      'image.provenance.json',
      provenance({ ...source, images: await baseImages(target, image) }, environment),
    ),
  ])
  await sign(target, chart)
  const description = await readFile(join(target.root, 'charts/postwright/Chart.yaml'), 'utf8')
  await attest(target, chart, 'cyclonedx', [
    await statement(target, 'chart.cdx.json', chartMaterials(description, image.digest)),
  ])
  await attest(target, chart, 'slsaprovenance1', [
    await statement(target, 'chart.provenance.json', provenance({ ...source, images: [] }, environment)),
  ])
}

/**
 * Verifies signature, SBOM and provenance of image and chart, and that they were made from this commit. Throws
 * {@link ReleaseError}.
 */
export async function verifyRelease(target: Target): Promise<void> {
  for (const name of [imageName(target), chartName(target)]) {
    const artifact = await requireArtifact(target, name)
    await target.runner.run('cosign', ['verify', ...verification(target), pinned(artifact)])
    for (const type of TYPES) {
      const args = ['verify-attestation', '--type', type, ...verification(target), pinned(artifact)]
      const output = await target.runner.run('cosign', args)
      if (type === 'slsaprovenance1' && !target.runner.dryRun) checkCommit(output, target.revision, artifact)
    }
    target.print(`verified: ${name}:${target.version} (${artifact.digest})`)
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

async function sign(target: Target, artifact: Artifact): Promise<void> {
  const signed = await target.runner.attempt('cosign', ['verify', ...verification(target), pinned(artifact)])
  if (signed.code === 0) return target.print(`${pinned(artifact)} is signed already`)
  // Recursive: an index with the images of all platforms.
  await target.runner.run('cosign', ['sign', ...signature(target), '--recursive', pinned(artifact)])
}

/** Several predicates of one type, one per platform: the first replaces those of an earlier run. */
async function attest(
  target: Target,
  artifact: Artifact,
  type: AttestationType,
  files: readonly string[],
): Promise<void> {
  for (const [index, file] of files.entries()) {
    const replace = index === 0 ? ['--replace'] : []
    const args = ['attest', ...signature(target), ...replace, '--type', type, '--predicate', file, pinned(artifact)]
    await target.runner.run('cosign', args)
  }
}

/** Bills of materials of the image. By syft one for each platform: Debian's packages, Node, and the npm packages. */
async function imageMaterials(target: Target, image: Artifact): Promise<string[]> {
  if (target.sbom === 'npm') return [await productionPackages(target)]
  const files: string[] = []
  for (const platform of await platformsOf(target, image)) {
    const file = join(workFolder(target), `image-${platform.replaceAll('/', '-')}.cdx.json`)
    const args = ['scan', `registry:${pinned(image)}`, '--platform', platform, '--output', `cyclonedx-json=${file}`]
    const env = { SYFT_CHECK_FOR_APP_UPDATE: 'false', SYFT_REGISTRY_INSECURE_USE_HTTP: String(target.plainHttp) }
    await target.runner.run('syft', args, { env })
    files.push(file)
  }
  return files
}

async function productionPackages(target: Target): Promise<string> {
  const options = ['--package-lock-only', '--omit=dev', '--sbom-type=application', '--sbom-format=cyclonedx']
  const output = await target.runner.run('npm', ['sbom', ...options, '--loglevel=error'], { cwd: target.root })
  const file = join(workFolder(target), 'image.cdx.json')
  await writeFile(file, output)
  return file
}

async function statement(target: Target, name: string, predicate: object): Promise<string> {
  const file = join(workFolder(target), name)
  await writeFile(file, `${JSON.stringify(predicate, null, 2)}\n`)
  return file
}

/** With a key the transparency log is left out, so that it works without the internet. */
function signature({ key, plainHttp }: Target): string[] {
  return ['--yes', ...(key ? ['--key', key, '--tlog-upload=false'] : []), ...insecure(plainHttp)]
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

function insecure(plainHttp: boolean): string[] {
  return plainHttp ? ['--allow-http-registry'] : []
}

/** Signatures and attestations by cosign: keyless with the identity of the workflow, or with a key file. */
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { baseImages } from './image.ts'
import { checkTagOf, type Recorded, requireRecorded } from './recorded.ts'
import { type BuildEnvironment, chartMaterials, provenance } from './statements.ts'
import { type Artifact, chartName, imageName, pinned, type Target, workFolder } from './target.ts'
import { type AttestationType, insecure, isSigned, verifyAttestations, verifySignature } from './verification.ts'

/** Signs the image and chart that this run recorded, and attests SBOM and provenance. What is signed already stays as it is. */
export async function signRelease(target: Target, environment: BuildEnvironment): Promise<void> {
  const image = await requireRecorded(target, imageName(target))
  const chart = await requireRecorded(target, chartName(target))
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
 * Verifies signature, SBOM and provenance of the image and chart that this run recorded, that they were made from this commit,
 * and that the tags point at them. Throws {@link ReleaseError}.
 */
export async function verifyRelease(target: Target): Promise<void> {
  for (const name of [imageName(target), chartName(target)]) {
    const artifact = await requireRecorded(target, name)
    for (const one of withPlatforms(artifact)) await verifySignature(target, one)
    await verifyAttestations(target, artifact)
    await checkTagOf(target, artifact)
    target.print(`verified: ${name}:${target.version} (${artifact.digest})`)
  }
}

/** The artifact, and the image of each platform. */
function withPlatforms({ platforms, ...artifact }: Recorded): Artifact[] {
  return [artifact, ...Object.values(platforms).map(digest => ({ ...artifact, digest }))]
}

async function sign(target: Target, artifact: Recorded): Promise<void> {
  for (const one of withPlatforms(artifact)) {
    if (await isSigned(target, one)) target.print(`${pinned(one)} is signed already`)
    else await target.runner.run('cosign', ['sign', ...signature(target), pinned(one)])
  }
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
async function imageMaterials(target: Target, image: Recorded): Promise<string[]> {
  if (target.sbom === 'npm') return [await productionPackages(target)]
  const files: string[] = []
  for (const platform of Object.keys(image.platforms)) {
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

/** The chart as an OCI artifact. */
import { cp, mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parseDocument } from 'yaml'
import { keepPublished, type Recorded, recordArtifact } from './recorded.ts'
import { ReleaseError } from './release-error.ts'
import { type Artifact, chartName, NO_DIGEST, orasOptions, pinned, type Target, workFolder } from './target.ts'

/** Annotation of chart and manifest with the commit; Helm copies annotations of Chart.yaml to the manifest. */
const REVISION = 'org.opencontainers.image.revision'

/** Publishes the chart and records its digest, unless an earlier run did so from this commit. */
export async function publishChart(target: Target): Promise<Recorded> {
  const name = chartName(target)
  const published = await keepPublished(target, name, chart => chartRevision(target, chart))
  if (published) return published
  const file = await packageChart(target)
  const plain = target.plainHttp ? ['--plain-http'] : []
  const options = { messages: true }
  const output = await target.runner.run('helm', ['push', file, `oci://${target.registry}/charts`, ...plain], options)
  const chart = await recordArtifact(target, name, target.runner.dryRun ? NO_DIGEST : pushedDigest(output))
  target.print(`chart: oci://${pinned(chart)}`)
  return chart
}

/** Helm reports the digest of the manifest that it pushed. */
function pushedDigest(output: string): string {
  const [, digest] = /^Digest: (\S+)$/m.exec(output) ?? []
  if (digest === undefined) throw new ReleaseError(`helm push reported no digest:\n${output}`)
  return digest
}

/** Packs a copy of the chart that names the commit; resolves to the path of the archive. */
async function packageChart(target: Target): Promise<string> {
  const folder = workFolder(target)
  const copy = join(folder, 'postwright')
  await rm(copy, { recursive: true, force: true })
  await mkdir(folder, { recursive: true })
  await cp(join(target.root, 'charts/postwright'), copy, { recursive: true })
  const description = parseDocument(await readFile(join(copy, 'Chart.yaml'), 'utf8'))
  description.setIn(['annotations', REVISION], target.revision)
  await writeFile(join(copy, 'Chart.yaml'), description.toString({ lineWidth: 0 }))
  await target.runner.run('helm', ['package', copy, '--destination', folder])
  return join(folder, `postwright-${target.version}.tgz`)
}

async function chartRevision(target: Target, chart: Artifact): Promise<string | undefined> {
  const args = ['manifest', 'fetch', ...orasOptions(target), pinned(chart)]
  const manifest = JSON.parse(await target.runner.run('oras', args)) as { annotations?: Record<string, string> }
  return manifest.annotations?.[REVISION]
}

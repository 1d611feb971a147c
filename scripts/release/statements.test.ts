/** Attested statements: provenance and the chart's materials. */
import { readFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { chartMaterials, provenance } from './statements.ts'

const REVISION = 'a'.repeat(40)
const DIGEST = `sha256:${'b'.repeat(64)}`
const source = { repository: 'postwright/postwright', version: '1.2.3', revision: REVISION, images: [] }

test('provenance of a job names source, commit, base images, workflow and run', () => {
  const images = [`docker.io/library/debian:bookworm-slim@${DIGEST}`, 'localhost:5000/node']
  const job = {
    ...{ GITHUB_SERVER_URL: 'https://github.com', GITHUB_RUN_ID: '42', GITHUB_RUN_ATTEMPT: '2' },
    GITHUB_WORKFLOW_REF: 'postwright/postwright/.github/workflows/release.yml@refs/tags/v1.2.3',
  }
  const uri = 'git+https://github.com/postwright/postwright@refs/tags/v1.2.3'
  expect(provenance({ ...source, images }, job)).toEqual({
    buildDefinition: {
      buildType: 'https://github.com/postwright/postwright/blob/main/docs/release.md#provenance',
      externalParameters: { source: uri, version: '1.2.3' },
      resolvedDependencies: [
        { uri, digest: { gitCommit: REVISION } },
        { uri: 'oci://docker.io/library/debian:bookworm-slim', digest: { sha256: 'b'.repeat(64) } },
        { uri: 'oci://localhost:5000/node' },
      ],
    },
    runDetails: {
      builder: { id: 'https://github.com/postwright/postwright/.github/workflows/release.yml@refs/tags/v1.2.3' },
      metadata: { invocationId: 'https://github.com/postwright/postwright/actions/runs/42/attempts/2' },
    },
  })
})

test('provenance of another machine claims no workflow', () => {
  const text = JSON.stringify(provenance(source, {}))
  expect(text).toContain('release.md#a-machine-of-a-maintainer')
  expect(text).not.toContain('workflows')
  expect(text).not.toContain('metadata')
})

test('documents have the sections that provenance links to', async () => {
  const text = await readFile('docs/release.md', 'utf8')
  expect(text).toMatch(/^#+ Provenance$/m)
  expect(text).toMatch(/^#+ A machine of a maintainer$/m)
})

test('materials of our chart name the image by digest, and the trial database', async () => {
  const chart = await readFile('charts/postwright/Chart.yaml', 'utf8')
  const materials = chartMaterials(chart, DIGEST) as { components: { name: string; version: string; purl: string }[] }
  expect(materials).toMatchObject({ bomFormat: 'CycloneDX', metadata: { component: { name: 'postwright' } } })
  const version = /^version: (.*)/m.exec(chart)?.[1]
  expect(materials.components).toEqual([
    {
      ...{ type: 'container', name: 'postwright', version },
      purl: `pkg:oci/postwright@sha256%3A${'b'.repeat(64)}?repository_url=ghcr.io/postwright/postwright&tag=${version}`,
    },
    {
      ...{ type: 'container', name: 'mongodb', version: '8.0' },
      purl: 'pkg:oci/mongodb?repository_url=docker.io/library/mongo&tag=8.0',
    },
  ])
})

/** A release at a real registry with the real helm, cosign and oras: published, signed, verified, and refused when changed. */
import { execFile } from 'node:child_process'
import { cp, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { publishChart } from '../../../scripts/release/chart-package.ts'
import { versionsOf } from '../../../scripts/release/check.ts'
import { publishImage } from '../../../scripts/release/image.ts'
import {
  collectAssets,
  publishClient,
  publishGitHubRelease,
  publishHubMetadata,
  releaseNotes,
} from '../../../scripts/release/pages.ts'
import { createRunner } from '../../../scripts/release/run.ts'
import { signRelease, verifyRelease } from '../../../scripts/release/signing.ts'
import { checkRegistry, type Target } from '../../../scripts/release/target.ts'
import { findReleaseProgram, pathOf } from '../../support/programs/programs.ts'
import { pushImage, type Registry, startRegistry } from '../../support/release/registry.ts'

const run = promisify(execFile)
const REVISION = 'a'.repeat(40)
const OTHER_REVISION = 'b'.repeat(40)
/** A cold machine builds the programs first. */
const BUILD_MS = 900_000
const HUB_ID = '0f2b9a3c-1111-4222-8333-444455556666'
const BUILD = { builder: 'buildah', platforms: ['linux/amd64'], nodeImage: 'x@y', baseImage: 'x@y' } as const

let registry: Registry
let root: string
let target: Target
/** Lines that the steps printed. */
const lines: string[] = []
/** Options of cosign for this registry without a transparency log. */
let verification: string[]
let environment: Record<string, string>

const cosign = async (...args: string[]) =>
  (await run('cosign', args, { env: { ...process.env, ...environment } })).stdout
const oras = async (...args: string[]) => (await run('oras', args, { env: { ...process.env, ...environment } })).stdout
const tagged = (name: string) => `${target.registry}/${name}:${target.version}`

/** Pushes an image of this revision to the tag of the release. */
const push = (revision: string, layers?: { amd64: string; arm64: string }) =>
  pushImage(registry.host, 'postwright/postwright', target.version, { revision, ...(layers ? { layers } : {}) })

beforeAll(async () => {
  const programs = await Promise.all((['cosign', 'helm', 'oras'] as const).map(findReleaseProgram))
  registry = await startRegistry()
  root = await mkdtemp(join(tmpdir(), 'pw-release-'))
  const files = ['charts', 'crds', 'CHANGELOG.md', 'package.json', 'package-lock.json']
  for (const name of [...files, 'clients/typescript/package.json'])
    await cp(name, join(root, name), { recursive: true })
  environment = {
    PATH: [...new Set(programs.map(program => dirname(pathOf(program)))), process.env.PATH].join(delimiter),
    COSIGN_PASSWORD: 'a password of a test',
    DOCKER_CONFIG: root,
    HELM_CONFIG_HOME: join(root, 'helm'),
  }
  await run('cosign', ['generate-key-pair'], { cwd: root, env: { ...process.env, ...environment } })
  target = {
    ...{ root, registry: `${registry.host}/postwright`, plainHttp: true, revision: REVISION, sbom: 'npm' },
    version: (await versionsOf('.'))['package.json version'] ?? '',
    repository: 'postwright/postwright',
    key: join(root, 'cosign.key'),
    print: line => void lines.push(line),
    runner: createRunner(false, line => void lines.push(line), environment),
  }
  verification = ['--key', join(root, 'cosign.pub'), '--insecure-ignore-tlog=true', '--allow-http-registry']
}, BUILD_MS)

afterAll(async () => {
  await registry?.stop()
  if (root) await rm(root, { recursive: true, force: true })
})

describe('publishing', () => {
  test('a chart or signatures without an image are refused', async () => {
    await expect(signRelease(target, {})).rejects.toThrow(`${tagged('postwright')} does not exist`)
  })

  test('an image that this commit has published is kept', async () => {
    const digest = await push(REVISION)
    expect(await publishImage(target, BUILD)).toEqual({
      ...{ name: `${target.registry}/postwright`, tag: target.version, digest },
    })
    expect(lines.at(-4)).toContain('is published already')
  })

  test('an image of another commit is never replaced', async () => {
    await expect(publishImage({ ...target, revision: OTHER_REVISION }, BUILD)).rejects.toThrow(
      new RegExp(`exists already, made from commit ${REVISION} instead of ${OTHER_REVISION}; release a higher version`),
    )
  })

  test('an image with the base of one platform for both is refused', async () => {
    await push(REVISION, { amd64: 'the same', arm64: 'the same' })
    await expect(publishImage(target, BUILD)).rejects.toThrow('has the base of linux/amd64 for linux/arm64 as well')
    await push(REVISION)
  })

  test('the chart is pushed with its commit, once', async () => {
    const chart = await publishChart(target)
    const manifest = JSON.parse(await oras('manifest', 'fetch', '--plain-http', tagged('charts/postwright')))
    expect(manifest.config.mediaType).toBe('application/vnd.cncf.helm.config.v1+json')
    expect(manifest.annotations).toMatchObject({
      'org.opencontainers.image.revision': REVISION,
      'org.opencontainers.image.version': target.version,
    })
    expect(await publishChart(target)).toEqual(chart)
    await expect(publishChart({ ...target, revision: OTHER_REVISION })).rejects.toThrow(
      /exists already, made from commit a+/,
    )
  })

  test('helm renders it from the registry with the image of its version', async () => {
    const args = [
      'template',
      'pw',
      `oci://${target.registry}/charts/postwright`,
      '--version',
      target.version,
      '--plain-http',
    ]
    const values = ['--kube-version', '1.34.0', '--set', 'mailHostname=mail.example.com', '--set', 'mongodb.mode=trial']
    const { stdout } = await run('helm', [...args, ...values], {
      env: { ...process.env, ...environment },
      maxBuffer: 1 << 26,
    })
    expect(stdout).toContain(`ghcr.io/postwright/postwright:${target.version}`)
  })

  test('a registry that cannot be reached is an error, not a missing image', async () => {
    const nowhere = { ...target, registry: '127.0.0.1:1/postwright' }
    await expect(publishImage(nowhere, BUILD)).rejects.toThrow(
      /the registry cannot be asked for 127\.0\.0\.1:1[\s\S]*refused/,
    )
  })
})

describe('signatures', () => {
  test('nothing is verified before it is signed', async () => {
    await expect(verifyRelease(target)).rejects.toThrow(/cosign verify .*failed[\s\S]*no signatures found/)
  })

  test('image and chart are signed with SBOM and provenance, and verified', async () => {
    await signRelease(target, {})
    await verifyRelease(target)
    expect(lines.filter(line => line.startsWith('verified: '))).toHaveLength(2)
  }, 120_000)

  test('each platform of the image is signed as well', async () => {
    const { manifests } = JSON.parse(await oras('manifest', 'fetch', '--plain-http', tagged('postwright')))
    expect(manifests).toHaveLength(2)
    for (const { digest } of manifests)
      await cosign('verify', ...verification, `${target.registry}/postwright@${digest}`)
  })

  const attested = async (type: string, name: string) => {
    const output = await cosign('verify-attestation', '--type', type, ...verification, tagged(name))
    return output
      .trim()
      .split('\n')
      .map(line => JSON.parse(Buffer.from(JSON.parse(line).payload, 'base64').toString()))
  }

  test('provenance names the commit and the base images, of this very digest', async () => {
    const [statement] = await attested('slsaprovenance1', 'postwright')
    expect(statement.predicateType).toBe('https://slsa.dev/provenance/v1')
    expect(statement.predicate.buildDefinition.resolvedDependencies).toEqual([
      expect.objectContaining({ digest: { gitCommit: REVISION } }),
      { uri: 'oci://docker.io/library/debian:bookworm-slim', digest: { sha256: 'c'.repeat(64) } },
      { uri: 'oci://docker.io/library/node:24-bookworm-slim', digest: { sha256: 'd'.repeat(64) } },
    ])
    const digest = (await oras('resolve', '--plain-http', tagged('postwright'))).trim()
    expect(`sha256:${statement.subject[0].digest.sha256}`).toBe(digest)
  })

  test('bills of materials: the packages of the image, the image of the chart', async () => {
    const [image] = await attested('cyclonedx', 'postwright')
    const names = image.predicate.components.map(({ name }: { name: string }) => name)
    expect(names).toContain('mongoose')
    expect(names).not.toContain('vitest')
    const [chart] = await attested('cyclonedx', 'charts/postwright')
    const digest = (await oras('resolve', '--plain-http', tagged('postwright'))).trim()
    expect(chart.predicate.components[0].purl).toContain(encodeURIComponent(digest))
  })

  test('a repeated run adds no second signature and no second statement', async () => {
    await signRelease(target, {})
    expect(JSON.parse(await cosign('verify', ...verification, tagged('postwright')))).toHaveLength(1)
    expect(await attested('cyclonedx', 'postwright')).toHaveLength(1)
    expect(await attested('slsaprovenance1', 'charts/postwright')).toHaveLength(1)
  }, 120_000)

  test('a changed image under the same tag is refused', async () => {
    await push(REVISION, { amd64: 'changed files', arm64: 'files of arm64' })
    await expect(verifyRelease(target)).rejects.toThrow(/cosign verify .*failed[\s\S]*no signatures found/)
    await push(REVISION)
    await verifyRelease(target)
  })

  test('a changed chart under the same tag is refused', async () => {
    const [good] = (await oras('resolve', '--plain-http', tagged('charts/postwright'))).split('\n')
    await writeFile(join(root, 'changed.tgz'), 'another chart')
    const layer = 'changed.tgz:application/vnd.cncf.helm.chart.content.v1.tar+gzip'
    await run('oras', ['push', '--plain-http', tagged('charts/postwright'), layer], {
      cwd: root,
      env: { ...process.env, ...environment },
    })
    await expect(verifyRelease(target)).rejects.toThrow(
      /charts\/postwright@sha256:\S+ failed[\s\S]*no signatures found/,
    )
    await oras('tag', '--plain-http', `${target.registry}/charts/postwright@${good}`, target.version)
    await verifyRelease(target)
  })

  test('signatures by another key are refused', async () => {
    const other = await mkdtemp(join(root, 'other-'))
    await run('cosign', ['generate-key-pair'], { cwd: other, env: { ...process.env, ...environment } })
    await expect(verifyRelease({ ...target, key: join(other, 'cosign.key') })).rejects.toThrow(/invalid signature/)
  })

  test('provenance of another commit is refused', async () => {
    await expect(verifyRelease({ ...target, revision: OTHER_REVISION })).rejects.toThrow(
      new RegExp(`the provenance of \\S+ names commit ${REVISION} instead of ${OTHER_REVISION}`),
    )
  })
})

describe('pages', () => {
  test('files of the GitHub release: the signed chart, all definitions, digests, and sums that hold', async () => {
    const files = await collectAssets(target)
    const folder = dirname(files[0] ?? '')
    expect(files.map(file => file.slice(folder.length + 1))).toEqual([
      ...['crds.yaml', 'digests.txt', `postwright-${target.version}.tgz`, 'SHA256SUMS'],
    ])
    const { stdout } = await run('sha256sum', ['--check', 'SHA256SUMS'], { cwd: folder })
    expect(stdout.match(/: OK$/gm)).toHaveLength(3)
    const definitions = (await readFile(join(folder, 'crds.yaml'), 'utf8')).split(/^---$/m).filter(text => text.trim())
    expect(definitions.map(text => parse(text).kind)).toEqual(
      (await readdir('crds')).map(() => 'CustomResourceDefinition'),
    )
    expect(await readFile(join(folder, 'digests.txt'), 'utf8')).toMatch(/^(\S+@sha256:[0-9a-f]{64}\n){2}$/)
  })

  test('Artifact Hub finds its metadata next to the chart', async () => {
    await publishHubMetadata(target, HUB_ID)
    const reference = `${target.registry}/charts/postwright:artifacthub.io`
    const manifest = JSON.parse(await oras('manifest', 'fetch', '--plain-http', reference))
    expect([manifest.config.mediaType, manifest.layers[0].mediaType]).toEqual([
      ...['application/vnd.cncf.artifacthub.config.v1+yaml'],
      ...['application/vnd.cncf.artifacthub.repository-metadata.layer.v1.yaml'],
    ])
    const name = `${target.registry}/charts/postwright@${manifest.layers[0].digest}`
    expect(parse(await oras('blob', 'fetch', '--plain-http', '--output', '-', name))).toMatchObject({
      repositoryID: HUB_ID,
    })
    await expect(publishHubMetadata(target, 'mine')).rejects.toThrow('"mine" is not the ID of a repository')
  })

  const printed = async (version: string, act: (dry: Target) => Promise<unknown>) => {
    const output: string[] = []
    const runner = createRunner(true, line => void output.push(line), environment)
    await writeFile(join(root, 'CHANGELOG.md'), `## ${version} - 2026-11-24\n\n### Added\n\n- ${'Text. '.repeat(3)}\n`)
    await act({ ...target, version, runner, print: line => void output.push(line) })
    return output
  }

  test.each([
    ['1.2.0', '--tag latest', false],
    ['1.2.0-rc.1', '--tag next', true],
  ])('commands for %s', async (version, tag, candidate) => {
    const npm = await printed(version, dry => publishClient(dry, true))
    expect(npm).toEqual([`would run: npm publish ./clients/typescript --access public ${tag} --provenance`])
    const github = await printed(version, publishGitHubRelease)
    const create = github.find(line => line.includes('gh release create')) ?? ''
    expect(create).toContain(`gh release create v${version} --verify-tag --title 'Postwright ${version}'`)
    expect(create.includes('--prerelease')).toBe(candidate)
    for (const file of ['crds.yaml', 'SHA256SUMS']) expect(create).toContain(file)
  })

  test('notes that GitHub would refuse are shortened at a line, with a link to all of them', async () => {
    const entries = Array.from({ length: 3_000 }, (_, i) => `- Change ${i} ${'of many words '.repeat(3)}`).join('\n')
    await writeFile(join(root, 'CHANGELOG.md'), `## 1.3.0 - 2026-11-24\n\n### Added\n\n${entries}\n`)
    const notes = await releaseNotes({ ...target, version: '1.3.0' })
    expect(notes.length).toBeLessThan(125_000)
    expect(notes).toMatch(
      /words\n\nAll changes: https:\/\/github\.com\/postwright\/postwright\/blob\/v1\.3\.0\/CHANGELOG\.md\n$/,
    )
  })
})

describe('the registry of an option', () => {
  test.each(['ghcr.io/postwright', 'localhost:5000/a/b', '10.0.0.1:5000/x'])('accepts %s', text => {
    expect(checkRegistry(text)).toBe(text)
  })

  test.each([
    '',
    'ghcr.io',
    'ghcr.io/',
    'GHCR.io/x',
    'ghcr.io/Up',
    'https://ghcr.io/x',
    'ghcr.io/x y',
    'a/../b',
    '-x/y --z',
    `a/${'b'.repeat(200)}`,
  ])('refuses %j', text => {
    expect(() => checkRegistry(text)).toThrow('is not a registry')
  })
})

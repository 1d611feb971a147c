/** A release at a real registry with the real helm, cosign, oras and npm: published, signed, verified, and refused when changed. */
import { execFile } from 'node:child_process'
import { cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
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
import { digestsLine, recordArtifact } from '../../../scripts/release/recorded.ts'
import { createRunner } from '../../../scripts/release/run.ts'
import { signRelease, verifyRelease } from '../../../scripts/release/signing.ts'
import { checkRegistry, type Target } from '../../../scripts/release/target.ts'
import { findReleaseProgram, pathOf } from '../../support/programs/programs.ts'
import { startNpmRegistry } from '../../support/release/npm-registry.ts'
import { pushImage, type Registry, startRegistry } from '../../support/release/registry.ts'

const run = promisify(execFile)
/** Digest of nothing that a registry has. */
const ABSENT = `sha256:${'0'.repeat(64)}`
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

const imageAt = () => `${target.registry}/postwright`
/** A build of the image takes too long: pushes a small one and records it, as the build does. */
const pushRecorded = async () => recordArtifact(target, imageAt(), await push(REVISION))
const digestsOf = async (name: string) =>
  JSON.parse(await oras('manifest', 'fetch', '--plain-http', tagged(name))).manifests.map(
    ({ digest }: { digest: string }) => digest,
  )

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
  test('nothing is signed or verified that this run has not pushed, although the tag exists', async () => {
    await push(REVISION)
    const message = `this run has not recorded a digest of ${tagged('postwright')} for ${REVISION}`
    for (const act of [() => signRelease(target, {}), () => verifyRelease(target), () => collectAssets(target)])
      await expect(act()).rejects.toThrow(message)
    await expect(digestsLine(target)).rejects.toThrow('this run has not recorded any digest')
  })

  test('an image of this commit is made again unless this run pushed it or it is signed', async () => {
    await push(REVISION)
    // Stands for the build: what it would push does not exist.
    const broken = { ...BUILD, platforms: ['no/such'] }
    await expect(publishImage(target, broken)).rejects.toThrow(/buildah build .*failed/)
    expect(lines.filter(line => line.includes('is neither recorded by this run nor signed'))).toHaveLength(1)
  })

  test('an image that this run has pushed is kept, with the digest of each platform', async () => {
    const image = await pushRecorded()
    expect(await publishImage(target, BUILD)).toEqual(image)
    const [amd64, arm64] = await digestsOf('postwright')
    expect(image).toEqual({
      ...{ name: imageAt(), tag: target.version, digest: image.digest },
      platforms: { 'linux/amd64': amd64, 'linux/arm64': arm64 },
    })
    expect(lines.at(-4)).toContain('is published already')
  })

  test('an image of another commit is never replaced', async () => {
    await expect(publishImage({ ...target, revision: OTHER_REVISION }, BUILD)).rejects.toThrow(
      new RegExp(`exists already, made from commit ${REVISION} instead of ${OTHER_REVISION}; release a higher version`),
    )
  })

  test('an image with the base of one platform for both is refused', async () => {
    await recordArtifact(target, imageAt(), await push(REVISION, { amd64: 'the same', arm64: 'the same' }))
    await expect(publishImage(target, BUILD)).rejects.toThrow('has the base of linux/amd64 for linux/arm64 as well')
    await pushRecorded()
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
    expect(chart.digest).toBe((await oras('resolve', '--plain-http', tagged('charts/postwright'))).trim())
    expect(chart.platforms).toEqual({})
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
    const digests = await digestsOf('postwright')
    expect(digests).toHaveLength(2)
    for (const digest of digests) await cosign('verify', ...verification, `${target.registry}/postwright@${digest}`)
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

  test('an image that was put under the tag after the push is neither signed nor verified', async () => {
    const other = await push(REVISION, { amd64: 'changed files', arm64: 'files of arm64' })
    await signRelease(target, {})
    await expect(cosign('verify', ...verification, `${imageAt()}@${other}`)).rejects.toThrow('no signatures found')
    await expect(verifyRelease(target)).rejects.toThrow(
      new RegExp(`postwright:\\S+ points at ${other} instead of sha256:\\w+, which this run pushed`),
    )
    await push(REVISION)
    await verifyRelease(target)
  }, 120_000)

  test('the run is repeated on another machine: what is signed is kept and recorded, the rest is made again', async () => {
    const record = join(root, 'dist/release/digests.json')
    const before = await readFile(record, 'utf8')
    await rm(record)
    await publishImage(target, BUILD)
    await publishChart(target)
    expect(JSON.parse(await readFile(record, 'utf8'))).toEqual(JSON.parse(before))

    const unsigned = await push(REVISION, { amd64: 'of another run', arm64: 'files of arm64' })
    await rm(record)
    await expect(publishImage(target, { ...BUILD, platforms: ['no/such'] })).rejects.toThrow(/buildah build .*failed/)
    expect(lines).toContain(`${imageAt()}@${unsigned} is neither recorded by this run nor signed: it is made again`)
    await push(REVISION)
    await writeFile(record, before)
  }, 120_000)

  test('a machine of the same run gets the digests as text, and verifies those', async () => {
    const record = join(root, 'dist/release/digests.json')
    const digests = await digestsLine(target)
    expect(digests).not.toContain('\n')
    const content = await readFile(record, 'utf8')
    await rm(record)
    await verifyRelease({ ...target, digests })
    const none = digests.replaceAll(/sha256:[0-9a-f]{64}/g, ABSENT)
    await expect(verifyRelease({ ...target, digests: none })).rejects.toThrow(/cosign verify .*failed/)
    await writeFile(record, content)
  })

  test.each([
    ['of another commit', (text: string) => text.replaceAll(REVISION, OTHER_REVISION), 'has not recorded a digest of'],
    [
      'of another version',
      (text: string) => text.replace(/"version":"[^"]+"/, '"version":"9.9.9"'),
      'has not recorded',
    ],
    ['that is cut', (text: string) => text.slice(0, 40), 'the record of digests is broken'],
    ['with a tag', (text: string) => text.replace(/sha256:[0-9a-f]{64}/, 'latest'), 'the record of digests is broken'],
  ])('a record %s is refused', async (_, change, message) => {
    const digests = change(await digestsLine(target))
    await expect(verifyRelease({ ...target, digests })).rejects.toThrow(message)
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
      /charts\/postwright:\S+ points at sha256:\w+ instead of sha256:\w+, which this run pushed/,
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
    const digests = (await digestsLine(target)).replace(REVISION, OTHER_REVISION)
    await expect(verifyRelease({ ...target, revision: OTHER_REVISION, digests })).rejects.toThrow(
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
    expect(create).toContain(`--latest=${!candidate}`)
    expect(github).toContain(
      "would run: gh release list --exclude-drafts --exclude-pre-releases --limit 1000 --json tagName --jq '.[].tagName'",
    )
    for (const file of ['crds.yaml', 'SHA256SUMS']) expect(create).toContain(file)
  })

  test('npm gets each version once, and its tags lead to the highest final version, candidates and lines', async () => {
    const npm = await startNpmRegistry()
    onTestFinished(() => npm.stop())
    const home = await mkdtemp(join(root, 'npm-'))
    const folder = join(home, 'clients/typescript')
    await mkdir(folder, { recursive: true })
    const runner = createRunner(false, () => undefined, { ...environment, ...npm.environment })
    for (const version of ['1.0.0', '1.1.0', '2.0.0-rc.1', '2.0.0', '1.1.1', '2.0.0', '2.1.0-rc.1', '2.0.1', '1.0.1']) {
      await writeFile(join(folder, 'package.json'), JSON.stringify({ name: '@postwright/client', version }))
      await publishClient({ ...target, root: home, version, runner }, false)
    }
    expect(npm.tags('@postwright/client')).toEqual({
      ...{ latest: '2.0.1', next: '2.1.0-rc.1' },
      ...{ 'release-1.1': '1.1.1', 'release-1.0': '1.0.1' },
    })
    expect(npm.published).toHaveLength(8)
    await npm.stop()
    await expect(publishClient({ ...target, root: home, version: '3.0.0', runner }, false)).rejects.toThrow(
      'npm cannot be asked for the versions of @postwright/client',
    )
  }, 120_000)

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

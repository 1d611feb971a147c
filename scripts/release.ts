/**
 * `npm run release -- X.Y.Z` makes a release on this machine: version, changelog, commit and tag. The other commands publish
 * one from the checkout of its tag; `.github/workflows/release.yml` runs them, and so does a machine with a registry of its own.
 */
import { execFileSync } from 'node:child_process'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { publishChart } from './release/chart-package.ts'
import { checkVersions } from './release/check.ts'
import { BUILDERS, publishImage } from './release/image.ts'
import {
  collectAssets,
  publishClient,
  publishGitHubRelease,
  publishHubMetadata,
  releaseNotes,
} from './release/pages.ts'
import { prepareRelease, tagOf } from './release/prepare.ts'
import { installPrograms } from './release/programs.ts'
import { digestsLine } from './release/recorded.ts'
import { ReleaseError } from './release/release-error.ts'
import { createRunner } from './release/run.ts'
import { signRelease, verifyRelease } from './release/signing.ts'
import { checkRegistry, SBOM_PROGRAMS, type Target } from './release/target.ts'

/** Knows the programs of the npm commands. */
const launcher = createRequire(import.meta.url)('../bin/launch.cjs') as { COMMANDS: { docs: readonly string[] } }

const USAGE = `npm run release -- X.Y.Z [--date YYYY-MM-DD] [--sign] [--dry-run]    version, changelog, commit and tag

From the checkout of a tag, each with [--registry HOST[:PORT]/PATH] [--plain-http] [--key FILE] [--dry-run]:
npm run release -- check         fails unless tag, versions and changelog agree
npm run release -- programs      builds cosign, helm, oras and syft with Go
npm run release -- image         builds and pushes the image, and records its digests
                                 [--builder buildx|buildah] [--platform LIST] [--node-image NAME] [--base-image NAME]
npm run release -- chart         packs and pushes the chart, and records its digest
npm run release -- sign          signs what was pushed, attests SBOM and provenance [--sbom syft|npm]
npm run release -- verify        verifies all of that
npm run release -- digests       prints what was recorded, for RELEASE_DIGESTS of another machine
npm run release -- artifacthub   pushes the metadata for Artifact Hub (ARTIFACTHUB_REPOSITORY_ID)
npm run release -- npm           publishes clients/typescript
npm run release -- github        makes the GitHub release
npm run release -- notes         prints its notes
npm run release -- assets        writes its files to dist/release/assets
`

const OPTIONS = {
  'base-image': { type: 'string', default: 'docker.io/library/debian:bookworm-slim' },
  builder: { type: 'string', default: 'buildx' },
  date: { type: 'string', default: new Date().toISOString().slice(0, 10) },
  'dry-run': { type: 'boolean', default: false },
  help: { type: 'boolean', default: false },
  key: { type: 'string' },
  'node-image': { type: 'string', default: 'docker.io/library/node:24-bookworm-slim' },
  'plain-http': { type: 'boolean', default: false },
  platform: { type: 'string', default: 'linux/amd64,linux/arm64' },
  registry: { type: 'string', default: 'ghcr.io/postwright' },
  sbom: { type: 'string', default: 'syft' },
  sign: { type: 'boolean', default: false },
} as const

const root = join(import.meta.dirname, '..')
const print = (line: string) => void process.stdout.write(`${line}\n`)

/** Commands that work on the checkout of a release. */
const COMMANDS: Record<string, (target: Target, options: Options) => unknown> = {
  programs: ({ runner }) => installPrograms(runner),
  image: (target, options) =>
    publishImage(target, {
      builder: oneOf(BUILDERS, options.builder),
      platforms: options.platform.split(','),
      nodeImage: options['node-image'],
      baseImage: options['base-image'],
    }),
  chart: publishChart,
  sign: target => signRelease(target, process.env),
  verify: verifyRelease,
  digests: async target => print(await digestsLine(target)),
  artifacthub: async target => {
    const id = process.env.ARTIFACTHUB_REPOSITORY_ID
    if (id) await publishHubMetadata(target, id)
    else print('ARTIFACTHUB_REPOSITORY_ID is not set: Artifact Hub gets no metadata')
  },
  npm: target => publishClient(target, process.env.GITHUB_ACTIONS === 'true'),
  github: publishGitHubRelease,
  notes: async target => print(await releaseNotes(target)),
  assets: async target => print((await collectAssets(target)).join('\n')),
  check: target => checkTag(target),
}

type Options = ReturnType<typeof readArguments>['values']

await main().catch((error: unknown) => {
  process.stderr.write(`release: ${error instanceof ReleaseError ? error.message : String((error as Error).stack)}\n`)
  process.exitCode = 1
})

async function main(): Promise<void> {
  const { values, positionals } = readArguments()
  if (values.help) return print(USAGE)
  const [command, ...rest] = positionals
  if (command === undefined || rest.length > 0) throw new ReleaseError(`give one version or one command\n\n${USAGE}`)
  const runner = createRunner(values['dry-run'], print)
  if (/^v?\d/.test(command))
    return prepareRelease({ root, version: command, date: values.date, sign: values.sign, runner, print, derive })
  const act = Object.hasOwn(COMMANDS, command) ? COMMANDS[command] : undefined
  if (!act) throw new ReleaseError(`there is no command "${command}"\n\n${USAGE}`)
  const registry = checkRegistry(values.registry)
  const plainHttp = values['plain-http']
  if (plainHttp && !/^(localhost|127\.\d+\.\d+\.\d+)[:/]/.test(registry))
    throw new ReleaseError('--plain-http is only for a registry on this machine (localhost, 127.0.0.1)')
  const target: Target = {
    ...{ root, registry, plainHttp, runner, print },
    ...(values.key === undefined ? {} : { key: values.key }),
    ...(process.env.RELEASE_DIGESTS ? { digests: process.env.RELEASE_DIGESTS } : {}),
    sbom: oneOf(SBOM_PROGRAMS, values.sbom),
    version: await checkVersions(root),
    revision: git('rev-parse', 'HEAD'),
    repository: process.env.GITHUB_REPOSITORY ?? 'postwright/postwright',
  }
  await act(target, values)
}

function readArguments() {
  try {
    return parseArgs({ options: OPTIONS, allowPositionals: true })
  } catch (error) {
    throw new ReleaseError(`${(error as Error).message}\n\n${USAGE}`)
  }
}

/** Files that follow from the version, by the programs of `npm run docs`; that of Kustomize's base needs helm. */
async function derive(): Promise<void> {
  for (const program of launcher.COMMANDS.docs)
    execFileSync(process.execPath, [join(root, program)], { cwd: root, stdio: 'inherit' })
}

/** The tag of this version is on HEAD, and HEAD is part of main or of the branch of a release line. */
function checkTag({ version }: Target): void {
  const tag = tagOf(version)
  if (!git('tag', '--points-at', 'HEAD').split('\n').includes(tag))
    throw new ReleaseError(`HEAD is not tagged ${tag}, which package.json demands`)
  const branches = git('branch', '--all', '--contains', 'HEAD', '--format', '%(refname:short)').split('\n')
  if (!branches.some(branch => /^(origin\/)?(main|release-\d+\.\d+)$/.test(branch)))
    throw new ReleaseError(`${tag} is neither on main nor on a branch release-X.Y`)
  print(`${tag}: versions, changelog and tag agree`)
}

function git(...args: string[]): string {
  return execFileSync('git', args, { cwd: root, encoding: 'utf8' }).trim()
}

function oneOf<T extends string>(known: readonly T[], value: string): T {
  const found = known.find(name => name === value)
  if (!found) throw new ReleaseError(`"${value}" is not one of ${known.join(', ')}`)
  return found
}

/**
 * Finds kube-apiserver and etcd for the operator's tests: KUBEBUILDER_ASSETS, the cache, a build from their Go modules,
 * the envtest release, in this order. Each step that fails gives its reason.
 */
import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { access, constants, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { cacheFolder } from '../../../services/platform/mongod/find-mongod.ts'

const run = promisify(execFile)

/** Version of the API server that the tests use; etcd is the one that it was released with. */
const KUBERNETES = '1.34.2'
const ETCD = '3.5.21'
const NAMES = ['etcd', 'kube-apiserver'] as const
const BUILD_MINUTES = 20

/** Instructions for machines without both. */
export const HOW_TO_INSTALL =
  'install Go 1.24 or newer (https://go.dev/doc/install), or set KUBEBUILDER_ASSETS to a folder with both (setup-envtest makes one)'

/** Reports progress, one line per step. */
export type Progress = (line: string) => void

/** The cache of the programs. */
export function envtestFolder(env: NodeJS.ProcessEnv): string {
  return join(cacheFolder(env.XDG_CACHE_HOME), `envtest-${KUBERNETES}`)
}

/** A folder that contains both programs. Rejects with the reasons of every source if there is none. */
export async function apiserverBinaries(env: NodeJS.ProcessEnv, report: Progress): Promise<string> {
  const cache = envtestFolder(env)
  const sources: [name: string, find: () => Promise<string>][] = [
    ['KUBEBUILDER_ASSETS', () => given(env.KUBEBUILDER_ASSETS)],
    ['the cache', () => complete(cache)],
    ['the Go modules', () => build(cache, report)],
    ['the envtest release', () => download(cache, report)],
  ]
  const reasons: string[] = []
  for (const [name, find] of sources) {
    try {
      return await find()
    } catch (error) {
      reasons.push(`${name}: ${firstLine(error)}`)
    }
  }
  throw new Error(`no kube-apiserver and etcd: ${reasons.join('; ')}`)
}

async function given(folder: string | undefined): Promise<string> {
  if (!folder) throw new Error('not set')
  return complete(folder)
}

async function complete(folder: string): Promise<string> {
  for (const name of NAMES)
    await access(join(folder, name), constants.X_OK).catch(() => {
      throw new Error(`${join(folder, name)} is missing`)
    })
  return folder
}

/**
 * Builds both from their modules. k8s.io/kubernetes replaces its staging modules by folders of its own repository, which
 * a module download does not have, so the scratch module names the published ones.
 */
async function build(cache: string, report: Progress): Promise<string> {
  await run('go', ['version']).catch(() => {
    throw new Error('go is not on PATH')
  })
  const work = `${cache}.build-${process.pid}`
  await mkdir(work, { recursive: true })
  try {
    report(`building etcd ${ETCD} from its Go module (once)`)
    await compile(work, 'etcd', 'go.etcd.io/etcd/server/v3', `require go.etcd.io/etcd/server/v3 v${ETCD}\n`, '')
    report(`building kube-apiserver ${KUBERNETES} from its Go module (once, several minutes)`)
    const version = `v${KUBERNETES}`
    const { stdout } = await run('go', ['mod', 'download', '-json', `k8s.io/kubernetes@${version}`], { cwd: work })
    const { Dir } = JSON.parse(stdout) as { Dir: string }
    const modules = (await readFile(join(Dir, 'go.mod'), 'utf8')).matchAll(/^\s*(k8s\.io\/[a-z-]+) => \.\/staging/gm)
    const staging = `v0.${KUBERNETES.split('.').slice(1).join('.')}`
    const replaced = [...modules].map(([, name]) => `replace ${name} => ${name} ${staging}\n`).join('')
    const stamp = `-X k8s.io/component-base/version.gitVersion=${version} -X k8s.io/component-base/version.gitMajor=1 -X k8s.io/component-base/version.gitMinor=${KUBERNETES.split('.')[1]}`
    await compile(
      work,
      'kube-apiserver',
      'k8s.io/kubernetes/cmd/kube-apiserver',
      `require k8s.io/kubernetes ${version}\n${replaced}`,
      stamp,
    )
    await mkdir(cache, { recursive: true })
    for (const name of NAMES) await rename(join(work, 'bin', name), join(cache, name))
    report('built')
    return cache
  } finally {
    await rm(work, { recursive: true, force: true })
  }
}

async function compile(work: string, name: string, source: string, requirements: string, stamp: string) {
  const folder = join(work, name)
  await mkdir(folder, { recursive: true })
  await writeFile(join(folder, 'go.mod'), `module scratch\n\ngo 1.24.0\n\n${requirements}`)
  await writeFile(join(folder, 'tools.go'), `//go:build tools\npackage tools\n\nimport _ "${source}"\n`)
  const options = {
    cwd: folder,
    env: { ...process.env, CGO_ENABLED: '0', GOFLAGS: '-mod=mod' },
    timeout: BUILD_MINUTES * 60_000,
    maxBuffer: 1 << 26,
  }
  await run('go', ['mod', 'tidy'], options)
  await run('go', ['build', '-trimpath', '-ldflags', `-s -w ${stamp}`, '-o', join(work, 'bin', name), source], options)
}

/** The archive that setup-envtest uses, checked against the hash of the release index. */
async function download(cache: string, report: Progress): Promise<string> {
  const system = `${process.platform}-${process.arch === 'x64' ? 'amd64' : process.arch}`
  const name = `envtest-v${KUBERNETES}-${system}.tar.gz`
  const address = `https://github.com/kubernetes-sigs/controller-tools/releases/download/envtest-v${KUBERNETES}/${name}`
  report(`downloading ${address}`)
  const [archive, sum] = await Promise.all([fetched(address), fetched(`${address}.sha512`)])
  if (createHash('sha512').update(archive).digest('hex') !== sum.toString('utf8').trim().split(/\s/)[0])
    throw new Error(`${name} has a wrong checksum`)
  await mkdir(cache, { recursive: true })
  const file = join(cache, name)
  await writeFile(file, archive)
  await run('tar', ['xzf', file, '-C', cache, '--strip-components=2'])
  await rm(file)
  return complete(cache)
}

async function fetched(address: string): Promise<Buffer> {
  const answer = await fetch(address, { signal: AbortSignal.timeout(300_000) })
  if (!answer.ok) throw new Error(`${address} answered ${answer.status}`)
  return Buffer.from(await answer.arrayBuffer())
}

function firstLine(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error)
  return text.split('\n').slice(0, 2).join(' ')
}

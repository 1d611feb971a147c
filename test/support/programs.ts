/** Programs and files that tests use: found on PATH, in the cache, or had once from their Go modules. */
import { execFile } from 'node:child_process'
import { access, constants, mkdir } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { promisify } from 'node:util'
import { cacheFolder } from '../../services/platform/mongod/source.ts'

const run = promisify(execFile)

/** A program, or why there is none. */
export type Program = { path: string } | { missing: string }

/** helm, from PATH, the cache or its Go module. */
export function findHelm(): Promise<Program> {
  return find('helm', 'helm.sh/helm/v3/cmd/helm@v3.17.3')
}

/** kube-score, which judges manifests by rules of good practice. */
export function findKubeScore(): Promise<Program> {
  return find('kube-score', 'github.com/zegl/kube-score/cmd/kube-score@v1.20.0')
}

/** kubeconform, which checks manifests against JSON schemas. */
export function findKubeconform(): Promise<Program> {
  return find('kubeconform', 'github.com/yannh/kubeconform/cmd/kubeconform@v0.6.7')
}

/** promtool of the Debian package `prometheus`. */
export async function findPromtool(): Promise<Program> {
  const path = await onPath('promtool')
  return path ? { path } : { missing: 'promtool is not on PATH (Debian package prometheus)' }
}

/** The folder with the files of a Go module, as in `sigs.k8s.io/gateway-api@v1.2.1`. */
export async function findGoModule(module: string): Promise<Program> {
  if (!(await onPath('go'))) return { missing: `there is no go to fetch ${module}` }
  let reason = ''
  for (let tries = 0; tries < 3; tries++) {
    try {
      const { stdout } = await run('go', ['mod', 'download', '-json', module], { cwd: tmpdir(), timeout: 120_000 })
      return { path: (JSON.parse(stdout) as { Dir: string }).Dir }
    } catch (error) {
      // With -json the reason stands in what it printed.
      const { stdout, message } = error as Error & { stdout?: string }
      reason = stdout || message
    }
  }
  return { missing: `${module} could not be fetched: ${reason}` }
}

async function find(name: string, module: string): Promise<Program> {
  const folder = join(cacheFolder(process.env.XDG_CACHE_HOME), 'go-programs')
  const path = (await onPath(name)) ?? (await executable(join(folder, name)))
  if (path) return { path }
  if (!(await onPath('go'))) return { missing: `${name} is not on PATH, and there is no go to build it` }
  process.stderr.write(`tests: building ${name} from its Go module (some minutes, once)\n`)
  await mkdir(folder, { recursive: true })
  try {
    await run('go', ['install', module], {
      env: { ...process.env, GOBIN: folder, GOFLAGS: '-trimpath' },
      timeout: 900_000,
    })
    return { path: join(folder, name) }
  } catch (error) {
    return { missing: `${name} could not be built: ${error instanceof Error ? error.message.split('\n')[0] : error}` }
  }
}

async function onPath(name: string): Promise<string | undefined> {
  for (const folder of (process.env.PATH ?? '').split(delimiter).filter(Boolean)) {
    const path = await executable(join(folder, name))
    if (path) return path
  }
  return undefined
}

function executable(path: string): Promise<string | undefined> {
  return access(path, constants.X_OK).then(
    () => path,
    () => undefined,
  )
}

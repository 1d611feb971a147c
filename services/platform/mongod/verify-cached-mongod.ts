/** Checks a program that an earlier start, or an earlier release, left in the cache: releases before checked no hash. */
import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { readFile, stat, writeFile } from 'node:fs/promises'
import { pipeline } from 'node:stream/promises'

/**
 * True when the SHA-256 (hex) of the file is one of these. A file is read once: `<path>.verified` keeps the hash with size and
 * time of the file, so later starts read only that. Rejects when there is no such file.
 */
export async function isVerified(path: string, hashes: readonly string[]): Promise<boolean> {
  const { size, mtimeMs } = await stat(path)
  const marker = `${path}.verified`
  const known = await readFile(marker, 'utf8').catch(() => '')
  if (hashes.some(hash => known === `${hash} ${size} ${mtimeMs}\n`)) return true
  const hash = createHash('sha256')
  await pipeline(createReadStream(path), hash)
  const found = hash.digest('hex')
  if (!hashes.includes(found)) return false
  // A cache that cannot be written costs the same work at the next start.
  await writeFile(marker, `${found} ${size} ${mtimeMs}\n`).catch(() => undefined)
  return true
}

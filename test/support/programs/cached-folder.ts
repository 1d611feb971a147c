/** Folders of the cache that a test fills once, and again when what it is filled from changes. */
import { createHash } from 'node:crypto'
import { access, mkdir, mkdtemp, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { cacheFolder } from '../../../services/platform/mongod/find-mongod.ts'

/**
 * Path of the folder for this content. `fill` gets a new empty folder, which takes its name when it is complete: renaming is
 * atomic, so that a run that was stopped leaves no half of it.
 */
export async function cachedFolder(
  name: string,
  content: string,
  fill: (folder: string) => Promise<unknown>,
): Promise<string> {
  const cache = cacheFolder(process.env.XDG_CACHE_HOME)
  const folder = join(cache, `${name}-${createHash('sha256').update(content).digest('hex').slice(0, 16)}`)
  if (await exists(folder)) return folder
  await mkdir(cache, { recursive: true })
  const work = await mkdtemp(`${folder}.`)
  try {
    await fill(work)
    await rename(work, folder).catch(async (error: unknown) => {
      if (!(await exists(folder))) throw error // another run was first
    })
    return folder
  } finally {
    await rm(work, { recursive: true, force: true })
  }
}

function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  )
}

/** What the embedded database keeps beside its data: its port, its password and the release that wrote the data. */
import { randomBytes } from 'node:crypto'
import { readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

/** What an installation keeps beside the data: readable by its owner only. */
export interface EmbeddedState {
  port: number
  /** The port in the configuration of the set. */
  configured?: number
  password: string
  pid?: number
  /** Release line whose data is in the folder, as `6.0`: its feature compatibility version. See `releaseOfData`. */
  dataRelease?: string
}

/** Only a folder that has no state gets a new one: a second password would lock everybody out of the data. */
export async function loadState(folder: string): Promise<EmbeddedState> {
  const path = join(folder, 'postwright.json')
  const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw unreadable(path, error)
    return undefined
  })
  if (text !== undefined) return parseState(text, path)
  const state: EmbeddedState = { port: 0, password: randomBytes(24).toString('base64url') }
  await writeFile(join(folder, 'keyfile'), randomBytes(96).toString('base64'), { mode: 0o400, flag: 'wx' }).catch(
    () => undefined,
  )
  await saveState(folder, state)
  return state
}

function parseState(text: string, path: string): EmbeddedState {
  try {
    const state = JSON.parse(text) as Partial<EmbeddedState> | null
    if (typeof state?.password === 'string') return { port: 0, ...state, password: state.password }
  } catch (error) {
    throw unreadable(path, error)
  }
  throw unreadable(path, undefined)
}

function unreadable(path: string, cause: unknown): Error {
  return new Error(
    `${path} cannot be read; it holds the password of the database: restore it, or set DATA_DIR to a new folder`,
    { cause },
  )
}

/** Writes a temporary file and renames it, so that a crash leaves the complete old or new state. */
export async function saveState(folder: string, state: EmbeddedState): Promise<void> {
  const path = join(folder, 'postwright.json')
  await writeFile(`${path}.new`, JSON.stringify(state), { mode: 0o600, flush: true })
  await rename(`${path}.new`, path)
}

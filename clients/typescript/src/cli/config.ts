/** The login: address and token, in a file that only its user can read. */
import { chmod, mkdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'

/** Where requests go, and with which token. */
export interface Login {
  url: string
  token: string
}

/** A login that is missing or cannot be read; its message says what to do. */
export class LoginError extends Error {}

/** `$XDG_CONFIG_HOME/postwright/config.json`. */
function configPath(env: NodeJS.ProcessEnv): string {
  return join(env.XDG_CONFIG_HOME || join(homedir(), '.config'), 'postwright', 'config.json')
}

/**
 * The login of the environment, else that of the file. The stored token goes to the stored address only: with another
 * POSTWRIGHT_URL there must be a POSTWRIGHT_TOKEN.
 */
export async function readLogin(env: NodeJS.ProcessEnv, warn: (text: string) => void): Promise<Login> {
  const { POSTWRIGHT_URL: url, POSTWRIGHT_TOKEN: token } = env
  if (url && token) return { url, token }
  const stored = await readStored(configPath(env), warn)
  if (!stored)
    throw new LoginError('There is no login. Run "postwright login", or set POSTWRIGHT_URL and POSTWRIGHT_TOKEN.')
  if (url && url !== stored.url)
    throw new LoginError(
      `POSTWRIGHT_URL is not the address of the login (${stored.url}). Set POSTWRIGHT_TOKEN as well.`,
    )
  return { url: stored.url, token: token || stored.token }
}

async function readStored(path: string, warn: (text: string) => void): Promise<Login | undefined> {
  let text: string
  try {
    text = await readFile(path, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw new LoginError(`${path} cannot be read: ${(error as Error).message}.`)
  }
  if (process.platform !== 'win32' && ((await stat(path)).mode & 0o077) !== 0)
    warn(`Other users can read ${path}. Run: chmod 600 ${path}`)
  const login = parsed(text)
  if (!login) throw new LoginError(`${path} is not a login. Run "postwright login" again.`)
  return login
}

function parsed(text: string): Login | undefined {
  try {
    const { url, token } = JSON.parse(text) as Record<string, unknown>
    return typeof url === 'string' && typeof token === 'string' ? { url, token } : undefined
  } catch {
    return undefined
  }
}

/** Stores the login with mode 0600, whatever mode an earlier file had; returns its path. */
export async function storeLogin(env: NodeJS.ProcessEnv, { url, token }: Login): Promise<string> {
  const path = configPath(env)
  await mkdir(dirname(path), { recursive: true, mode: 0o700 })
  const next = `${path}.${process.pid}`
  await writeFile(next, `${JSON.stringify({ url, token }, null, 2)}\n`, { mode: 0o600, flag: 'wx' })
  await chmod(next, 0o600)
  await rename(next, path)
  return path
}

/** Removes the login. */
export async function removeLogin(env: NodeJS.ProcessEnv): Promise<void> {
  await rm(configPath(env), { force: true })
}

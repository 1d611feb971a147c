/**
 * What `npm start` makes up so that nothing has to be set: secrets, a self-signed certificate, first logins, the
 * embedded database. All of it lies in DATA_DIR, readable by its owner only.
 */
import { randomBytes } from 'node:crypto'
import { chmod, link, mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { embeddedFolder, startEmbeddedMongod } from '../mongod/embedded-mongod.ts'
import { cacheFolder, findMongod } from '../mongod/find-mongod.ts'
import { isRunning } from '../mongod/is-process-running.ts'
import { releaseOfData } from '../mongod/mongodb-release.ts'
import { createLog } from '../observability/log.ts'
import type { Running } from '../running.ts'
import { makeCertificate } from '../security/self-signed-certificate.ts'
import { type Config, isUnset, readConfig } from './config.ts'
import type { Prepared } from './run.ts'

/** First logins that are made and then shown once. */
export interface FirstLogins {
  ADMIN_USERNAME: string
  ADMIN_PASSWORD: string
  SMTP_USERNAME: string
  SMTP_PASSWORD: string
}

interface TrialState {
  SESSION_SECRET: string
  /** Present until they were shown. */
  logins?: FirstLogins | undefined
}

const CERTIFICATE_DAYS = 825

/** What {@link prepareTrial} made, and how to say that the logins were shown. */
export interface Trial extends Prepared {
  /** The made logins that nobody has seen yet; undefined on later starts. */
  logins: FirstLogins | undefined
  loginsShown(): Promise<void>
}

/**
 * Fills the gaps of the environment and starts the database. Rejects when a port is taken (naming the setting of
 * each), when another Postwright uses DATA_DIR, or when no database can be started.
 */
export async function prepareTrial(environment: NodeJS.ProcessEnv, say: (text: string) => void): Promise<Trial> {
  const given = Object.fromEntries(Object.entries(environment).filter(([, value]) => !isUnset(value)))
  const dataDir = given.DATA_DIR ?? '.data'
  await mkdir(dataDir, { recursive: true, mode: 0o700 })
  const state = await loadState(dataDir)
  // Whoever chose an admin password needs no made logins, and must not find their own in the output.
  const logins = given.ADMIN_PASSWORD ? undefined : state.logins
  const env = withDefaults(given, { ...state, logins }, dataDir)
  const config = readConfig(env)
  await refuseTakenPorts(config)
  const lock = await lockFolder(dataDir)
  try {
    await dropStrays(dataDir)
    if (!given.SUBMISSION_TLS_CERT) await ensureCertificate(dataDir, config.MAIL_HOSTNAME)
    const parts: Running[] = [lock]
    if (!config.MONGODB_URI) {
      const binary = await findMongod({
        binary: config.MONGOD_BINARY,
        path: given.PATH ?? '',
        cache: cacheFolder(given.XDG_CACHE_HOME),
        data: await releaseOfData(embeddedFolder(dataDir)),
        say,
      })
      const mongod = await startEmbeddedMongod(binary, dataDir, createLog(config.LOG_LEVEL, 'mongod'))
      parts.push(mongod)
      env.MONGODB_URI = mongod.uri
    }
    return {
      env,
      parts,
      logins: logins && shown(env, logins),
      loginsShown: () => saveState(dataDir, { SESSION_SECRET: state.SESSION_SECRET }),
    }
  } catch (error) {
    await lock.stop()
    throw error
  }
}

/** What was really used: a login that the environment sets is not made up. */
function shown(env: NodeJS.ProcessEnv, made: FirstLogins): FirstLogins {
  return {
    ADMIN_USERNAME: env.ADMIN_USERNAME ?? made.ADMIN_USERNAME,
    ADMIN_PASSWORD: env.ADMIN_PASSWORD ?? made.ADMIN_PASSWORD,
    SMTP_USERNAME: env.SMTP_USERNAME ?? made.SMTP_USERNAME,
    SMTP_PASSWORD: env.SMTP_PASSWORD ?? made.SMTP_PASSWORD,
  }
}

function withDefaults(given: NodeJS.ProcessEnv, state: TrialState, dataDir: string): NodeJS.ProcessEnv {
  const listen = given.SUBMISSION_LISTEN ?? '2525:starttls,2587:starttls,2465:tls'
  // Split as the configuration does it: by commas and blanks.
  const ports = listen.split(/[\s,]+/).flatMap(entry => entry.split(':').at(-2) ?? [])
  const made: NodeJS.ProcessEnv = {
    SESSION_SECRET: state.SESSION_SECRET,
    MAIL_HOSTNAME: 'localhost.localdomain',
    DELIVERY_MODE: 'capture',
    SUBMISSION_HOST: '127.0.0.1',
    SUBMISSION_PORTS: ports.join(','),
    APP_BASE_URL: `http://127.0.0.1:${given.APP_PORT ?? '3025'}`,
    ...(given.SUBMISSION_TLS_CERT
      ? {}
      : { SUBMISSION_TLS_CERT: join(dataDir, 'tls.crt'), SUBMISSION_TLS_KEY: join(dataDir, 'tls.key') }),
    ...(state.logins ?? {}),
  }
  return { ...made, ...given }
}

async function loadState(dataDir: string): Promise<TrialState> {
  const known = await readState(dataDir)
  if (known) return known
  const word = (bytes: number) => randomBytes(bytes).toString('base64url').replaceAll(/[-_]/g, 'x')
  await createState(dataDir, {
    SESSION_SECRET: randomBytes(48).toString('base64'),
    logins: { ADMIN_USERNAME: 'admin', ADMIN_PASSWORD: word(12), SMTP_USERNAME: 'demo', SMTP_PASSWORD: word(12) },
  })
  return loadState(dataDir)
}

async function readState(dataDir: string): Promise<TrialState | undefined> {
  try {
    const state = JSON.parse(await readFile(statePath(dataDir), 'utf8')) as TrialState | null
    if (typeof state?.SESSION_SECRET === 'string') return state
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined
  }
  throw new Error(
    `${statePath(dataDir)} cannot be read; it holds the secret that opens the stored keys: restore it, or set DATA_DIR to a new folder`,
  )
}

/** Of several first starts at once one makes the state, and all have it: what another secret sealed would be lost. */
async function createState(dataDir: string, state: TrialState): Promise<void> {
  const path = statePath(dataDir)
  const made = await writeBeside(path, state)
  try {
    await link(made, path)
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined
    // ENOENT: another start has the state already, and took this file for a stray one.
    if (code === 'ENOENT') return
    // Not every file system has links.
    if (code !== 'EEXIST') return await rename(made, path)
  }
  await rm(made, { force: true })
}

/** Writes beside and renames, so that a crash leaves the old or the new state and never half of one. */
async function saveState(dataDir: string, state: TrialState): Promise<void> {
  await rename(await writeBeside(statePath(dataDir), state), statePath(dataDir))
}

async function writeBeside(path: string, state: TrialState): Promise<string> {
  const beside = `${path}.${randomBytes(6).toString('hex')}`
  await writeFile(beside, JSON.stringify(state), { mode: 0o600 })
  return beside
}

/** Removes what starts that died left beside the state: each file holds a secret. Only once the state itself is there. */
async function dropStrays(dataDir: string): Promise<void> {
  for (const name of await readdir(dataDir))
    if (/^trial\.json\.[0-9a-f]{12}$/.test(name)) await rm(join(dataDir, name), { force: true })
}

function statePath(dataDir: string): string {
  return join(dataDir, 'trial.json')
}

async function ensureCertificate(dataDir: string, hostname: string): Promise<void> {
  const [cert, key] = [join(dataDir, 'tls.crt'), join(dataDir, 'tls.key')]
  if (
    await readFile(cert).then(
      () => true,
      () => false,
    )
  )
    return
  const made = await makeCertificate([hostname, 'localhost', '127.0.0.1'], CERTIFICATE_DAYS, new Date())
  await writeFile(key, made.key, { mode: 0o600 })
  await writeFile(cert, made.cert)
  await chmod(key, 0o600)
}

/** Tries every port before anything is started, so that one message names all that are taken. */
async function refuseTakenPorts(config: Config): Promise<void> {
  const wanted = [
    { setting: 'APP_PORT', host: config.APP_HOST, port: config.APP_PORT },
    { setting: 'ADMIN_API_PORT', host: config.APP_HOST, port: config.ADMIN_API_PORT },
    { setting: 'METRICS_PORT', host: config.APP_HOST, port: config.METRICS_PORT },
    ...config.SUBMISSION_LISTEN.map(({ host, port }) => ({
      setting: 'SUBMISSION_LISTEN',
      host: host ?? config.APP_HOST,
      port,
    })),
  ]
  const taken: string[] = []
  for (const { setting, host, port } of wanted) {
    const fault = await tryPort(host, port)
    if (fault === 'EADDRINUSE') taken.push(`port ${port} on ${host} is taken (${setting})`)
    else if (fault === 'EACCES') taken.push(`this user may not bind port ${port} on ${host} (${setting})`)
    else if (fault) taken.push(`${host}:${port} cannot be bound: ${fault} (${setting})`)
  }
  if (taken.length > 0)
    throw new Error(
      `${taken.join('\n  ')}\nIs another Postwright running? Stop it, or choose other ports by the settings in brackets.`,
    )
}

function tryPort(host: string, port: number): Promise<string | undefined> {
  return new Promise(resolve => {
    const probe = createServer()
    probe.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message))
    probe.listen(port, host, () => probe.close(() => resolve(undefined)))
  })
}

/** One Postwright per data folder: the lock names the process, and a dead process's lock is void. */
async function lockFolder(dataDir: string): Promise<Running> {
  const path = join(dataDir, 'owner.pid')
  const owner = Number(await readFile(path, 'utf8').catch(() => ''))
  if (owner > 0 && owner !== process.pid && (await isPostwright(owner)))
    throw new Error(
      `the Postwright with process id ${owner} is using ${dataDir}; stop it, or set DATA_DIR to another folder`,
    )
  await writeFile(path, String(process.pid))
  return { stop: () => rm(path, { force: true }) }
}

const isPostwright = (pid: number) => isRunning(pid, words => words.some(word => word.includes('services/')))

/** Start and stop of a process: configuration, foundation, parts in order, and back in reverse on a signal. */
import { existsSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo, Server as NetServer } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Clock, systemClock } from './clock.ts'
import { type Config, ConfigError, readConfig } from './config.ts'
import { createLog, type Log } from './log.ts'
import { createMetrics, type Metrics } from './metrics.ts'
import { migrate } from './migrate.ts'
import { MIGRATIONS } from './migrations.ts'
import { connectMongo, isUnavailable, type Mongo } from './mongo.ts'
import { createSecrets, type Secrets } from './secrets.ts'

/** What every part of a process may need. */
export interface Foundation {
  config: Config
  log: Log
  metrics: Metrics
  mongo: Mongo
  secrets: Secrets
  clock: Clock
  /** Why the process takes no traffic now; undefined: it does. */
  readiness?: () => string | undefined
}

/** Something that runs until it is stopped. `stop` resolves when its work in hand is finished. */
export interface Running {
  stop(): Promise<void>
  /** Why this part cannot take work yet, for `/readyz`; undefined when it can. */
  notReady?(): string | undefined
  /** Why this part must be started again, for `/healthz`; undefined while it lives. */
  notAlive?(): string | undefined
}

/** Exit code for a faulty configuration (EX_CONFIG of sysexits.h). */
const EX_CONFIG = 78
/** From a supervisor, from Ctrl-C, and from a terminal that is closed. */
const STOP_SIGNALS = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const
/** Two signals within this time are one Ctrl-C that arrived twice. */
const SAME_SIGNAL_MS = 1_000
/** Between two tries to reach the database at the start. */
const RETRY_MS = 2_000

/** Several running parts as one, stopped last first; a failing stop does not keep the others running. */
export function together(...parts: Running[]): Running {
  return {
    async stop() {
      const failures: unknown[] = []
      for (const part of parts.toReversed()) await part.stop().catch((error: unknown) => failures.push(error))
      if (failures.length > 0) throw new AggregateError(failures, 'some parts did not stop cleanly')
    },
  }
}

/** What `npm start` brings along before anything else: settings that it made up, and the embedded database. */
export interface Prepared {
  env: NodeJS.ProcessEnv
  parts: Running[]
}

/**
 * The whole life of a main: reads `.env` and the environment (exit 78 with every fault named), connects, serves the
 * probes, builds, and stops in reverse order on the first of {@link STOP_SIGNALS}; a later second one ends at once.
 */
export async function run(
  service: string,
  env: NodeJS.ProcessEnv,
  build: (foundation: Foundation) => Promise<Running>,
  prepare: (env: NodeJS.ProcessEnv) => Promise<Prepared> = async given => ({ env: given, parts: [] }),
): Promise<void> {
  if (existsSync('.env')) process.loadEnvFile('.env')
  // Writing to a terminal that was closed is a fault, which would end the process before its parts are stopped.
  for (const output of [process.stdout, process.stderr]) output.on('error', () => undefined)
  const signals = listenForSignals(service)
  const prepared = await prepare(env).catch(giveUp(service))
  const config = readOrExit(service, prepared.env)
  const log = createLog(config.LOG_LEVEL, service)
  const metrics = createMetrics(service)
  const state: ProbeState = { connected: false, draining: false }
  const parts: Running[] = [...prepared.parts]
  const stop = async (signal: string) => {
    state.draining = true
    log.info({ signal }, 'stopping')
    await together(...parts)
      .stop()
      .catch((error: unknown) => log.error({ err: error }, 'stopped with an error'))
    log.info({}, 'stopped')
    process.exit(0)
  }
  if (signals.arrived) return stop(signals.arrived)
  signals.act = signal => void stop(signal)
  try {
    parts.push(await serveProbes(config, metrics, state))
    const mongo = await connectPatiently(requireUri(config), log)
    parts.push(mongo)
    metrics.mongoUp.set(1)
    mongo.connection.on('disconnected', () => metrics.mongoUp.set(0))
    mongo.connection.on('connected', () => metrics.mongoUp.set(1))
    await migrate(mongo.db, MIGRATIONS, log)
    state.connected = true
    const secrets = createSecrets(config.SESSION_SECRET, config.SESSION_SECRET_PREVIOUS)
    const readiness = () => unready(state)
    state.part = await build({ config, log, metrics, mongo, secrets, clock: systemClock, readiness })
    parts.push(state.part)
    log.info({}, 'ready')
  } catch (error) {
    await together(...parts)
      .stop()
      .catch(() => undefined)
    giveUp(service)(error)
  }
}

interface Signals {
  /** The first signal. */
  arrived: string | undefined
  /** What it does. */
  act(signal: string): void
}

/** Listens before there is anything to stop: what is being prepared, such as a database, must not be left behind. */
function listenForSignals(service: string): Signals {
  const signals: Signals = {
    arrived: undefined,
    act: () =>
      void process.stderr.write(`${service} stops once its preparation has ended; a second signal ends it now\n`),
  }
  let since = 0
  const take = (signal: string) => {
    // Ctrl-C reaches us from the terminal and again from npm: only a later one means "now".
    if (signals.arrived && performance.now() - since < SAME_SIGNAL_MS) return
    if (signals.arrived) process.exit(1)
    signals.arrived = signal
    since = performance.now()
    signals.act(signal)
  }
  for (const signal of STOP_SIGNALS) process.on(signal, () => take(signal))
  return signals
}

/** A database that is not there yet is waited for, with a line each time; a wrong one ends the start. */
async function connectPatiently(uri: string, log: Log): Promise<Mongo> {
  for (;;) {
    try {
      return await connectMongo(uri, log)
    } catch (error) {
      if (!isUnavailable(error)) throw error
      log.warn({ err: error }, 'the database of MONGODB_URI does not answer; trying again')
      await sleep(RETRY_MS)
    }
  }
}

function readOrExit(service: string, env: NodeJS.ProcessEnv): Config {
  try {
    return readConfig(env)
  } catch (error) {
    return giveUp(service)(error)
  }
}

/** Says why on standard error and exits: 78 for a faulty configuration, 1 for everything else. */
function giveUp(service: string): (error: unknown) => never {
  return error => {
    const text = error instanceof Error ? error.message : String(error)
    process.stderr.write(error instanceof ConfigError ? `${text}\n` : `${service} cannot start: ${text}\n`)
    process.exit(error instanceof ConfigError ? EX_CONFIG : 1)
  }
}

function requireUri(config: Config): string {
  if (config.MONGODB_URI) return config.MONGODB_URI
  throw new Error('MONGODB_URI is missing; only `npm start` brings a database of its own')
}

interface ProbeState {
  connected: boolean
  draining: boolean
  part?: Running
}

/** `/healthz`, `/readyz` and `/metrics`. */
async function serveProbes(config: Config, metrics: Metrics, state: ProbeState): Promise<Running> {
  const server = createServer((request, response) => {
    const answer = (status: number, text: string) =>
      response.writeHead(status, { 'content-type': 'text/plain; charset=utf-8' }).end(text)
    if (request.url === '/healthz') return probe(answer, 'ok', state.part?.notAlive?.())
    if (request.url === '/readyz') return probe(answer, 'ready', unready(state))
    if (request.url !== '/metrics') return answer(404, 'not found\n')
    metrics.registry.metrics().then(
      text => response.writeHead(200, { 'content-type': metrics.registry.contentType }).end(text),
      () => answer(500, 'metrics cannot be collected\n'),
    )
    return undefined
  })
  await listen(server, config.METRICS_PORT, config.APP_HOST, 'METRICS_PORT')
  return { stop: () => closeServer(server) }
}

function probe<T>(answer: (status: number, text: string) => T, good: string, fault: string | undefined): T {
  return fault === undefined ? answer(200, `${good}\n`) : answer(503, `${fault}\n`)
}

function unready({ draining, connected, part }: ProbeState): string | undefined {
  if (draining) return 'draining'
  return connected ? part?.notReady?.() : 'not connected to the database yet'
}

/** Binds a server; a taken port is named together with the setting that chose it. Resolves to the bound port. */
export function listen(server: NetServer, port: number, host: string, setting: string): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => reject(portError(error, port, host, setting)))
    server.listen(port, host, () => resolve((server.address() as AddressInfo).port))
  })
}

/** Turns EADDRINUSE and EACCES into a sentence that says which setting to change. */
function portError(error: NodeJS.ErrnoException, port: number, host: string, setting: string): Error {
  if (error.code === 'EADDRINUSE')
    return new Error(`port ${port} on ${host} is taken; stop the other program or set ${setting}`)
  if (error.code === 'EACCES')
    return new Error(`this user may not bind port ${port} on ${host}; choose a port of 1024 or more in ${setting}`)
  return error
}

/** Stops accepting, lets requests in hand finish, closes idle connections. */
export function closeServer(server: Server): Promise<void> {
  return new Promise(resolve => {
    server.close(() => resolve())
    server.closeIdleConnections()
    setTimeout(() => server.closeAllConnections(), 5_000).unref()
  })
}

/** Start and stop of a process: configuration, foundation, parts in order, and back in reverse on a signal. */

import { existsSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Clock } from '../clock.ts'
import { retry } from '../concurrency/retry.ts'
import { type DatabaseClock, readDatabaseTime, startDatabaseClock } from '../database/database-clock.ts'
import { migrate } from '../database/migrate.ts'
import { MIGRATIONS } from '../database/migrations.ts'
import { connectMongo, isUnavailable, type Mongo } from '../database/mongo.ts'
import { createLog, type Log } from '../observability/log.ts'
import { createMetrics, type Metrics } from '../observability/metrics.ts'
import type { Running } from '../running.ts'
import { createSecrets, type Secrets } from '../security/secrets.ts'
import { type Config, ConfigError, readConfig } from './config.ts'
import { serveProbes } from './probes.ts'

/** Dependencies of the parts of a process. */
export interface Foundation {
  config: Config
  log: Log
  metrics: Metrics
  mongo: Mongo
  secrets: Secrets
  clock: Clock
  /** Why the process accepts no traffic now; undefined: it does. */
  readiness?: () => string | undefined
  /** How far this machine's clock is ahead of the database's, in milliseconds. */
  clockSkewMs?: () => number
  /** A condition that needs attention although the process works; undefined: none. */
  warning?: () => string | undefined
  /** Aborted by the signal to stop, before anything is stopped. */
  stopping?: AbortSignal
}

/** Exit code for an invalid configuration (EX_CONFIG of sysexits.h). */
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

/** Several running parts as one, stopped in parallel; each finishes its work in flight, and none accepts new work. */
export function stoppedInParallel(parts: readonly Running[]): Running {
  return {
    async stop() {
      const ends = await Promise.allSettled(parts.map(part => part.stop()))
      const failures = ends.flatMap(end => (end.status === 'rejected' ? [end.reason] : []))
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
 * The lifecycle of an entry point: reads `.env` and the environment (exit 78 with all errors), serves the probes,
 * connects, builds, and stops in reverse order on the first of {@link STOP_SIGNALS}; a later second one exits
 * immediately. Waits for a database without a primary and then runs `build` again, so what it opened must be closed
 * when it rejects.
 */
export async function run(
  service: string,
  env: NodeJS.ProcessEnv,
  build: (foundation: Foundation) => Promise<Running>,
  prepare: (env: NodeJS.ProcessEnv) => Promise<Prepared> = async given => ({ env: given, parts: [] }),
): Promise<void> {
  if (existsSync('.env')) process.loadEnvFile('.env')
  // An error of a closed terminal would end the process before its parts are stopped.
  for (const output of [process.stdout, process.stderr]) output.on('error', () => undefined)
  const signals = listenForSignals(service)
  const prepared = await prepare(env).catch(exitWithError(service))
  const config = readOrExit(service, prepared.env)
  const log = createLog(config.LOG_LEVEL, service)
  const metrics = createMetrics(service)
  const life = new Life()
  const parts: Running[] = [...prepared.parts]
  const stop = async (signal: string) => {
    life.stopping.abort()
    log.info({ signal }, 'stopping')
    // Only a process that took traffic has a balancer that must notice. Without a delay listeners close in this turn.
    if (life.part && config.SHUTDOWN_DELAY_SECONDS > 0) await sleep(config.SHUTDOWN_DELAY_SECONDS * 1000)
    await together(...parts)
      .stop()
      .catch((error: unknown) => log.error({ err: error }, 'stopped with an error'))
    log.info({}, 'stopped')
    process.exit(0)
  }
  if (signals.arrived) return stop(signals.arrived)
  signals.onFirst = signal => void stop(signal)
  try {
    parts.push(await serveProbes(config, metrics, life))
    const uri = requireUri(config)
    const mongo = await patiently(log, () => connectMongo(uri, log))
    parts.push(mongo)
    metrics.mongoUp.set(1)
    mongo.connection.on('disconnected', () => metrics.mongoUp.set(0))
    mongo.connection.on('connected', () => metrics.mongoUp.set(1))
    life.connected = true
    const read = () => readDatabaseTime(mongo.db)
    const clock = await patiently(log, () => startDatabaseClock({ read, log, metrics }))
    parts.push(clock)
    life.clock = clock
    const secrets = createSecrets(config.SESSION_SECRET, config.SESSION_SECRET_PREVIOUS)
    const foundation: Foundation = {
      ...{ config, log, metrics, mongo, secrets, clock },
      readiness: () => life.notReady(),
      warning: () => life.warning(),
      clockSkewMs: () => clock.skewMs(),
      stopping: life.stopping.signal,
    }
    life.part = await patiently(log, async () => {
      await migrate(mongo.db, MIGRATIONS, log)
      return build(foundation)
    })
    parts.push(life.part)
    log.info({}, 'ready')
  } catch (error) {
    await together(...parts)
      .stop()
      .catch(() => undefined)
    exitWithError(service)(error)
  }
}

/** Start progress of a process, for its probes. */
class Life {
  connected = false
  clock: DatabaseClock | undefined
  /** Set once everything listens and can work. */
  part: Running | undefined
  readonly stopping = new AbortController()

  notReady(): string | undefined {
    if (this.stopping.signal.aborted) return 'draining'
    if (!this.connected) return 'not connected to the database yet'
    return this.part ? this.part.notReady?.() : 'starting'
  }

  notAlive(): string | undefined {
    return this.part?.notAlive?.()
  }

  warning(): string | undefined {
    return this.clock?.warning()
  }
}

interface Signals {
  /** The first signal. */
  arrived: string | undefined
  /** Handles the first signal. */
  onFirst(signal: string): void
}

/**
 * Listens before there is anything to stop, so that resources being prepared, such as a database, are stopped as well.
 */
function listenForSignals(service: string): Signals {
  const signals: Signals = {
    arrived: undefined,
    onFirst: () =>
      void process.stderr.write(`${service} stops once its preparation has ended; a second signal ends it now\n`),
  }
  let since = 0
  const take = (signal: string) => {
    // Ctrl-C reaches us from the terminal and again from npm: only a later one means "now".
    if (signals.arrived && performance.now() - since < SAME_SIGNAL_MS) return
    if (signals.arrived) process.exit(1)
    signals.arrived = signal
    since = performance.now()
    signals.onFirst(signal)
  }
  for (const signal of STOP_SIGNALS) process.on(signal, () => take(signal))
  return signals
}

/** Repeats a step of the start while the database is away or has no primary, with a line each time; other errors end it. */
function patiently<T>(log: Log, step: () => Promise<T>): Promise<T> {
  return retry(step, {
    pauseMs: RETRY_MS,
    on: isUnavailable,
    onRetry: error =>
      log.warn({ err: error }, 'the database of MONGODB_URI does not answer or has no primary; trying again'),
  })
}

function readOrExit(service: string, env: NodeJS.ProcessEnv): Config {
  try {
    return readConfig(env)
  } catch (error) {
    return exitWithError(service)(error)
  }
}

/** Prints the reason to standard error and exits: 78 for an invalid configuration, 1 for all other errors. */
function exitWithError(service: string): (error: unknown) => never {
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

/**
 * What an installation needs for a load, from what a message cost where it was measured (docs/performance.md). The test
 * compares it with those measurements; docs/scaling.md explains it.
 */

/** A load, and what the machines cost. */
export interface Load {
  /** Messages a day, with one recipient each. */
  messages: number
  /** How much the busiest minutes are above the mean. */
  peak: number
  /** Mean size in KiB. */
  kib: number
  /** Share that comes over HTTP. */
  http: number
  /** RETENTION_BODY_DAYS and RETENTION_LOG_DAYS. */
  bodyDays: number
  logDays: number
  /** Mean time that a receiving server takes for a message, in milliseconds. */
  replyMs: number
  /** Share of the largest receiver, and messages a second that it takes from one address. */
  largest: number
  perAddress: number
  /** Cores of a member of the database, and the GB of disk that one should have at most. */
  memberCores: number
  memberGb: number
  /** Speed of a core, where 1 is that of the measurements. */
  speed: number
  /** Money a month: of a core, and of a GB of disk. */
  core: number
  gb: number
}

/** A small installation. */
export const DEFAULTS: Load = {
  ...{ messages: 100_000, peak: 5, kib: 20, http: 0.5, bodyDays: 7, logDays: 30 },
  ...{ replyMs: 800, largest: 0.4, perAddress: 20, memberCores: 4, memberGb: 2_000, speed: 1, core: 15, gb: 0.1 },
}

/** CPU of a message in milliseconds. */
export interface Cpu {
  smtp: number
  send: number
  worker: number
  database: number
}

/** What is needed. */
export interface Needs {
  /** Messages a second at the peak. */
  rate: number
  cores: number
  smtp: number
  send: number
  workers: number
  shards: number
  /** Disk of one member, in GB, without the journal of replication and with it. */
  data: number
  disk: number
  addresses: number
  money: number
}

/** Of a message of 4 KiB, and of each KiB more: the table "Time per message by part", and the one at 50 KiB. */
const AT_4_KIB: Cpu = { smtp: 0.28, send: 0.51, worker: 0.75, database: 0.47 }
const PER_KIB: Cpu = { smtp: 0.009, send: 0.009, worker: 0.016, database: 0.0145 }
/** What can be used of a core while batches wait for each other. */
const USABLE = 0.8
/** A process has one main thread, and signatures are made beside it: messages a second of one process, at most. */
const MOST_OF_PROCESS = { smtp: 2_000, send: 1_200, worker: 1_000 }
/** Deliveries that a worker has in flight at most. */
const IN_FLIGHT = 4_000
/** Octets on disk of a message of one recipient in the log, its indexes and its words, measured. */
export const LOG_OCTETS = 127 + 81 + 280
/** Octets on disk of its events and their indexes, estimated. */
const EVENT_OCTETS = 250
/** Octets that replication records of a message besides its body. */
const OPLOG_OCTETS = 3_000
/** Hours that a member may be away without being copied anew. */
const OPLOG_DAYS = 1
const MEMBERS = 3
/** Room for what is removed and not given back yet. */
const FREE = 1.3
const DAY_SECONDS = 86_400
const GB = 1e9

/** CPU of a message of this size. */
export function cpuOf(kib: number): Cpu {
  const more = Math.max(0, kib - 4)
  const of = (part: keyof Cpu) => AT_4_KIB[part] + more * PER_KIB[part]
  return { smtp: of('smtp'), send: of('send'), worker: of('worker'), database: of('database') }
}

/** Messages a second, accepted over SMTP and delivered, that so many cores make alone. */
export function rateOf(cores: number, kib: number): number {
  const { smtp, worker, database } = cpuOf(kib)
  return (cores * USABLE * 1_000) / (smtp + worker + database)
}

/** What a load needs. Throws a RangeError for a value that makes no sense. */
export function needsOf(load: Load): Needs {
  for (const [name, value] of Object.entries(load))
    if (!(value >= 0 && value < 1e15)) throw new RangeError(`${name} must be a number from 0`)
  for (const name of ['peak', 'replyMs', 'perAddress', 'memberCores', 'memberGb', 'speed'] as const)
    if (load[name] === 0) throw new RangeError(`${name} must be more than 0`)
  for (const name of ['http', 'largest'] as const)
    if (load[name] > 1) throw new RangeError(`${name} is a share, from 0 to 1`)
  const rate = (load.messages * load.peak) / DAY_SECONDS
  const cpu = cpuOf(load.kib)
  const usable = 1_000 * USABLE * load.speed
  const coresFor = (messages: number, ms: number) => (messages * ms) / usable
  const processes = (messages: number, ms: number, most: number) =>
    messages === 0 ? 0 : Math.max(2, Math.ceil(messages / Math.min(most * load.speed, usable / ms)))
  const inFlight = (rate * load.replyMs) / 1_000
  const workers = Math.max(processes(rate, cpu.worker, MOST_OF_PROCESS.worker), Math.ceil(inFlight / IN_FLIGHT))
  const databaseCores = coresFor(rate, cpu.database)
  const data = (load.messages * (load.bodyDays * load.kib * 1_024 + load.logDays * (LOG_OCTETS + EVENT_OCTETS))) / GB
  const oplog = (load.messages * OPLOG_DAYS * (load.kib * 1_024 + OPLOG_OCTETS)) / GB
  const disk = (data + oplog) * FREE
  const shards = Math.max(1, Math.ceil(databaseCores / load.memberCores), Math.ceil(disk / load.memberGb))
  const cores =
    coresFor(rate * (1 - load.http), cpu.smtp) + coresFor(rate * load.http, cpu.send) + coresFor(rate, cpu.worker)
  const members = shards * MEMBERS
  return {
    rate,
    cores: cores + members * load.memberCores,
    smtp: processes(rate * (1 - load.http), cpu.smtp, MOST_OF_PROCESS.smtp),
    send: processes(rate * load.http, cpu.send, MOST_OF_PROCESS.send),
    workers,
    shards,
    data: data / shards,
    disk: disk / shards,
    addresses: Math.max(1, Math.ceil((rate * load.largest) / load.perAddress)),
    money: (cores + members * load.memberCores) * load.core + disk * MEMBERS * load.gb,
  }
}

/** Real mongods that tests kill, restart and step down: a replica set of one or three members. */
import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import mongoose from 'mongoose'
import { SAFE_FLAGS } from '../../../services/platform/mongod/embedded-mongod.ts'
import { freePort, mongodBinary } from './test-mongod.ts'

/** A replica set under test. */
export interface ReplicaSet {
  uri: string
  /** Kills a member with SIGKILL and restarts it with the same files. */
  killAndRestart(member: number): Promise<void>
  /** Makes the primary step down for ten seconds. */
  stepDown(): Promise<void>
  /** Index of the current primary. Rejects if there is none within a minute. */
  primary(): Promise<number>
  stop(): Promise<void>
}

/** Longest wait for the first answer of a mongod. */
const START_MS = 60_000
/** Longest wait for a primary. */
const ELECTION_MS = 60_000
/** Longest wait for an answer of one that runs or was restarted. */
const ANSWER_MS = 20_000

interface Member {
  port: number
  folder: string
  child: ChildProcess
}

/** Starts the set and waits for its primary. */
export async function startReplicaSet(size: number): Promise<ReplicaSet> {
  const members: Member[] = []
  for (let i = 0; i < size; i++) {
    const folder = await mkdtemp(join(tmpdir(), 'pw-set-'))
    const port = await freePort()
    members.push({ port, folder, child: await start(port, folder) })
  }
  const [first] = members
  if (!first) throw new Error('a set needs members')
  for (const { port } of members) await admin(port, { hello: 1 }, START_MS) // initiation contacts all of them in parallel
  await admin(first.port, {
    replSetInitiate: {
      _id: 'kill',
      members: members.map(({ port }, _id) => ({ _id, host: `127.0.0.1:${port}` })),
      settings: { electionTimeoutMillis: 2_000 },
    },
  })
  const primary = async () => {
    const deadline = performance.now() + ELECTION_MS
    while (performance.now() < deadline) {
      for (const [index, { port }] of members.entries()) {
        const hello = await admin(port, { hello: 1 }).catch(() => undefined)
        if (hello?.isWritablePrimary === true) return index
      }
      await sleep(100)
    }
    throw new Error(`the replica set has had no primary for ${ELECTION_MS} ms`)
  }
  await primary()
  return {
    uri: `mongodb://${members.map(({ port }) => `127.0.0.1:${port}`).join(',')}/?replicaSet=kill`,
    primary,
    async killAndRestart(index) {
      const member = members[index]
      if (!member) throw new Error('no such member')
      const ended = new Promise(resolve => member.child.once('exit', resolve))
      member.child.kill('SIGKILL')
      await ended
      member.child = await start(member.port, member.folder)
    },
    async stepDown() {
      const member = members[await primary()]
      if (member) await admin(member.port, { replSetStepDown: 10, force: true })
    },
    async stop() {
      for (const { child, folder } of members) {
        const ended = new Promise(resolve => child.once('exit', resolve))
        child.kill('SIGKILL')
        await ended
        await rm(folder, { recursive: true, force: true })
      }
    },
  }
}

async function start(port: number, folder: string): Promise<ChildProcess> {
  const flags = ['--replSet', 'kill', '--dbpath', folder, '--port', String(port), '--bind_ip', '127.0.0.1']
  return spawn(await mongodBinary(), [...flags, '--wiredTigerCacheSizeGB', '0.25', ...SAFE_FLAGS], { stdio: 'ignore' })
}

async function admin(
  port: number,
  command: Record<string, unknown>,
  serverSelectionTimeoutMS = ANSWER_MS,
): Promise<Record<string, unknown>> {
  const connection = await mongoose
    .createConnection(`mongodb://127.0.0.1:${port}/admin?directConnection=true`, { serverSelectionTimeoutMS })
    .asPromise()
  try {
    return (await connection.db?.admin().command(command)) ?? {}
  } finally {
    await connection.close()
  }
}

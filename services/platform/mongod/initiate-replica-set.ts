/** Initiates a replica set of one with one user in the mongod of the next container: for the chart's trial database. */
import { setTimeout as sleep } from 'node:timers/promises'
import mongoose from 'mongoose'
import { isMongoCode } from '../database/mongo.ts'

/** The set and the user that the connection string of the trial names. */
export const TRIAL_SET = 'postwright'
export const TRIAL_USER = 'postwright'

/**
 * Initiates the set under `member` (host:port as clients reach it) and creates the user. Safe to repeat: existing parts
 * stay. Uses the localhost exception, so it must run next to the mongod. Rejects after `limitMs`.
 */
export async function initiateTrialMongod(
  port: number,
  member: string,
  password: string,
  limitMs: number,
): Promise<void> {
  const deadline = Date.now() + limitMs
  const login = `${TRIAL_USER}:${encodeURIComponent(password)}@`
  while (!(await answersPrimary(login, port))) {
    if (Date.now() > deadline)
      throw new Error(`the database did not become a primary with our user within ${limitMs / 1000} s`)
    await command('', port, { replSetInitiate: { _id: TRIAL_SET, members: [{ _id: 0, host: member }] } }).catch(
      expected,
    )
    await command('', port, { createUser: TRIAL_USER, pwd: password, roles: ['root'] }).catch(expected)
    await sleep(250)
  }
}

async function answersPrimary(login: string, port: number): Promise<boolean> {
  return command(login, port, { hello: 1 }).then(
    answer => answer.isWritablePrimary === true,
    () => false,
  )
}

/**
 * Not started yet, no primary yet (10107), initiated before (23), user created before (13, 51003): the loop tries
 * again.
 */
function expected(error: unknown): undefined {
  if (error instanceof Error && /^Mongo(ose)?ServerSelection/.test(error.name)) return undefined
  if ([13, 23, 94, 10_107, 51_003].some(code => isMongoCode(error, code))) return undefined
  throw error
}

async function command(
  login: string,
  port: number,
  document: Record<string, unknown>,
): Promise<Record<string, unknown>> {
  const uri = `mongodb://${login}127.0.0.1:${port}/admin?directConnection=true`
  const connection = await mongoose.createConnection(uri, { serverSelectionTimeoutMS: 2_000 }).asPromise()
  try {
    if (!connection.db) throw new Error('no database')
    return await connection.db.admin().command(document)
  } finally {
    await connection.close()
  }
}

/**
 * Starts one real mongod for all test files of a run, or uses TEST_MONGODB_URI. With TEST_SHARDS there are so many, behind a
 * router that divides the mail between them, for the tests of the delivery engine (docs/scaling.md).
 */
import { startShardRouter } from './database/shards/shard-router.ts'
import { startTestMongod } from './database/test-mongod.ts'
import { MissingProgram } from './programs/missing-program.ts'

/** The mongod, or why there is none: the tests that need it are skipped, see `sharedMongoUri`. */
export type SharedMongod = { uri: string } | { reason: string; install: string }

export default async function setup(project: { provide(key: 'mongo', value: SharedMongod): void }) {
  const given = process.env.TEST_MONGODB_URI
  if (given) {
    project.provide('mongo', { uri: given })
    return undefined
  }
  try {
    const { uri, stop } = await startServer(Number(process.env.TEST_SHARDS ?? 1))
    project.provide('mongo', { uri })
    return stop
  } catch (error) {
    if (!(error instanceof MissingProgram)) throw error
    process.stderr.write(`tests: those that need a database are skipped: ${error.message}\n`)
    project.provide('mongo', { reason: error.reason, install: error.install })
    return undefined
  }
}

async function startServer(shards: number): Promise<{ uri: string; stop(): Promise<void> }> {
  if (shards === 1) return startTestMongod()
  const sets = await Promise.all(Array.from({ length: shards }, () => startTestMongod()))
  const router = await startShardRouter(sets.map(({ uri }) => uri))
  return {
    uri: router.uri,
    async stop() {
      for (const line of new Set(router.refused)) process.stderr.write(`refused by the router: ${line}\n`)
      await router.stop()
      await Promise.all(sets.map(set => set.stop()))
    },
  }
}

declare module 'vitest' {
  interface ProvidedContext {
    mongo: SharedMongod
  }
}

/** Starts one real mongod for all test files of a run, or uses TEST_MONGODB_URI. */

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
    const { uri, stop } = await startTestMongod()
    project.provide('mongo', { uri })
    return stop
  } catch (error) {
    if (!(error instanceof MissingProgram)) throw error
    process.stderr.write(`tests: those that need a database are skipped: ${error.message}\n`)
    project.provide('mongo', { reason: error.reason, install: error.install })
    return undefined
  }
}

declare module 'vitest' {
  interface ProvidedContext {
    mongo: SharedMongod
  }
}

/** Starts one real mongod for all test files of a run, or uses TEST_MONGODB_URI. */
import { startTestMongod } from './mongod.ts'

export default async function setup(project: { provide(key: 'mongoUri', value: string): void }) {
  const given = process.env.TEST_MONGODB_URI
  if (given) {
    project.provide('mongoUri', given)
    return
  }
  const mongod = await startTestMongod()
  project.provide('mongoUri', mongod.uri)
  return () => mongod.stop()
}

declare module 'vitest' {
  interface ProvidedContext {
    mongoUri: string
  }
}

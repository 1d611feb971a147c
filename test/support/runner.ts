/** Runs tests as vitest does, and skips those that lack a program ({@link MissingProgram}) with the reason. */
import { appendFileSync } from 'node:fs'
import { type RunnerTask, type RunnerTestCase, type RunnerTestSuite, TestRunner, type TestTryOptions } from 'vitest'

export default class SkippingRunner extends TestRunner {
  override async onAfterRetryTask(test: RunnerTestCase, options: TestTryOptions): Promise<void> {
    await super.onAfterRetryTask(test, options)
    const reason = missingIn(test)
    if (reason === undefined || !test.result) return
    // Vitest ends a test in this state immediately, also before a retry.
    test.result.state = 'skip'
    delete test.result.errors
    note(test, reason)
  }

  override async onAfterRunSuite(suite: RunnerTestSuite): Promise<void> {
    const reason = missingIn(suite)
    if (reason !== undefined && suite.result) {
      suite.result.state = 'skip'
      // Later errors are those of hooks that clean up what was never created.
      delete suite.result.errors
      for (const test of testsOf(suite)) note(test, reason)
    }
    await super.onAfterRunSuite(suite)
  }
}

function missingIn(task: RunnerTask): string | undefined {
  const [first] = task.result?.errors ?? []
  return first?.name === 'MissingProgram' ? first.message : undefined
}

function testsOf(suite: RunnerTestSuite): RunnerTask[] {
  return suite.tasks.flatMap(task => (task.type === 'suite' ? testsOf(task) : [task]))
}

/** For scripts/test.ts, which prints each skipped test with its reason. */
function note(test: RunnerTask, reason: string): void {
  const path = process.env.TEST_SKIPS
  if (path) appendFileSync(path, `${JSON.stringify({ name: fullName(test), reason })}\n`)
}

function fullName(task: RunnerTask): string {
  const { suite } = task
  return suite && suite.type === 'suite' && 'suite' in suite && suite.name
    ? `${fullName(suite)} ${task.name}`
    : task.name
}

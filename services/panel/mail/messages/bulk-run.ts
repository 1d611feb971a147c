/** Runs an action on many messages, a few at a time. */
import { ApiProblem } from '../../api/problem.ts'
import { isInProgress } from './mail-statuses.ts'
import type { ListedMessage } from './message-table.tsx'

export type BulkAction = 'retry' | 'cancel'

/** Requests in flight: the service answers each within milliseconds, and limits what an account asks for in a second. */
const AT_ONCE = 4
/** A request that came too early for the rate of the account is repeated so often, after the time that the service names. */
const REPEATS = 5

/** Messages that the action changes, and how many of their recipients. */
export function eligibleFor(
  action: BulkAction,
  messages: readonly ListedMessage[],
): { messages: readonly ListedMessage[]; recipients: number } {
  const waiting = ({ recipients }: ListedMessage) =>
    recipients.filter(({ status }) => (action === 'retry' ? status === 'deferred' : isInProgress(status))).length
  const eligible = messages.filter(message => waiting(message) > 0)
  return { messages: eligible, recipients: eligible.reduce((sum, message) => sum + waiting(message), 0) }
}

export interface BulkProgress {
  /** Messages that are done, those that failed included. */
  done: number
  failures: readonly { message: ListedMessage; error: unknown }[]
}

/** Resolves when all are done; a failure of one does not stop the others. */
export async function runBulk(
  messages: readonly ListedMessage[],
  act: (id: string) => Promise<unknown>,
  report: (progress: BulkProgress) => void,
  pause: (seconds: number) => Promise<void> = seconds => new Promise(go => setTimeout(go, seconds * 1000)),
): Promise<void> {
  let progress: BulkProgress = { done: 0, failures: [] }
  const waiting = [...messages]
  report(progress)
  const work = async () => {
    for (let message = waiting.shift(); message !== undefined; message = waiting.shift()) {
      const { id } = message
      const error = await attempt(() => act(id), pause)
      const failures = error === undefined ? progress.failures : [...progress.failures, { message, error }]
      progress = { done: progress.done + 1, failures }
      report(progress)
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, work))
}

/** The error of the last try, or undefined. */
async function attempt(act: () => Promise<unknown>, pause: (seconds: number) => Promise<void>): Promise<unknown> {
  for (let repeat = 0; ; repeat++) {
    try {
      await act()
      return undefined
    } catch (error) {
      if (!(error instanceof ApiProblem) || error.status !== 429 || repeat === REPEATS) return error
      await pause(Math.max(1, error.retryAfter ?? 1))
    }
  }
}

/** Runs an action on many subscriptions in parts, so that its progress is known and a failed part does not lose the rest. */

/** What became of one subscription; `message` is the reason of a failure. */
export interface BatchResult {
  id: string
  done: boolean
  message: string
}

/** Subscriptions of one request: small enough that progress is seen, large enough that 500 take few requests. */
export const PART = 20

/**
 * Calls `act` with the ids in parts, one after the other, and `report` after each with all results so far. The ids of a
 * request that fails count as failed with its text; the following parts are tried.
 */
export async function runBatch(
  ids: readonly string[],
  act: (ids: string[]) => Promise<readonly BatchResult[]>,
  report: (results: readonly BatchResult[]) => void,
  textOf: (error: unknown) => string,
): Promise<BatchResult[]> {
  const results: BatchResult[] = []
  for (let at = 0; at < ids.length; at += PART) {
    const part = ids.slice(at, at + PART)
    try {
      results.push(...(await act(part)))
    } catch (error) {
      const message = textOf(error)
      results.push(...part.map(id => ({ id, done: false, message })))
    }
    report([...results])
  }
  return results
}

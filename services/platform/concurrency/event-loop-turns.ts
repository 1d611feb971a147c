/** Keeps long work (parsing, encoding, compressing large messages) from holding up everything else that a process does. */

const waiting: (() => void)[] = []

/**
 * Resolves after one round of the event loop, in which timers and other requests are processed. Of all long work of the
 * process one piece runs per round, however many requests are in flight.
 */
export function nextTurn(): Promise<void> {
  return new Promise(resolve => {
    if (waiting.push(resolve) === 1) setImmediate(takeTurn)
  })
}

function takeTurn(): void {
  waiting.shift()?.()
  // An immediate scheduled here runs in the next round.
  if (waiting.length > 0) setImmediate(takeTurn)
}

/** Processing this many bytes of a large message takes some milliseconds; then the event loop is yielded. */
export const TURN_BYTES = 1024 * 1024

/** Counts the bytes that one piece of work has processed, and yields the event loop after each {@link TURN_BYTES}. */
export function countTurns(): (bytes: number) => Promise<void> {
  let turn = 0
  return async bytes => {
    turn += bytes
    if (turn < TURN_BYTES) return
    turn = 0
    await nextTurn()
  }
}

/** The result of work whose steps yield how many bytes they processed. */
export async function runInTurns<T>(work: Generator<number, T>): Promise<T> {
  const processed = countTurns()
  for (;;) {
    const step = work.next()
    if (step.done) return step.value
    await processed(step.value)
  }
}

/** All pieces in one buffer, copied in turns. */
export async function concatInTurns(pieces: readonly Uint8Array[]): Promise<Buffer> {
  const joined = Buffer.allocUnsafeSlow(pieces.reduce((bytes, piece) => bytes + piece.length, 0))
  const processed = countTurns()
  let at = 0
  for (const piece of pieces)
    for (let from = 0; from < piece.length; from += TURN_BYTES) {
      const slice = piece.subarray(from, from + TURN_BYTES)
      joined.set(slice, at)
      at += slice.length
      await processed(slice.length)
    }
  return joined
}

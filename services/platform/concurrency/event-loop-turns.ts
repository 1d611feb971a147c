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

/** All pieces in one buffer, copied in turns. */
export async function concatInTurns(pieces: readonly Uint8Array[]): Promise<Buffer> {
  const joined = Buffer.allocUnsafeSlow(pieces.reduce((bytes, piece) => bytes + piece.length, 0))
  let at = 0
  let turn = 0
  for (const piece of pieces)
    for (let from = 0; from < piece.length; from += TURN_BYTES) {
      const slice = piece.subarray(from, from + TURN_BYTES)
      joined.set(slice, at)
      at += slice.length
      turn += slice.length
      if (turn < TURN_BYTES) continue
      turn = 0
      await nextTurn()
    }
  return joined
}

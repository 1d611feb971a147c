/** Keeps long work (parsing, encoding, compressing large messages) from holding up everything else that a process does. */

const waiting: (() => void)[] = []

/**
 * Resolves when the event loop has gone round: timers and other requests have had their turn. Of all long work of the
 * process one piece runs in each round, however many requests are being worked on.
 */
export function nextTurn(): Promise<void> {
  return new Promise(resolve => {
    if (waiting.push(resolve) === 1) setImmediate(takeTurn)
  })
}

function takeTurn(): void {
  waiting.shift()?.()
  // An immediate that is asked for here runs in the next round.
  if (waiting.length > 0) setImmediate(takeTurn)
}

/** Work on so many bytes of a large message takes some milliseconds: others have their turn after it. */
export const TURN_BYTES = 1024 * 1024

/** All pieces in one buffer, copied in turns. */
export async function concatInTurns(pieces: readonly Uint8Array[]): Promise<Buffer> {
  const whole = Buffer.allocUnsafeSlow(pieces.reduce((bytes, piece) => bytes + piece.length, 0))
  let at = 0
  let turn = 0
  for (const piece of pieces)
    for (let from = 0; from < piece.length; from += TURN_BYTES) {
      const slice = piece.subarray(from, from + TURN_BYTES)
      whole.set(slice, at)
      at += slice.length
      turn += slice.length
      if (turn < TURN_BYTES) continue
      turn = 0
      await nextTurn()
    }
  return whole
}

/** Runs the work and answers how many turns of the event loop others had meanwhile. */
export async function turnsDuring(work: () => Promise<unknown>): Promise<number> {
  let turns = 0
  let over = false
  const turn = () => {
    turns++
    if (!over) setImmediate(turn)
  }
  setImmediate(turn)
  try {
    await work()
  } finally {
    over = true
  }
  return turns
}

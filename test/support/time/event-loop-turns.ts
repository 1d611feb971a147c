/** Runs the work and returns the number of event loop turns that other work had until it ended. */
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

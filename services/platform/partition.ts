/** Those for which the test is true, and the others; both in their order. */
export function split<T>(all: Iterable<T>, test: (item: T) => boolean): [T[], T[]] {
  const yes: T[] = []
  const no: T[] = []
  for (const item of all) (test(item) ? yes : no).push(item)
  return [yes, no]
}

/** Reading the part of an address behind the question mark. */

/** The named texts that are there and not empty. */
export function stringParams<K extends string>(
  raw: Record<string, unknown>,
  names: readonly K[],
): { [N in K]?: string } {
  const found: { [N in K]?: string } = {}
  for (const name of names) {
    const value = raw[name]
    // The router reads digits in an address as a number.
    const text = typeof value === 'number' ? String(value) : value
    if (typeof text === 'string' && text !== '') found[name] = text
  }
  return found
}

type Defined<T> = { [N in keyof T as undefined extends T[N] ? N : never]?: Exclude<T[N], undefined> } & {
  [N in keyof T as undefined extends T[N] ? never : N]: T[N]
}

/** An object without the entries that are undefined, so that they do not stand in the address. */
export function omitUndefined<T extends object>(values: T): Defined<T> {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as Defined<T>
}

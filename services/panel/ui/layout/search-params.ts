/** Parsing search parameters of addresses. */

/** The named parameters that are non-empty strings. */
export function stringParams<K extends string>(
  raw: Record<string, unknown>,
  names: readonly K[],
): { [N in K]?: string } {
  const found: { [N in K]?: string } = {}
  for (const name of names) {
    const value = raw[name]
    // The router parses digits as a number.
    const text = typeof value === 'number' ? String(value) : value
    if (typeof text === 'string' && text !== '') found[name] = text
  }
  return found
}

type Defined<T> = { [N in keyof T as undefined extends T[N] ? N : never]?: Exclude<T[N], undefined> } & {
  [N in keyof T as undefined extends T[N] ? never : N]: T[N]
}

/** Drops undefined properties, which the router would write into the address. */
export function omitUndefined<T extends object>(values: T): Defined<T> {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as Defined<T>
}

/** Values that are loaded at the first use and shared by all later ones. A failed load is repeated by the next use. */

/** One value; `reset` makes the next `get` load again. */
export interface Loaded<T> {
  get(): Promise<T>
  reset(): void
}

/** Loads one value at most once at a time. */
export function loadOnce<T>(load: () => Promise<T>): Loaded<T> {
  let value: Promise<T> | undefined
  return {
    get() {
      const current = value ?? load()
      value = current
      current.catch(() => {
        if (value === current) value = undefined
      })
      return current
    },
    reset() {
      value = undefined
    },
  }
}

/** Loads one value for each key at most once at a time. `known` may be given values that came another way. */
export function loadEach<T>(
  load: (key: string) => Promise<T>,
  known = new Map<string, Promise<T>>(),
): (key: string) => Promise<T> {
  return key => {
    const value = known.get(key) ?? load(key)
    known.set(key, value)
    value.catch(() => known.get(key) === value && known.delete(key))
    return value
  }
}

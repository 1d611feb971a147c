/** Keys taken round robin over namespaces, so that one with thousands of resources does not delay the others. */

/** Waiting keys (`namespace/name`) with a value each. */
export interface RoundRobin<V> {
  readonly size: number
  get(key: string): V | undefined
  /** Adds a key after the others of its namespace, or replaces its value in place. */
  set(key: string, value: V): void
  delete(key: string): void
  /** Removes and returns the oldest key of the namespace whose turn it is. */
  take(): { key: string; value: V } | undefined
}

/** An empty set of keys. All operations take constant time. */
export function createRoundRobin<V>(): RoundRobin<V> {
  /** The first namespace is next. */
  const namespaces = new Map<string, Map<string, V>>()
  let size = 0
  const namespaceOf = (key: string) => key.slice(0, key.indexOf('/') + 1)
  const remove = (key: string) => {
    const namespace = namespaceOf(key)
    const keys = namespaces.get(namespace)
    if (!keys?.delete(key)) return
    size--
    if (keys.size === 0) namespaces.delete(namespace)
  }
  return {
    get size() {
      return size
    },
    get: key => namespaces.get(namespaceOf(key))?.get(key),
    set(key, value) {
      const namespace = namespaceOf(key)
      const keys = namespaces.get(namespace) ?? new Map<string, V>()
      if (!keys.has(key)) size++
      keys.set(key, value)
      namespaces.set(namespace, keys)
    },
    delete: remove,
    take() {
      for (const [namespace, keys] of namespaces)
        for (const [key, value] of keys) {
          remove(key)
          if (namespaces.delete(namespace)) namespaces.set(namespace, keys) // to the end of the line
          return { key, value }
        }
      return undefined
    },
  }
}

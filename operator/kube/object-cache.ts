/** Objects of one kind as the API server last showed them, without managedFields, which are not used. */
import { keyOf } from './object-paths.ts'

/** The least that an object of the API server has. */
export interface KubeObject {
  metadata: {
    name: string
    namespace?: string
    uid: string
    resourceVersion: string
    generation?: number
    creationTimestamp: string
    deletionTimestamp?: string
    finalizers?: string[]
    annotations?: Record<string, string>
    labels?: Record<string, string>
    ownerReferences?: { uid: string; kind: string; name: string }[]
  }
}

/** A change: `before` is absent for a new object, `after` for a deleted one. */
export interface Change {
  key: string
  before: KubeObject | undefined
  after: KubeObject | undefined
  /** Part of the first list after a start. */
  initial: boolean
}

/** Names under which an object is found again, such as the domain that it declares. */
export type IndexFunction = (object: KubeObject) => readonly string[]

/** A cache with indexes and listeners. */
export interface ObjectCache {
  get(key: string): KubeObject | undefined
  keys(): Iterable<string>
  size(): number
  /** Keys of the objects that an index files under this name. */
  find(index: string, name: string): readonly string[]
  addIndex(index: string, of: IndexFunction): void
  onChange(listener: (change: Change) => void): void
  /** Stores an object, unless the cache has a newer one or its deletion was seen after this revision. */
  put(object: KubeObject, initial?: boolean): void
  /** Removes a deleted object, given in its last state: a newer one with the same name stays. */
  remove(object: KubeObject): void
  /** Stores a complete list, of one namespace or of all: objects that are not in it are removed. */
  replace(objects: Iterable<KubeObject>, initial: boolean, namespace?: string): void
}

/** Number of remembered deletions: responses are late by milliseconds, not by thousands of deletions. */
const MAX_ENDED = 10_000

/** An empty cache. `onError` gets what a listener throws: one bad listener must not end a watch. */
export function createCache(onError: (error: unknown) => void): ObjectCache {
  const objects = new Map<string, KubeObject>()
  const indexes = new Map<string, { of: IndexFunction; keys: Map<string, Set<string>> }>()
  const listeners: ((change: Change) => void)[] = []

  const file = (index: { of: IndexFunction; keys: Map<string, Set<string>> }, key: string, change: Partial<Change>) => {
    for (const name of change.before ? index.of(change.before) : []) {
      const keys = index.keys.get(name)
      keys?.delete(key)
      if (keys?.size === 0) index.keys.delete(name)
    }
    for (const name of change.after ? index.of(change.after) : []) {
      const keys = index.keys.get(name) ?? new Set()
      index.keys.set(name, keys.add(key))
    }
  }
  const notify = (change: Change) => {
    for (const index of indexes.values()) file(index, change.key, change)
    for (const listener of listeners) {
      try {
        listener(change)
      } catch (error) {
        onError(error)
      }
    }
  }
  /** Revisions at which objects ended, by uid: the answer to our own write may arrive after the watch reported the deletion. */
  const ended = new Map<string, string>()
  const end = (uid: string, revision: string) => {
    ended.set(uid, revision)
    const [oldest] = ended.keys()
    if (ended.size > MAX_ENDED && oldest !== undefined) ended.delete(oldest)
  }
  const put = (object: KubeObject, initial = false) => {
    const key = idOf(object)
    const before = objects.get(key)
    const last = ended.get(object.metadata.uid)
    if (last !== undefined && !isLater(object.metadata.resourceVersion, last)) return
    if (before && !isNewer(object, before)) return
    if (before && before.metadata.uid !== object.metadata.uid) end(before.metadata.uid, object.metadata.resourceVersion)
    const after = trimmed(object)
    objects.set(key, after)
    notify({ key, before, after, initial })
  }
  const drop = (key: string) => {
    const before = objects.get(key)
    if (!objects.delete(key)) return
    notify({ key, before, after: undefined, initial: false })
  }
  const remove = (object: KubeObject) => {
    end(object.metadata.uid, object.metadata.resourceVersion)
    if (objects.get(idOf(object))?.metadata.uid === object.metadata.uid) drop(idOf(object))
  }
  return {
    get: key => objects.get(key),
    keys: () => objects.keys(),
    size: () => objects.size,
    find: (index, name) => [...(indexes.get(index)?.keys.get(name) ?? [])],
    addIndex(name, of) {
      const index = { of, keys: new Map<string, Set<string>>() }
      indexes.set(name, index)
      for (const [key, after] of objects) file(index, key, { after })
    },
    onChange: listener => void listeners.push(listener),
    put,
    remove,
    replace(list, initial, namespace) {
      const seen = new Set<string>()
      for (const object of list) {
        seen.add(idOf(object))
        put(object, initial)
      }
      const within = namespace === undefined ? '' : `${namespace}/`
      for (const key of [...objects.keys()]) if (key.startsWith(within) && !seen.has(key)) drop(key)
    },
  }
}

/**
 * Revisions of one object are comparable numbers (KEP-5504). An object that was deleted and made again has another uid
 * and counts as newer.
 */
function isNewer(object: KubeObject, than: KubeObject): boolean {
  if (object.metadata.uid !== than.metadata.uid) return true
  return isLater(object.metadata.resourceVersion, than.metadata.resourceVersion)
}

function isLater(revision: string, than: string): boolean {
  return BigInt(revision) > BigInt(than)
}

function idOf({ metadata }: KubeObject): string {
  return keyOf({ namespace: metadata.namespace ?? '', name: metadata.name })
}

function trimmed(object: KubeObject): KubeObject {
  const { managedFields: _, ...metadata } = object.metadata as KubeObject['metadata'] & { managedFields?: unknown }
  return { ...object, metadata }
}

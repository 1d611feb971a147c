/** Counts by key. */

/** Adds `change`, which may be negative, and answers the new count. A key whose count is not above zero is forgotten. */
export function addTo<Key>(counts: Map<Key, number>, key: Key, change: number): number {
  const count = (counts.get(key) ?? 0) + change
  if (count > 0) counts.set(key, count)
  else counts.delete(key)
  return count
}

/** Ownership records of external-dns: which sets they speak of. The work grows with the number of sets, not its square. */
import { parseTxt } from '../../records/record.ts'
import type { RecordSet } from '../record-sets/record-set.ts'

type Named = Pick<RecordSet, 'name' | 'type' | 'values'>

const OWNERSHIP = /^heritage=external-dns(?:,|$)/
/** What may stand between a configured prefix and the name of an ownership record. */
const SEPARATORS = ['.', '_', '-']
/** Labels that a configured suffix may add to the name of an ownership record. */
const SUFFIX_LABELS = 3

/**
 * A check whether a set belongs to external-dns, by the ownership records among these sets. Such a record is named `a-www`
 * for the address of `www`, with a configured text before or after it, or like its record in old versions, which had none
 * for TXT. Ownership records are foreign themselves only where they are the set: beside others, they stay as they are.
 */
export function ownershipIn(sets: readonly Named[]): (set: Named) => boolean {
  const names = new Set(
    sets.flatMap(({ name, type, values }) => (type === 'TXT' && values.some(isOwnership) ? [name] : [])),
  )
  const backwards = sortedList([...names].map(reversed))
  const byParent = sortedList([...names].flatMap(placesOf))
  return ({ name, type, values }) => {
    if (type === 'TXT' && values.length > 0 && values.every(isOwnership)) return true
    if (type !== 'TXT' && names.has(name)) return true
    const marked = `${type.toLowerCase()}-${name}`
    if (names.has(marked)) return true
    const end = reversed(marked)
    if (SEPARATORS.some(separator => backwards.hasPrefix(`${end}${separator}`))) return true
    const label = marked.split('.')[0] ?? ''
    return byParent.hasPrefix(`${parentOf(name)} ${label}-`)
  }
}

function isOwnership(value: string): boolean {
  return OWNERSHIP.test(parseTxt(value))
}

/** The name below each of the nearest domains above it, as `domain rest`. */
function placesOf(name: string): string[] {
  const places: string[] = []
  for (let dot = name.indexOf('.'); dot >= 0 && places.length <= SUFFIX_LABELS; dot = name.indexOf('.', dot + 1))
    places.push(`${name.slice(dot + 1)} ${name.slice(0, dot)}`)
  return places
}

function parentOf(name: string): string {
  const dot = name.indexOf('.')
  return dot < 0 ? '' : name.slice(dot + 1)
}

function reversed(text: string): string {
  return text.split('').reverse().join('')
}

/** Texts in which a prefix is found by halving. */
function sortedList(texts: readonly string[]): { hasPrefix(prefix: string): boolean } {
  const sorted = texts.toSorted()
  return {
    hasPrefix(prefix) {
      let [low, high] = [0, sorted.length]
      while (low < high) {
        const middle = (low + high) >> 1
        if ((sorted[middle] ?? '') < prefix) low = middle + 1
        else high = middle
      }
      return sorted[low]?.startsWith(prefix) ?? false
    },
  }
}

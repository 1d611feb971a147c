/** The changes of a release as Artifact Hub shows them next to the chart. */
import { type Category, type Entry, textOf } from './changelog.ts'

/** A change in the format of the annotation `artifacthub.io/changes`. */
export interface HubChange {
  kind: Lowercase<Category>
  description: string
}

/** Charts keep their metadata in the Secret of each Helm release, which is bounded: more is left to the changelog. */
const MOST = 100
const LONGEST = 200

/** The first sentence of each entry. */
export function changesOf(entries: readonly Entry[]): HubChange[] {
  const changes = entries.slice(0, MOST).map(entry => ({
    kind: entry.category.toLowerCase() as HubChange['kind'],
    description: shorten(firstSentence(textOf(entry))),
  }))
  if (entries.length <= MOST) return changes
  return [...changes, { kind: 'changed', description: `${entries.length - MOST} more changes: see the changelog` }]
}

/** Up to the first end of a sentence that a capital letter or nothing follows; a colon does not end one. */
function firstSentence(text: string): string {
  return /^.*?[.](?=\s+[A-Z`]|$)/.exec(text)?.[0] ?? text
}

function shorten(text: string): string {
  return text.length <= LONGEST ? text : `${text.slice(0, text.lastIndexOf(' ', LONGEST - 1))} …`
}

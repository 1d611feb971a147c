/** The changelog as data: its sections, and the section of a release made of what is unreleased. */
import { ReleaseError } from './release-error.ts'
import { finalVersion, isPrerelease } from './version.ts'

/** Categories of Keep a Changelog, in the order of our sections. */
const CATEGORIES = ['Added', 'Changed', 'Deprecated', 'Removed', 'Fixed', 'Security'] as const

/** What a change is about. */
export type Category = (typeof CATEGORIES)[number]

/** One change: its lines as they are written, without the bullet and the indentation. */
export interface Entry {
  category: Category
  lines: string[]
}

/** A section: `title` is `Unreleased`, or the version. */
interface Section {
  title: string
  /** Sentences before the first category. */
  introduction: string
  entries: Entry[]
}

const HEADING = /^## (?<title>\S+)(?: - (?<date>\d{4}-\d{2}-\d{2}))?$/
const UNRELEASED = 'Unreleased'

/** The changes of a release, in the order of the file; undefined if it has no section. Throws {@link ReleaseError}. */
export function entriesOf(changelog: string, version: string): Entry[] | undefined {
  return find(changelog, version)?.entries
}

/** Text of an entry on one line. */
export function textOf(entry: Entry): string {
  return entry.lines.join(' ').replaceAll(/ +/g, ' ').trim()
}

/**
 * The changelog in which everything unreleased has become the section of this version, with an empty *Unreleased* above it.
 * Sections of candidates of the version become part of it: its readers come from the release before them.
 */
export function released(changelog: string, version: string, date: string): string {
  if (find(changelog, version)) throw new ReleaseError(`CHANGELOG.md already has a section ${version}`)
  const unreleased = find(changelog, UNRELEASED)
  if (!unreleased) throw new ReleaseError('CHANGELOG.md has no section "## Unreleased"')
  const blocks = blocksOf(changelog)
  const candidates = isPrerelease(version)
    ? []
    : blocks
        .map(block => titleOf(block))
        .filter(title => title !== undefined && isPrerelease(title) && finalVersion(title) === version)
        .flatMap(title => find(changelog, title ?? '') ?? [])
  const merged = [unreleased, ...candidates]
  if (merged.every(({ entries }) => entries.length === 0))
    throw new ReleaseError('CHANGELOG.md has no entry under "## Unreleased": there is nothing to release')
  const titles = merged.map(({ title }) => title)
  const section = [
    `## ${UNRELEASED}\n`,
    `## ${version} - ${date}\n`,
    ...merged.map(({ introduction }) => introduction).flatMap(text => (text ? [`${text}\n`] : [])),
    render(merged.flatMap(({ entries }) => entries)),
  ].join('\n')
  return blocks
    .flatMap(block => {
      const title = titleOf(block)
      if (title === UNRELEASED) return [`${section}\n`]
      return title !== undefined && titles.includes(title) ? [] : [block]
    })
    .join('')
    .replace(/\n+$/, '\n')
}

/** The notes of a release: its section with each entry on one line, because GitHub keeps line breaks. */
export function notesOf(changelog: string, version: string): string {
  const section = find(changelog, version)
  if (!section || section.entries.length === 0) throw new ReleaseError(`CHANGELOG.md has no section ${version}`)
  const introduction = section.introduction.replaceAll(/(?<!\n)\n(?!\n)/g, ' ')
  const entries = section.entries.map(entry => ({ ...entry, lines: [textOf(entry)] }))
  return [...(introduction ? [`${introduction}\n`] : []), render(entries)].join('\n')
}

function render(entries: readonly Entry[]): string {
  return CATEGORIES.flatMap(category => {
    const own = entries.filter(entry => entry.category === category)
    if (own.length === 0) return []
    return [`### ${category}\n`, `${own.map(({ lines }) => `- ${lines.join('\n  ')}`).join('\n')}\n`]
  }).join('\n')
}

function find(changelog: string, title: string): Section | undefined {
  const block = blocksOf(changelog).find(text => titleOf(text) === title)
  return block === undefined ? undefined : sectionOf(title, block.split('\n').slice(1))
}

/** The text before the first section, and each section with its heading. */
function blocksOf(changelog: string): string[] {
  return changelog.split(/^(?=## )/m)
}

function titleOf(block: string): string | undefined {
  return HEADING.exec(block.split('\n', 1)[0] ?? '')?.groups?.title
}

function sectionOf(title: string, lines: readonly string[]): Section {
  const introduction: string[] = []
  const entries: Entry[] = []
  let category: Category | undefined
  for (const line of lines) {
    const heading = /^### (.+)$/.exec(line)?.[1]
    if (heading !== undefined) category = categoryOf(heading, title)
    else if (category === undefined) introduction.push(line)
    else if (line.startsWith('- ')) entries.push({ category, lines: [line.slice(2)] })
    else if (line.trim() !== '') continueEntry(entries.at(-1), category, line, title)
  }
  return { title, introduction: introduction.join('\n').trim(), entries }
}

function categoryOf(heading: string, title: string): Category {
  const category = CATEGORIES.find(name => name === heading)
  if (!category)
    throw new ReleaseError(`CHANGELOG.md, ${title}: "${heading}" is no category; there are: ${CATEGORIES.join(', ')}`)
  return category
}

function continueEntry(entry: Entry | undefined, category: Category, line: string, title: string): void {
  if (!line.startsWith('  ') || entry?.category !== category)
    throw new ReleaseError(`CHANGELOG.md, ${title}: this line belongs to no entry: "${line.slice(0, 60)}"`)
  entry.lines.push(line.slice(2))
}

/**
 * Validation at a bounded cost. zod creates one error for each invalid entry of a list or record and for each unknown
 * member, so a body of some kilobytes could cost seconds and megabytes: entries are counted first, and validation ends
 * at the first {@link MAX_ERRORS} errors.
 */
import { z } from 'zod'
import { reasonOfIssue } from '../sentences/issue-reason.ts'
import { type Sentence, sentence } from '../sentences/sentence.ts'
import { LargeText } from './json-text.ts'

/** Most errors that one answer lists. */
export const MAX_ERRORS = 50

/** An error of zod, or of a bound: where, and why. */
export interface Issue {
  path: PropertyKey[]
  reason: Sentence
}

/** The parsed value, or at least one and at most {@link MAX_ERRORS} errors. */
export type Validated<T> = { ok: true; data: T } | { ok: false; issues: Issue[] }

/** Number of entries of all lists and records up to which zod validates in one pass: some milliseconds. */
const FEW_ENTRIES = 1_000

/** What was found on the way through a value. */
interface Walk {
  issues: Issue[]
  entries: number
  /** The outermost lists, with the schema of an entry. */
  lists: { element: z.core.$ZodType; items: readonly unknown[]; path: PropertyKey[] }[]
}

/** Validates a value. Unknown members are one issue each, with code `unknown_field`. */
export function validate<S extends z.ZodType>(schema: S, value: unknown): Validated<z.output<S>> {
  const walk: Walk = { issues: [], entries: 0, lists: [] }
  visit(schema as unknown as z.core.$ZodTypes, value, [], walk)
  if (walk.issues.length === 0 && walk.entries > FEW_ENTRIES) visitLists(walk)
  if (walk.issues.length > 0) return { ok: false, issues: walk.issues.slice(0, MAX_ERRORS) }
  const result = schema.safeParse(value)
  if (result.success) return { ok: true, data: result.data }
  return { ok: false, issues: first(result.error.issues, value) }
}

/** The bound of a list (its maximum) or record (`maxProperties` of its metadata), where its schema has one. */
export function boundOf(schema: z.core.$ZodType): number | undefined {
  const { def } = (schema as z.core.$ZodTypes)._zod
  const most: unknown = def.type === 'array' ? maximumOf(def)?.maximum : z.globalRegistry.get(schema)?.maxProperties
  return typeof most === 'number' ? most : undefined
}

function maximumOf({ checks = [] }: z.core.$ZodArrayDef): z.core.$ZodCheckMaxLengthDef | undefined {
  const found = checks.find(({ _zod }) => _zod.def.check === 'max_length')
  return found?._zod.def as z.core.$ZodCheckMaxLengthDef | undefined
}

/** The schemas that a schema is made of and that see a part of the same value, or all of it. */
export function partsOf(schema: z.core.$ZodType): z.core.$ZodType[] {
  const { def } = (schema as z.core.$ZodTypes)._zod
  switch (def.type) {
    case 'optional':
    case 'nullable':
    case 'default':
    case 'prefault':
    case 'readonly':
    case 'nonoptional':
    case 'catch':
      return [def.innerType]
    case 'pipe':
      return [def.in._zod.def.type === 'transform' ? def.out : def.in]
    case 'union':
      return [...def.options]
    case 'array':
      return [def.element]
    case 'record':
      return [def.valueType]
    case 'object':
      return Object.values(def.shape)
    default:
      return []
  }
}

/** The first errors of a validation, one for each unknown member. `path`: where `value` is. */
function first(issues: readonly z.core.$ZodIssue[], value: unknown, path: PropertyKey[] = []): Issue[] {
  const found: Issue[] = []
  for (const issue of issues) {
    if (found.length >= MAX_ERRORS) break
    const at = [...path, ...issue.path]
    if (issue.code !== 'unrecognized_keys')
      found.push({ path: at, reason: reasonOfIssue(issue, valueAt(value, issue.path) === undefined) })
    else for (const key of issue.keys.slice(0, MAX_ERRORS)) found.push(unknownField([...at, key]))
  }
  return found.slice(0, MAX_ERRORS)
}

function visit(schema: z.core.$ZodTypes, value: unknown, path: PropertyKey[], walk: Walk): void {
  if (walk.issues.length >= MAX_ERRORS || value === undefined || value === null) return
  const { def } = schema._zod
  if (def.type === 'object') visitMembers(def, value, path, walk)
  else if (def.type === 'array' || def.type === 'record') visitEntries(schema, def, value, path, walk)
  else if (def.type === 'union') visitUnion(def.options as z.core.$ZodTypes[], value, path, walk)
  else if (def.type === 'string' || def.type === 'transform') visitTexts(value, path, walk)
  else for (const part of partsOf(schema)) visit(part as z.core.$ZodTypes, value, path, walk)
}

/** Transformations, which may take anything, get no text that is too large to be a string, and no list of such. */
function visitTexts(value: unknown, path: PropertyKey[], walk: Walk): void {
  const texts = Array.isArray(value) ? value.slice(0, MAX_ERRORS).map((one, n) => [one, [...path, n]]) : [[value, path]]
  for (const [text, at] of texts as [unknown, PropertyKey[]][])
    if (text instanceof LargeText)
      walk.issues.push({ path: at, reason: sentence('field.text_too_large', { bytes: text.bytes }) })
}

/** The alternative with the fewest errors counts. */
function visitUnion(options: z.core.$ZodTypes[], value: unknown, path: PropertyKey[], walk: Walk): void {
  const walks = options.map((option): Walk => {
    const own: Walk = { issues: [], entries: 0, lists: [] }
    visit(option, value, path, own)
    return own
  })
  const [least] = walks.toSorted((a, b) => a.issues.length - b.issues.length || b.entries - a.entries)
  if (!least) return
  walk.issues.push(...least.issues)
  walk.entries += least.entries
  walk.lists.push(...least.lists)
}

function visitMembers(def: z.core.$ZodObjectDef, value: unknown, path: PropertyKey[], walk: Walk): void {
  if (!isRecord(value)) return
  if (def.catchall?._zod.def.type === 'never') walk.issues.push(...manyUnknown(def.shape, value, path))
  for (const [name, member] of Object.entries(def.shape))
    if (Object.hasOwn(value, name)) visit(member as z.core.$ZodTypes, value[name], [...path, name], walk)
}

/** None for as many as zod may list itself, beside other errors. */
function manyUnknown(shape: object, value: object, path: PropertyKey[]): Issue[] {
  const unknown: Issue[] = []
  for (const name in value) {
    if (Object.hasOwn(shape, name)) continue
    unknown.push(unknownField([...path, name]))
    if (unknown.length > MAX_ERRORS) return unknown
  }
  return []
}

function unknownField(path: PropertyKey[]): Issue {
  return { path, reason: sentence('field.unknown_field') }
}

function visitEntries(
  schema: z.core.$ZodTypes,
  def: z.core.$ZodArrayDef | z.core.$ZodRecordDef,
  value: unknown,
  path: PropertyKey[],
  walk: Walk,
): void {
  const isList = def.type === 'array'
  if (isList ? !Array.isArray(value) : !isRecord(value)) return
  const most = boundOf(schema)
  if (most !== undefined && hasMore(value as object, most)) {
    walk.issues.push({ path, reason: sentence('field.too_many', { count: most }) })
    return
  }
  const inner: Walk = { issues: [], entries: 0, lists: [] }
  const [element] = partsOf(schema)
  if (!element) return
  if (Array.isArray(value)) walk.lists.push({ element, items: value, path })
  for (const [name, entry] of Object.entries(value as object)) {
    visit(element as z.core.$ZodTypes, entry, [...path, isList ? Number(name) : name], inner)
    inner.entries++
  }
  walk.issues.push(...inner.issues)
  walk.entries += inner.entries
}

/** Validates entry by entry. */
function visitLists({ issues, lists }: Walk): void {
  for (const { element, items, path } of lists)
    for (const [index, item] of items.entries()) {
      const result = z.safeParse(element, item)
      if (!result.success) issues.push(...first(result.error.issues, item, [...path, index]))
      if (issues.length >= MAX_ERRORS) return
    }
  issues.length = 0 // so few that zod may list them beside all others
}

/** Stops counting at the entry that is one too many. */
function hasMore(value: object, most: number): boolean {
  if (Array.isArray(value)) return value.length > most
  let count = 0
  for (const _ in value) if (++count > most) return true
  return false
}

function valueAt(value: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>((inner, key) => (inner as Record<PropertyKey, unknown> | null | undefined)?.[key], value)
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Values of switches: the raw text, the typed value, and release notes. */
import { z } from 'zod'
import { reason } from '../../../platform/sentences/issue-reason.ts'
import { text } from '../../rules/field-schemas.ts'
import { isDay } from '../../rules/time-zone.ts'

/** The types that a switch may have. */
export const SWITCH_TYPES = ['boolean', 'number', 'string', 'json', 'changelog'] as const

/** One of {@link SWITCH_TYPES}. */
export type SwitchType = (typeof SWITCH_TYPES)[number]

/** Largest value, in bytes of UTF-8. */
export const MAX_VALUE_BYTES = 65_536
/** Most release notes of one switch. */
export const MAX_LOGS = 200

const lines = z.array(text(0, 500)).max(50).default([])

/** One release note. */
export const logEntry = z.object({
  version: z
    .string()
    .trim()
    .max(64)
    .regex(/^v?[0-9]+(?:[.][0-9]+){0,3}(?:[-+][A-Za-z0-9_.-]+)?$/, reason('field.version')),
  date: z.string().trim().refine(isDay, reason('field.date')).meta({ format: 'date' }),
  title: text(0, 200).default(''),
  features: lines,
  improvements: lines,
  fixes: lines,
})

/** One release note, parsed. */
export type LogEntry = z.output<typeof logEntry>

/** Release notes: versions are unique, newest first. */
export const logEntries = z
  .array(logEntry)
  .max(MAX_LOGS)
  .refine(logs => new Set(logs.map(log => log.version)).size === logs.length, reason('field.unique'))
  .transform(logs => logs.toSorted((a, b) => compareVersions(b.version, a.version)))

const changelog = z.object({ title: text(0, 200).default(''), logs: logEntries.default([]) })

const BOOLEANS = new Map([
  ['1', true],
  ['true', true],
  ['0', false],
  ['false', false],
])

/** A typed value, as returned to programs. */
export type TypedValue = boolean | number | string | Record<string, unknown>

/** The typed value of a raw text; undefined when the text does not fit the type or is too long. */
export function typedValue(type: SwitchType, raw: string): TypedValue | undefined {
  if (Buffer.byteLength(raw) > MAX_VALUE_BYTES) return undefined
  switch (type) {
    case 'boolean':
      return BOOLEANS.get(raw.trim())
    case 'number':
      return numberOf(raw.trim())
    case 'string':
      return raw
    case 'json':
      return objectOf(raw)
    case 'changelog': {
      const parsed = changelog.safeParse(objectOf(raw))
      return parsed.success ? parsed.data : undefined
    }
  }
}

/** Title and notes of a changelog's text; undefined for invalid text. */
export function changelogOf(raw: string): { title: string; logs: LogEntry[] } | undefined {
  const parsed = changelog.safeParse(objectOf(raw))
  return parsed.success ? parsed.data : undefined
}

/**
 * Compares dotted versions number by number. A pre-release sorts before its release; other letters are ignored (semver
 * 2.0.0 section 11, without the order among pre-releases).
 */
export function compareVersions(a: string, b: string): number {
  const [left, right] = [versionParts(a), versionParts(b)]
  for (let i = 0; i < 4; i++) {
    const difference = (left.numbers[i] ?? 0) - (right.numbers[i] ?? 0)
    if (difference !== 0) return difference
  }
  return Number(right.early) - Number(left.early)
}

function versionParts(version: string): { numbers: number[]; early: boolean } {
  const [core = ''] = version.replace(/^v/i, '').split(/[-+]/)
  return { numbers: core.split('.').map(part => Number.parseInt(part, 10) || 0), early: /^[^+]*-/.test(version) }
}

/** A decimal number; undefined for any other text. */
export function numberOf(raw: string): number | undefined {
  if (!/^[+-]?(\d+(\.\d*)?|\.\d+)(e[+-]?\d+)?$/i.test(raw)) return undefined
  const value = Number(raw)
  return Number.isFinite(value) ? value : undefined
}

/** Deepest nesting of a JSON value: deeper values overflow the stack of recursive readers, here and in apps. */
const MAX_LEVELS = 100

function objectOf(raw: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(raw)
    return isObject(value) && !Array.isArray(value) && !isTooDeep(value)
      ? (value as Record<string, unknown>)
      : undefined
  } catch {
    return undefined
  }
}

/** Level by level, to avoid recursion here. */
function isTooDeep(value: object): boolean {
  let level = [value]
  for (let count = 1; level.length > 0; count++) {
    if (count > MAX_LEVELS) return true
    level = level.flatMap(known => Object.values(known).filter(isObject))
  }
  return false
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}

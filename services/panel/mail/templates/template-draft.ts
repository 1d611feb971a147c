/** Values of the editor's fields, and what they mean for the API. */
import type { Template, Variable } from './template-types.ts'

/** A variable while it is edited; `id` is its row. */
export interface VariableRow {
  id: number
  key: string
  type: Variable['type']
  default: string
  required: boolean
}

/** Fields of the editor. */
export interface Draft {
  subject: string
  html: string
  text: string
  rows: readonly VariableRow[]
}

/** The fields for a stored template. */
export function draftOf({
  subject,
  html,
  text,
  variables,
}: Pick<Template, 'subject' | 'html' | 'text' | 'variables'>): Draft {
  return {
    subject,
    html: html ?? '',
    text: text ?? '',
    rows: variables.map(({ key, type, default: preset, required }, id) => ({
      id,
      key,
      type,
      default: writeDefault(preset),
      required: required === true,
    })),
  }
}

/** The request for the fields. An empty part is none. */
export function contentOf({ subject, html, text, rows }: Draft) {
  return {
    subject,
    html: html === '' ? null : html,
    text: text === '' ? null : text,
    variables: rows.map(({ key, type, default: written, required }) => ({
      key,
      type,
      ...(written !== '' && { default: readDefault(type, written) }),
      ...(required && { required }),
    })),
  }
}

function writeDefault(value: unknown): string {
  if (value === undefined) return ''
  return typeof value === 'string' ? value : JSON.stringify(value)
}

/** Text as it is, other types as JSON; what is no JSON stays text, which the service refuses by name. */
function readDefault(type: Variable['type'], written: string): unknown {
  return type === 'string' ? written : (parseJson(written) ?? written)
}

/** Sample values for the variables: their defaults, and a value of the type for the others. */
export function sampleOf(rows: readonly VariableRow[]): string {
  const values = rows.map(({ key, type, default: written }) => [
    key,
    written === '' ? EXAMPLES[type] : readDefault(type, written),
  ])
  return JSON.stringify(Object.fromEntries(values), undefined, 2)
}

const EXAMPLES: Readonly<Record<Variable['type'], unknown>> = { string: 'Ann', number: 1, boolean: true, list: [] }

/** The object that a text describes; undefined when it describes none. */
export function readSample(text: string): Record<string, unknown> | undefined {
  const value = parseJson(text)
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined
  return value as Record<string, unknown>
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

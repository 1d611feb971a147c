/** Templates between the formats: `{{{NAME}}}` there, `{{ NAME }}` here, which escapes values by itself. */
import { sentence } from '../../../platform/sentences/sentence.ts'
import { notServed } from './foreign-error.ts'
import { defined, given, isFields } from './loose-input.ts'

/** A template as the own API lists it. */
export interface OwnTemplateSummary {
  id: string
  name: string
  version: number | null
  published_at: string | null
  has_changes: boolean
  created_at: string
  updated_at: string
}

/** A template with its draft. */
export interface OwnTemplate extends OwnTemplateSummary {
  subject: string
  html: string | null
  text: string | null
  variables: readonly { key: string; type: string; default?: unknown }[]
}

const FIELDS = ['name', 'alias', 'subject', 'html', 'text', 'from', 'reply_to', 'variables'] as const
const THEIR_OUTPUT = /\{\{\{\s*([A-Za-z_]\w{0,63})\s*\}\}\}/g
const OWN_OUTPUT = /\{\{\s*([A-Za-z_]\w{0,63})\s*\}\}/g

/** A template to be stored. Throws `not_implemented` for a sender: a template has none here. */
export function toOwnTemplate(body: unknown): object {
  const { name, alias, subject, html, text, from, reply_to, variables } = given(body, FIELDS)
  for (const [field, value] of Object.entries({ from, reply_to }))
    if (value !== undefined && value !== '') throw notServed(sentence('compat.field_not_served', { field }))
  return defined({
    name: alias ?? toName(name),
    subject: toOwnText(subject),
    html: toOwnText(html),
    text: text === '' ? undefined : toOwnText(text),
    variables: Array.isArray(variables) ? variables.map(toOwnVariable) : variables,
  })
}

/** A name of the other service may be any text; here it is an identifier. */
export function toName(name: unknown): unknown {
  if (typeof name !== 'string') return name
  const words =
    name
      .normalize('NFKD')
      .toLowerCase()
      .match(/[a-z0-9]+/g) ?? []
  return words.join('-').slice(0, 64).replace(/-$/, '') || name
}

function toOwnText(text: unknown): unknown {
  return typeof text === 'string' ? text.replaceAll(THEIR_OUTPUT, '{{ $1 }}') : text
}

function toTheirText(text: string | null): string | null {
  return text === null ? null : text.replaceAll(OWN_OUTPUT, '{{{$1}}}')
}

/** A variable without a fallback is required there. */
function toOwnVariable(variable: unknown): unknown {
  if (!isFields(variable)) return variable
  const { key, type, fallback_value } = given(variable, ['key', 'type', 'fallback_value'])
  return defined({ key, type, default: fallback_value, required: fallback_value === undefined ? true : undefined })
}

/** A template in a list. */
export function toListedTemplate({ id, name, version, published_at, created_at, updated_at }: OwnTemplateSummary) {
  const status = version === null ? ('draft' as const) : ('published' as const)
  return { id, name, alias: name, status, published_at, created_at, updated_at }
}

/** One template. */
export function toShownTemplate(template: OwnTemplate) {
  const { subject, html, text, variables, id, version, created_at, updated_at } = template
  return {
    object: 'template' as const,
    ...toListedTemplate(template),
    ...{ subject: toTheirText(subject), html: toTheirText(html) ?? '', text: toTheirText(text) },
    ...{ from: null, reply_to: null },
    variables: variables.map(({ key, type, default: fallback }) => ({
      ...{ id: `${id}.${key}`, key, type: type === 'number' ? 'number' : 'string' },
      ...{ fallback_value: fallback ?? null, created_at, updated_at },
    })),
    has_unpublished_versions: template.has_changes,
    current_version_id: `${id}.${version ?? 0}`,
  }
}

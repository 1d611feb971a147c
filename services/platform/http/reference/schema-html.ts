/** JSON Schemas of a document as HTML. */
import type { JsonSchema } from '../../json/json-schema.ts'
import type { ReferenceWords } from './reference-words.ts'

const ESCAPES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

/** Text that is safe in elements and in attributes in quotes. */
export function escapeHtml(text: string): string {
  return text.replaceAll(/[&<>"']/g, sign => ESCAPES[sign] ?? sign)
}

/** Text of the document, whose parts in backticks are code. */
export function proseHtml(text: string): string {
  return escapeHtml(text).replaceAll(/`([^`]+)`/g, '<code>$1</code>')
}

const code = (value: unknown) => `<code>${escapeHtml(typeof value === 'string' ? value : JSON.stringify(value))}</code>`
const schemasIn = (value: unknown) => (Array.isArray(value) ? (value as JsonSchema[]) : [])

/** The type of a schema and, below it, the fields of objects. Components are links. */
export function schemaHtml(schema: JsonSchema, words: ReferenceWords): string {
  return `<span class="type">${typeHtml(schema, words)}</span>${fieldsHtml(schema, words)}`
}

function typeHtml(schema: JsonSchema, words: ReferenceWords): string {
  const { $ref, type, format, items, enum: values } = schema
  if (typeof $ref === 'string') {
    const name = $ref.slice($ref.lastIndexOf('/') + 1)
    return `<a href="#schema-${escapeHtml(name)}">${escapeHtml(name)}</a>`
  }
  if ('const' in schema) return code(schema.const)
  if (Array.isArray(values)) return values.map(code).join(' ')
  const alternatives = [...schemasIn(schema.anyOf), ...schemasIn(schema.oneOf)]
  if (alternatives.length > 0 && type !== 'object')
    return [...new Set(alternatives.map(one => typeHtml(one, words)))].join(` ${words.or} `)
  if (type === 'array') return `${words.list} ${typeHtml((items ?? {}) as JsonSchema, words)}`
  const name = [type].flat().filter(Boolean).join(` ${words.or} `) || 'JSON'
  return escapeHtml(typeof format === 'string' ? `${name} (${format})` : name)
}

function fieldsHtml(schema: JsonSchema, words: ReferenceWords): string {
  const { properties, items, required } = schema
  const inner = [...schemasIn(schema.anyOf), ...schemasIn(schema.oneOf)].map(one => fieldsHtml(one, words)).join('')
  if (typeof items === 'object' && items !== null) return fieldsHtml(items as JsonSchema, words)
  if (typeof properties !== 'object' || properties === null) return inner
  const needed = Array.isArray(required) ? (required as unknown[]) : []
  const fields = Object.entries(properties as Record<string, JsonSchema>).map(([name, field]) => {
    const facts = [
      ...(needed.includes(name) ? [words.required] : []),
      ...(field.default === undefined ? [] : [`${words.defaults} ${code(field.default)}`]),
    ]
    return `<li>${code(name)} ${factsHtml(facts)}${descriptionHtml(field)} ${schemaHtml(field, words)}</li>`
  })
  return `<ul class="fields">${fields.join('')}</ul>${inner}`
}

function factsHtml(facts: readonly string[]): string {
  return facts.length === 0 ? '' : `<span class="fact">${facts.join(', ')}</span> `
}

function descriptionHtml({ description }: JsonSchema): string {
  return typeof description === 'string' ? `<span>${proseHtml(description)}</span>` : ''
}

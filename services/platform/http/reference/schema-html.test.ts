import { describe, expect, test } from 'vitest'
import type { JsonSchema } from '../../json/json-schema.ts'
import { REFERENCE_WORDS } from './reference-words.ts'
import { escapeHtml, proseHtml, schemaHtml } from './schema-html.ts'

const words = REFERENCE_WORDS.en
const shown = (schema: JsonSchema) => schemaHtml(schema, words)
const type = (text: string) => `<span class="type">${text}</span>`

test('text cannot end an element or an attribute', () => {
  expect(escapeHtml(`<a href="x" title='y'>&amp;`)).toBe('&lt;a href=&quot;x&quot; title=&#39;y&#39;&gt;&amp;amp;')
  expect(proseHtml('Use `a<b>` or <b>')).toBe('Use <code>a&lt;b&gt;</code> or &lt;b&gt;')
})

describe('the type of', () => {
  test.each<[string, JsonSchema, string]>([
    ['a plain value', { type: 'string' }, 'string'],
    ['a format', { type: 'string', format: 'date-time' }, 'string (date-time)'],
    ['two types', { type: ['string', 'null'] }, 'string or null'],
    ['a constant', { const: 'list' }, '<code>list</code>'],
    ['a constant that is no text', { const: false }, '<code>false</code>'],
    ['a choice', { enum: ['a', 'b<'] }, '<code>a</code> <code>b&lt;</code>'],
    ['a component', { $ref: '#/components/schemas/Email' }, '<a href="#schema-Email">Email</a>'],
    ['a list', { type: 'array', items: { type: 'integer' } }, 'list of integer'],
    ['a list of anything', { type: 'array' }, 'list of JSON'],
    ['alternatives', { anyOf: [{ type: 'string' }, { type: 'null' }] }, 'string or null'],
    ['equal alternatives', { oneOf: [{ type: 'object' }, { type: 'object' }] }, 'object'],
    ['anything', {}, 'JSON'],
  ])('%s', (_, schema, text) => {
    expect(shown(schema)).toBe(type(text))
  })
})

test('fields have their name, default, description and whether they are required', () => {
  const schema = {
    type: 'object',
    properties: {
      name: { type: 'string', description: 'As in `<b>`.' },
      limit: { type: 'integer', default: 20 },
    },
    required: ['name'],
  }
  expect(shown(schema)).toBe(
    `${type('object')}<ul class="fields"><li><code>name</code> <span class="fact">required</span> <span>As in <code>&lt;b&gt;</code>.</span> ${type('string')}</li><li><code>limit</code> <span class="fact">default <code>20</code></span>  ${type('integer')}</li></ul>`,
  )
})

test('fields inside lists and alternatives are shown as well, those of components are not', () => {
  const item = { type: 'object', properties: { a: { type: 'string' } } }
  expect(shown({ type: 'array', items: item })).toContain('<code>a</code>')
  expect(shown({ oneOf: [item, { type: 'null' }] })).toContain('<code>a</code>')
  expect(shown({ type: 'object', properties: { e: { $ref: '#/components/schemas/E' } } })).toContain('href="#schema-E"')
})

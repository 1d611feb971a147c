/** The generated document contains everything in the frozen reference. */
import { describe, expect, test } from 'vitest'
import { openApiDocument } from '../../services/subscriptions/http/openapi.ts'
import { openApiChecker } from '../support/http/openapi-checker.ts'
import { frozenDocument } from '../support/subscriptions/subscription-api.ts'

type Json = Record<string, unknown>
const generated = openApiDocument() as unknown as { paths: Record<string, Record<string, Json>> }
const frozen = frozenDocument as unknown as { paths: Record<string, Record<string, Json>>; components: Json }

const operations = Object.entries(frozen.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(
    ([method, operation]) => [`${method.toUpperCase()} ${path}`, path, method, operation] as const,
  ),
)

/** Follows references in a document, and merges allOf. */
function resolve(schema: Json | undefined, document: object = frozen): Json {
  if (!schema) return {}
  if (typeof schema.$ref === 'string') {
    let target: unknown = document
    for (const part of schema.$ref.slice(2).split('/')) target = (target as Json)[part]
    return resolve(target as Json, document)
  }
  if (!Array.isArray(schema.allOf)) return schema
  const parts = schema.allOf.map(part => resolve(part as Json, document))
  const properties = Object.assign({}, ...parts.map(part => part.properties ?? {}))
  const required = parts.flatMap(part => (part.required as string[] | undefined) ?? [])
  return { type: 'object', properties, required }
}

const alternatives = (schema: Json, document: object = frozen): Json[] => {
  const { anyOf, oneOf, ...alone } = resolve(schema, document)
  return ((anyOf ?? oneOf ?? [alone]) as Json[]).map(option => resolve(option, document))
}
const typeOf = (schema: Json): string[] =>
  [schema.type ?? (schema.enum ? typeof (schema.enum as unknown[])[0] : [])].flat().map(String)

/** What the frozen schema requires and the generated one lacks, by path. */
function missing(wanted: Json, given: Json, place: string): string[] {
  const options = alternatives(given, generated)
  return alternatives(wanted).flatMap(one => {
    const results = options.map(option => missingIn(one, option, place))
    return results.find(result => result.length === 0) ?? results[0] ?? []
  })
}

function missingIn(wanted: Json, given: Json, place: string): string[] {
  const wantedTypes = typeOf(wanted)
  const givenTypes = [...typeOf(given), ...alternatives(given, generated).flatMap(typeOf)]
  const fits = wantedTypes.every(
    type => givenTypes.includes(type) || (type === 'number' && givenTypes.includes('integer')),
  )
  if (!fits) return [`${place}: ${givenTypes} instead of ${wantedTypes}`]
  const properties = (wanted.properties ?? {}) as Record<string, Json>
  const givenProperties = (given.properties ?? {}) as Record<string, Json>
  const required = (wanted.required ?? []) as string[]
  const absent = required.filter(name => !(name in givenProperties)).map(name => `${place}.${name}`)
  const inner = Object.entries(properties).flatMap(([name, schema]) =>
    givenProperties[name] ? missing(resolve(schema), givenProperties[name], `${place}.${name}`) : [],
  )
  const items =
    wanted.items && given.items ? missing(resolve(wanted.items as Json), given.items as Json, `${place}[]`) : []
  return [...absent, ...inner, ...items]
}

const answerOf = (operation: Json) => {
  const responses = operation.responses as Record<string, Json>
  const content = resolve(responses['200']).content as Record<string, { schema: Json }>
  return content['application/json']?.schema
}

test('the reference has 21 operations, one of them for several uses of GET', () => {
  expect(operations).toHaveLength(21)
})

describe('the generated document contains', () => {
  test.each(operations)('%s', (_, path, method, operation) => {
    const counterpart = generated.paths[path]?.[method]
    expect(counterpart).toBeDefined()
    const names = ((counterpart?.parameters ?? []) as { name: string; in: string }[]).map(({ name }) => name)
    const parameters = ((operation.parameters ?? []) as { name: string; in: string }[]).filter(
      parameter => parameter.in !== 'header' && !(parameter.name === 'app_key' && path === '/app_manage/{id}'),
    )
    for (const { name } of parameters) expect(names).toContain(name)
    expect(missing(resolve(answerOf(operation)), answerOf(counterpart ?? {}) ?? {}, 'answer')).toEqual([])
    const body = (operation.requestBody as { content: Record<string, { schema: Json }> } | undefined)?.content
    const givenBody = (counterpart?.requestBody as { content: Record<string, { schema: Json }> } | undefined)?.content
    const fields = Object.keys((body?.['application/json']?.schema.properties ?? {}) as Json)
    expect(Object.keys((givenBody?.['application/json']?.schema.properties ?? {}) as Json)).toEqual(
      expect.arrayContaining(fields),
    )
  })
})

describe('the checker validates responses', () => {
  const check = openApiChecker('subscriptions')
  const headers = new Headers({ 'content-type': 'application/json' })
  const list = (subscription: object, total: unknown = '1') => ({
    code: 0,
    message: 'OK',
    data: {
      subscriptions: [subscription],
      pagination: { current_page: 1, page_size: 20, total_pages: 1, total_records: total },
      filters: [],
    },
  })
  const timed = {
    ...{ id: '1', user_id: '1', plan_id: '1', status: '1', payment_method: 'alipay', payment_id: 'x' },
    ...{ start_date: '1', end_date: '2', auto_renew: '0', user_nickname: '', user_phone: null, user_email: null },
    ...{ created_at: '2026-01-01 00:00:00', updated_at: '2026-01-01 00:00:00', plan_name: '', plan_price: '1.00' },
    ...{ plan_duration: '30', start_date_formatted: '2026-01-01 00:00:00', end_date_formatted: '2026-01-01 00:00:00' },
    ...{ is_permanent: false, is_expiring_soon: false, is_expired: false },
  }
  const permanent = { ...timed, end_date: '0', end_date_formatted: '永久有效', is_permanent: true }
  test.each<[string, object, boolean]>([
    ['accepts a timed subscription', list(timed), true],
    ['rejects a number for the total', list(timed, 1), false],
    ['rejects a number for the id', list({ ...timed, id: 1 }), false],
    ['rejects a timed subscription without is_expiring_soon', list({ ...timed, is_expiring_soon: undefined }), false],
    ['rejects a permanent subscription with is_expiring_soon', list(permanent), false],
    [
      'rejects a permanent subscription that has expired',
      list({ ...permanent, is_expiring_soon: undefined, is_expired: true }),
      false,
    ],
    ['rejects an envelope without data', { code: 0, message: 'OK' }, false],
    ['rejects another success code', { ...list(timed), code: 1 }, false],
  ])('%s', (_, body, good) => {
    const run = () => check('GET', '/subscription', { status: 200, headers, body: JSON.parse(JSON.stringify(body)) })
    if (good) expect(run).not.toThrow()
    else expect(run).toThrow(/breaks the contract/)
  })
})

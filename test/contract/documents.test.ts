/** The OpenAPI documents of both APIs: checked by a public linter, and for what client generators need. */
import { readFileSync } from 'node:fs'
import { createConfig, lintFromString } from '@redocly/openapi-core'
import { describe, expect, test } from 'vitest'
import { mailDocument } from '../../services/mail/http/openapi.ts'
import { openApiDocument } from '../../services/subscriptions/http/openapi.ts'

type Json = Record<string, unknown>
interface Operation {
  operationId: string
  tags: string[]
  security: Record<string, string[]>[]
  parameters?: { name: string; in: string; required: boolean; schema: Json }[]
  requestBody?: { required: boolean; content: Record<string, { schema: Json }> }
  responses: Record<string, { headers?: Json; content?: Record<string, { schema: Json }> }>
}
interface Document {
  servers: { url: string }[]
  paths: Record<string, Record<string, Operation>>
  components: { schemas: Record<string, Json> }
}

const mail = mailDocument('https://mail.example.net') as unknown as Document
const subscriptions = openApiDocument() as unknown as Document
const documents: [string, Document][] = [
  ['mail', mail],
  ['subscriptions', subscriptions],
]

const operationsOf = ({ paths }: Document) =>
  Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method: method.toUpperCase(), ...operation })),
  )

/** Every object of a document with its path. */
function* nodes(value: unknown, place = ''): Generator<[string, Json]> {
  if (typeof value !== 'object' || value === null) return
  if (!Array.isArray(value)) yield [place, value as Json]
  for (const [key, inner] of Object.entries(value)) yield* nodes(inner, `${place}/${key}`)
}

function operation(document: Document, operationId: string) {
  const found = operationsOf(document).find(one => one.operationId === operationId)
  if (!found) throw new Error(`there is no operation ${operationId}`)
  return found
}

const bodyOf = (document: Document, operationId: string) =>
  operation(document, operationId).requestBody?.content['application/json']?.schema

const parameterOf = (document: Document, operationId: string, name: string) =>
  operation(document, operationId).parameters?.find(parameter => parameter.name === name)

describe.each(documents)('the document of the %s API', (_, document) => {
  test("has no findings of Redocly's strictest rules", async () => {
    const config = await createConfig({
      extends: ['recommended-strict'],
      // Otherwise each condition of a schema would have to name all of its fields.
      rules: {
        // Success may be a redirect; the test below demands one of both.
        'operation-2xx-response': 'off',
        'no-invalid-media-type-examples': { severity: 'error', allowAdditionalProperties: true },
      },
    })
    const found = await lintFromString({ source: JSON.stringify(document), config })
    expect(found.map(({ ruleId, message, location }) => [ruleId, message, location[0]?.pointer])).toEqual([])
  })

  test('has patterns with the same meaning with and without the flag u', () => {
    const patterns = [...nodes(document)].flatMap(([place, { pattern }]) =>
      typeof pattern === 'string' ? [[place, pattern] as const] : [],
    )
    expect(patterns.length).toBeGreaterThan(20)
    for (const [place, pattern] of patterns) {
      expect(pattern, place).not.toMatch(/\\[pPwWdD]|\\u\{|\(\?<?[!=]/)
      expect(() => [new RegExp(pattern), new RegExp(pattern, 'u')], place).not.toThrow()
    }
  })

  test('describes for each operation who may call it, its input and its responses', () => {
    for (const { operationId, tags, security, requestBody, parameters = [], responses } of operationsOf(document)) {
      expect(tags, operationId).toHaveLength(1)
      expect(security, operationId).toBeInstanceOf(Array)
      expect(
        // The success of a tracked link is a redirect.
        Object.keys(responses).some(status => status.startsWith('2') || status === '302'),
        operationId,
      ).toBe(true)
      for (const { schema } of [...Object.values(requestBody?.content ?? {}), ...parameters])
        expect(schema, operationId).not.toEqual({})
    }
  })

  test('has no unrestricted request field, except for the evaluation context', () => {
    const open = operationsOf(document).flatMap(({ operationId, requestBody }) =>
      [...nodes(requestBody)].flatMap(([place, node]) =>
        Object.keys(node).length === 0 && !/\/(?:if|else|additionalProperties)\b/.test(place)
          ? [`${operationId}${place}`]
          : [],
      ),
    )
    expect(open).toEqual([])
  })
})

test('operation ids are frozen', () => {
  const given = documents.flatMap(([, document]) =>
    operationsOf(document).map(({ operationId, method, path }) => `${operationId} ${method} ${path}`),
  )
  const frozen = readFileSync(new URL('operation-ids.txt', import.meta.url), 'utf8').split('\n')
  expect(given.toSorted()).toEqual(frozen.filter(line => line !== '' && !line.startsWith('#')).toSorted())
})

describe('the sending operations', () => {
  const request = mail.components.schemas.EmailRequest as { required: string[]; properties: Record<string, Json> }

  test('require sender and recipients, and without a template a subject and text or html', () => {
    expect(request.required).toEqual(['from', 'to'])
    const rules = {
      if: { required: ['template'] },
      else: { required: ['subject'], if: { required: ['html'] }, else: { required: ['text'] } },
    }
    expect(request).toMatchObject(rules)
    expect(mail.components.schemas.SendRequest).toMatchObject({ required: ['from', 'to'], ...rules })
  })

  test('describe an address, alone and in lists', () => {
    const address = { $ref: '#/components/schemas/Mailbox' }
    expect(request.properties.from).toEqual(address)
    for (const field of ['to', 'cc', 'bcc', 'reply_to'])
      expect(request.properties[field], field).toMatchObject({
        anyOf: [address, { type: 'array', items: address, maxItems: 50 }],
      })
    expect(mail.components.schemas.Mailbox).toMatchObject({
      anyOf: [{ type: 'string' }, { type: 'object', required: ['email'] }],
    })
  })

  test('have schemas for the first address, for batches and for raw messages', () => {
    expect(bodyOf(mail, 'send')).toEqual({ $ref: '#/components/schemas/SendRequest' })
    expect(mail.components.schemas.SendRequest).not.toHaveProperty('additionalProperties')
    expect(bodyOf(mail, 'sendEmail')).toEqual({ $ref: '#/components/schemas/EmailRequest' })
    const items = { $ref: '#/components/schemas/EmailRequest' }
    expect(bodyOf(mail, 'sendEmailBatch')).toEqual({ type: 'array', items, minItems: 1, maxItems: 100 })
    expect(mail.components.schemas.RawEmailRequest).toMatchObject({ required: ['from', 'to', 'raw'] })
  })

  test.each(['send', 'sendEmail'])('%s describes a dry run and accepts Idempotency-Key', operationId => {
    const { responses } = operation(mail, operationId)
    expect(responses['200']?.content?.['application/json']?.schema).toEqual({
      $ref: '#/components/schemas/EmailPreview',
    })
    expect(responses['202']?.content?.['application/json']?.schema).toEqual({
      $ref: '#/components/schemas/EmailAccepted',
    })
    expect(responses['202']?.headers).toHaveProperty('Location')
    expect(parameterOf(mail, operationId, 'Idempotency-Key')).toMatchObject({ in: 'header', required: false })
  })
})

test.each([
  ['getRawEmail', 'message/rfc822'],
  ['getRawCapturedEmail', 'message/rfc822'],
  ['getRawInboxMessage', 'message/rfc822'],
  ['previewInboxMessage', 'text/html'],
  ['getInboxAttachment', 'application/octet-stream'],
  ['previewEmail', 'text/html'],
  ['previewCapturedEmail', 'text/html'],
  ['getDomainZoneFile', 'text/plain'],
  ['streamEvents', 'text/event-stream'],
])('%s returns %s', (operationId, type) => {
  expect(Object.keys(operation(mail, operationId).responses['200']?.content ?? {})).toEqual([type])
})

describe('the Subscription Administration API', () => {
  test.each([
    ['listUsers', true],
    ['createPlan', true],
    ['importSubscriptions', true],
    ['createSwitch', true],
    ['getOverview', false],
    ['listAuditLogs', false],
  ])('%s requires app_key: %s', (operationId, required) => {
    expect(parameterOf(subscriptions, operationId, 'app_key')).toMatchObject({ in: 'query', required })
  })

  test('allows empty values for optional query fields only', () => {
    const fields = operationsOf(subscriptions).flatMap(({ parameters = [] }) =>
      parameters.filter(one => one.in === 'query'),
    )
    expect(fields.length).toBeGreaterThan(100)
    for (const field of fields) expect('allowEmptyValue' in field, field.name).toBe(!field.required)
    expect(operationsOf(mail).some(({ parameters = [] }) => parameters.some(one => 'allowEmptyValue' in one))).toBe(
      false,
    )
  })

  test('describes the language headers, and Idempotency-Key for writes', () => {
    for (const name of ['lang', 'Accept-Language'])
      expect(parameterOf(subscriptions, 'listUsers', name)).toMatchObject({ in: 'header', required: false })
    expect(parameterOf(subscriptions, 'createPlan', 'Idempotency-Key')).toMatchObject({ in: 'header' })
    expect(parameterOf(subscriptions, 'listPlans', 'Idempotency-Key')).toBeUndefined()
  })

  test('describes the credentials of administrators, back ends and flag providers', () => {
    expect(operation(subscriptions, 'logIn').security).toEqual([])
    expect(operation(subscriptions, 'listUsers').security).toEqual([{ token: [] }])
    expect(operation(subscriptions, 'openOrder').security).toEqual([{ appSecret: [] }, { appSignature: [] }])
    expect(operation(subscriptions, 'evaluateFlag').security).toEqual([{ appKey: [] }, { appBearer: [] }])
  })

  test('accepts and returns files', () => {
    expect(Object.keys(operation(subscriptions, 'importSubscriptions').requestBody?.content ?? {})).toContain(
      'text/csv',
    )
    for (const id of ['exportUsers', 'exportSubscriptions'])
      expect(Object.keys(operation(subscriptions, id).responses['200']?.content ?? {})).toEqual(['text/csv'])
  })

  test('has OFREP with its own errors', () => {
    for (const id of ['evaluateFlag', 'evaluateFlags'])
      expect(operation(subscriptions, id)).toMatchObject({
        requestBody: { content: { 'application/json': {} } },
        responses: { '4XX': { $ref: '#/components/responses/OfrepError' } },
      })
  })

  test('is served from a relative URL unless another is set', () => {
    expect(subscriptions.servers).toEqual([{ url: '/' }])
    expect(openApiDocument('https://admin.example.net').servers).toEqual([{ url: 'https://admin.example.net' }])
  })
})

import { describe, expect, test } from 'vitest'
import { openApiChecker } from '../support/http/openapi-checker.ts'

const check = openApiChecker('mail')
const accepted = {
  object: 'email',
  id: `em_${'0'.repeat(26)}`,
  message_id: '<a@example.com>',
  status: 'queued',
  created_at: '2026-11-21T10:00:00.000Z',
  recipients: [{ email: 'b@example.net', type: 'to', status: 'queued' }],
  warnings: [],
}
const location = { location: `/api/v1/emails/${accepted.id}` }

function answer(status: number, body: unknown, headers: Record<string, string> = location, type = 'application/json') {
  return () => check('POST', '/api/send', { status, body, headers: new Headers({ ...headers, 'content-type': type }) })
}

test('accepts a valid response, and ignores operations outside of the document', () => {
  expect(answer(202, accepted)).not.toThrow()
  expect(() => check('GET', '/api/v1/emails', { status: 418, body: null, headers: new Headers() })).not.toThrow()
})

describe('reports a response with', () => {
  const problem = 'application/problem+json'
  test.each<[string, () => void, RegExp]>([
    ['an unknown status', answer(201, accepted), /no answer of the contract/],
    ['a field too many', answer(202, { ...accepted, extra: 1 }), /additional properties/],
    ['a field too few', answer(202, { ...accepted, id: undefined }), /'id'|\/id/],
    ['another type of content', answer(202, accepted, location, 'text/html'), /content type/],
    ['no Location', answer(202, accepted, {}), /lacks the header Location/],
    ['a Location elsewhere', answer(202, accepted, { location: '/' }), /Location/],
    ['a problem without its members', answer(422, { code: 'x' }, {}, problem), /required property/],
    ['"later" without Retry-After', answer(503, {}, { 'retry-after': 'soon' }, problem), /required property/],
  ])('%s', (_, checked, message) => {
    expect(checked).toThrow(message)
  })
})

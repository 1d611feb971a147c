/** HTTP client against a real server: requests, and every kind of response. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { fillPath, queryString, request } from './fetch.ts'
import { ApiProblem, mayRetry, unreachable } from './problem.ts'

async function serve(answer: (request: IncomingMessage, response: ServerResponse) => void): Promise<string> {
  const server = createServer(answer)
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

async function refusal(body: string, status: number, headers: Record<string, string> = {}): Promise<ApiProblem> {
  const url = await serve((_, response) => response.writeHead(status, headers).end(body))
  const error = await request(url, { method: 'GET' }).catch((failure: unknown) => failure)
  expect(error).toBeInstanceOf(ApiProblem)
  return error as ApiProblem
}

test.each([
  [undefined, ''],
  [{}, ''],
  [{ q: '', status: undefined }, ''],
  [{ status: ['bounced', 'failed'], days: [] }, '?status=bounced&status=failed'],
  [{ q: 'a&b=c', limit: 5, live: false }, '?q=a%26b%3Dc&limit=5&live=false'],
])('%o as a query is "%s"', (query, text) => {
  expect(queryString(query)).toBe(text)
})

test.each([
  ['/a/{id}', { id: 'x' }, '/a/x'],
  ['/a/{id}/b/{name}', { id: 'x/../y', name: 'ü?#' }, '/a/x%2F..%2Fy/b/%C3%BC%3F%23'],
  ['/a', undefined, '/a'],
])('%s with %o is %s', (template, params, path) => {
  expect(fillPath(template, params)).toBe(path)
})

test('reads carry no x-csrf, writes do, and a body is JSON', async () => {
  const seen: [string | undefined, string | string[] | undefined, string | undefined][] = []
  const url = await serve((asked, response) => {
    seen.push([asked.method, asked.headers['x-csrf'], asked.headers['content-type']])
    response.end('{}')
  })
  await request(url, { method: 'GET' })
  await request(url, { method: 'DELETE' })
  await request(url, { method: 'POST', body: { a: 1 } })
  expect(seen).toEqual([
    ['GET', undefined, undefined],
    ['DELETE', '1', undefined],
    ['POST', '1', 'application/json'],
  ])
})

test('a problem document is parsed into code, field errors, request id and Retry-After', async () => {
  const fieldError = { pointer: '/username', code: 'too_small', message: 'is too short' }
  const body = { code: 'validation_failed', detail: 'Some fields', request_id: 'r1', errors: [fieldError, 'odd', null] }
  const error = await refusal(JSON.stringify(body), 422, { 'retry-after': '7' })
  expect(error).toMatchObject({
    code: 'validation_failed',
    status: 422,
    message: 'Some fields',
    fieldErrors: [{ pointer: '/username', message: 'is too short' }],
    requestId: 'r1',
    retryAfter: 7,
  })
  expect(mayRetry(error)).toBe(false)
})

test.each([
  ['<html>502 Bad Gateway</html>', 502, 'unavailable', true],
  ['', 503, 'unavailable', true],
  ['[]', 404, 'internal', false],
  ['{"code":5,"detail":null}', 400, 'internal', false],
])('%s with status %i is %s', async (body, status, code, again) => {
  const error = await refusal(body, status)
  expect([error.code, error.status, mayRetry(error)]).toEqual([code, status, again])
})

test('a network failure has the code "offline" and can be retried', async () => {
  const url = await serve(asked => asked.socket.destroy())
  const error = await request(url, { method: 'GET' }).catch((failure: unknown) => failure)
  expect(error).toMatchObject({ code: 'offline', status: 0 })
  expect(mayRetry(error)).toBe(true)
  expect(unreachable('odd').message).toBe('odd')
})

test('an aborted request is not reported as a network failure', async () => {
  const url = await serve(() => undefined)
  const controller = new AbortController()
  const asked = request(url, { method: 'GET', signal: controller.signal })
  controller.abort()
  await expect(asked).rejects.toThrow(expect.objectContaining({ name: 'AbortError' }))
})

test('an error envelope is parsed into the same error type', async () => {
  const data = { errors: [{ field: 'price', rule: 'decimals', message: '最多两位小数' }, 'odd'] }
  const error = await refusal(JSON.stringify({ code: 42200, message: '参数有误', data }), 422)
  expect(error).toMatchObject({
    code: '42200',
    status: 422,
    message: '参数有误',
    fieldErrors: [{ pointer: '/price', message: '最多两位小数' }],
  })
})

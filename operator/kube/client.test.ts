/** Requests over a real socket to a server with configurable responses. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { KubeConfig } from '@kubernetes/client-node'
import { describe, expect, onTestFinished, test } from 'vitest'
import { createMetrics } from '../../services/platform/observability/metrics.ts'
import { createKubeClient, currentNamespace, type KubeRequest } from './client.ts'

interface Asked {
  method: string | undefined
  url: string | undefined
  type: string | undefined
  authorization: string | undefined
  body: string
}

/** A client, its server, and the requests that the server received. */
async function speaking(answer: (response: ServerResponse, requests: Asked) => void) {
  const requests: Asked[] = []
  const take = async (request: IncomingMessage, response: ServerResponse) => {
    let body = ''
    for await (const chunk of request) body += chunk
    const { 'content-type': type, authorization } = request.headers
    const one = { method: request.method, url: request.url, type, authorization, body }
    requests.push(one)
    answer(response, one)
  }
  const server = createServer((request, response) => void take(request, response))
  server.listen(0, '127.0.0.1')
  await new Promise<void>(resolve => server.once('listening', () => resolve()))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  let logins = 0
  const metrics = createMetrics('test').operator
  const client = createKubeClient(() => {
    const config = new KubeConfig()
    config.loadFromClusterAndUser({ name: 'c', server: url, skipTLSVerify: true }, { name: 'u', token: `t${++logins}` })
    return config
  }, metrics)
  onTestFinished(async () => {
    await client.close()
    server.closeAllConnections()
    server.close()
  })
  return { client, requests, metrics, logins: () => logins }
}

const get: KubeRequest = { method: 'GET', path: '/x' }
const json = (response: ServerResponse, status: number, body: unknown, headers: Record<string, string> = {}) =>
  response.writeHead(status, headers).end(typeof body === 'string' ? body : JSON.stringify(body))

describe('a request', () => {
  test.each<[KubeRequest['patch'] | 'none', string]>([
    ['none', 'application/json'],
    ['apply', 'application/apply-patch+yaml'],
    ['merge', 'application/merge-patch+json'],
    ['json', 'application/json-patch+json'],
  ])('with the patch %s has its content type and body, and no unset query fields', async (patch, type) => {
    const { client, requests } = await speaking(response => json(response, 200, { ok: true }))
    const request: KubeRequest = {
      method: patch === 'none' ? 'POST' : 'PATCH',
      path: '/apis/x',
      query: { fieldManager: 'a b', force: true, limit: 0, continue: undefined },
      body: { data: { gone: null } },
      ...(patch === 'none' || patch === undefined ? {} : { patch }),
    }
    expect(await client.request(request)).toEqual({ ok: true })
    expect(requests).toMatchObject([
      {
        method: request.method,
        url: '/apis/x?fieldManager=a+b&force=true&limit=0',
        type,
        body: '{"data":{"gone":null}}',
        authorization: 'Bearer t1',
      },
    ])
  })

  test('without a body names no type of one', async () => {
    const { client, requests } = await speaking(response => json(response, 200, {}))
    await client.request(get)
    expect(requests[0]).toMatchObject({ type: undefined, body: '' })
  })

  test('that takes too long is aborted, and counted as an error', async () => {
    const { client, metrics } = await speaking(() => undefined)
    await expect(client.request({ ...get, timeoutMs: 50 })).rejects.toMatchObject({ name: 'TimeoutError' })
    const { values } = await metrics.kubeRequests.get()
    expect(values.map(({ labels, value }) => [labels.code, value])).toEqual([['<error>', 1]])
  })
})

describe('a login that is refused', () => {
  test('is read again once, and the request succeeds', async () => {
    const { client, requests, logins } = await speaking((response, { authorization }) =>
      authorization === 'Bearer t1' ? json(response, 401, {}) : json(response, 200, { ok: true }),
    )
    const request: KubeRequest = { method: 'POST', path: '/x', body: { a: 1 } }
    expect(await client.request(request)).toEqual({ ok: true })
    expect(requests.map(({ authorization, body }) => [authorization, body])).toEqual([
      ['Bearer t1', '{"a":1}'],
      ['Bearer t2', '{"a":1}'],
    ])
    await client.request(request)
    expect(logins()).toBe(2)
  })

  test('twice is a refusal, not a loop', async () => {
    const { client, requests } = await speaking(response =>
      json(response, 401, { reason: 'Unauthorized', message: 'no' }),
    )
    await expect(client.request(get)).rejects.toMatchObject({ status: 401, reason: 'Unauthorized', message: 'no' })
    expect(requests).toHaveLength(2)
  })
})

test.each<[string, number, unknown, Record<string, string>, object]>([
  [
    'a Status of the API server',
    409,
    { kind: 'Status', reason: 'AlreadyExists', message: 'secrets "a" already exists' },
    {},
    { status: 409, reason: 'AlreadyExists', message: 'secrets "a" already exists', retryAfterMs: undefined },
  ],
  [
    'one that asks to wait',
    429,
    { reason: 'TooManyRequests', message: 'slowly' },
    { 'retry-after': '7' },
    { status: 429, retryAfterMs: 7_000 },
  ],
  ['a wait of nothing', 429, {}, { 'retry-after': '0' }, { status: 429, retryAfterMs: undefined }],
  [
    'a wait until a date',
    503,
    {},
    { 'retry-after': 'Fri, 31 Dec 1999 23:59:59 GMT' },
    { status: 503, retryAfterMs: undefined },
  ],
  ['a Status without words', 403, {}, {}, { status: 403, reason: '', message: 'Forbidden' }],
  ['the page of a proxy', 502, '<h1>Bad</h1>', {}, { status: 502, reason: '', message: '<h1>Bad</h1>' }],
  ['a long page of a proxy', 502, 'x'.repeat(9_000), {}, { message: 'x'.repeat(200) }],
  ['nothing', 504, '', {}, { status: 504, message: 'Gateway Timeout' }],
])('%s becomes an error with its reason', async (_what, status, body, headers, expected) => {
  const { client } = await speaking(response => json(response, status, body, headers))
  const failure = await client.request(get).catch((error: unknown) => error)
  expect(failure).toMatchObject({ name: 'KubeError', ...expected })
})

describe('a watch', () => {
  /** The events of a watch with these chunks, each in a packet of its own. */
  async function watched(...chunks: (string | Buffer)[]) {
    const { client } = await speaking(response => {
      response.writeHead(200)
      const next = () => {
        const chunk = chunks.shift()
        if (chunk === undefined) response.end()
        else response.write(chunk, () => setImmediate(next))
      }
      next()
    })
    const lines: unknown[] = []
    let touched = 0
    for await (const line of client.watch('/x', { watch: true }, AbortSignal.timeout(60_000), () => touched++))
      lines.push(line)
    return { lines, touched }
  }
  const line = (n: number | string) => `${JSON.stringify({ n })}\n`

  test('yields each line as it arrives', async () => {
    expect((await watched(line(1) + line(2), line(3))).lines).toEqual([{ n: 1 }, { n: 2 }, { n: 3 }])
  })

  test('joins a line that arrives in parts, also within a character', async () => {
    const bytes = Buffer.from(line('域名 🚀'))
    const parts = [...bytes].map(byte => Buffer.from([byte]))
    expect((await watched(...parts, line(2))).lines).toEqual([{ n: '域名 🚀' }, { n: 2 }])
  })

  test('drops an incomplete last line and empty lines', async () => {
    expect((await watched(line(1), '\n', '{"n":')).lines).toEqual([{ n: 1 }])
  })

  test('reports every packet as a sign of life', async () => {
    const { touched } = await watched('{"n"', ':1}\n')
    expect(touched).toBeGreaterThan(0)
  })

  test("that is refused throws the server's message", async () => {
    const { client } = await speaking(response => json(response, 410, { reason: 'Expired', message: 'too old' }))
    const lines = client.watch('/x', {}, AbortSignal.timeout(60_000), () => undefined)
    await expect(lines[Symbol.asyncIterator]().next()).rejects.toMatchObject({ status: 410, reason: 'Expired' })
  })

  test('with a line that is not JSON fails, so that it is restarted', async () => {
    await expect(watched(line(1), 'oops\n')).rejects.toThrow(SyntaxError)
  })
})

test('the namespace is that of the context, and none where it names none', () => {
  const config = (namespace?: string) => {
    const made = new KubeConfig()
    made.loadFromOptions({
      clusters: [],
      users: [],
      contexts: [{ name: 'here', cluster: 'c', user: 'u', ...(namespace ? { namespace } : {}) }],
      currentContext: 'here',
    })
    return made
  }
  expect(currentNamespace(config('mail'))).toBe('mail')
  expect(currentNamespace(config())).toBeUndefined()
})

/** The built app over a real socket: what is cached, compressed, refused, and that no page comes without its policy. */
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer, get, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { compressFolder } from '../../../scripts/build-panel.ts'
import { createWeb, notFound } from '../../platform/http/web-app.ts'
import { silentLog } from '../../platform/observability/log.ts'
import { createMetrics } from '../../platform/observability/metrics.ts'
import { mountPanel } from './panel-files.ts'

const script = `console.log("${'postwright '.repeat(200)}")`
let folder: string
const stops: (() => Promise<unknown>)[] = []

async function serve(from: string, https: boolean): Promise<string> {
  const app = createWeb({ log: silentLog, metrics: createMetrics('test'), trustedProxies: [] })
  await mountPanel(app, { folder: from, https })
  app.use(notFound)
  const server = createServer(app.callback())
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  stops.push(() => new Promise(resolve => server.close(resolve)))
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

interface Answer {
  status: number
  headers: IncomingMessage['headers']
  body: Buffer
}

/** `fetch` decodes on its own, so the bytes are read with the plain client. */
function ask(url: string, headers: Record<string, string> = {}, method = 'GET'): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const request = get(url, { headers, method, agent: false }, response => {
      const parts: Buffer[] = []
      response.on('data', (part: Buffer) => parts.push(part))
      response.on('end', () =>
        resolve({ status: response.statusCode ?? 0, headers: response.headers, body: Buffer.concat(parts) }),
      )
    })
    request.on('error', reject)
  })
}

const page = { accept: 'text/html,application/xhtml+xml' }
let base: string

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'pw-panel-'))
  await mkdir(join(folder, 'assets'))
  await writeFile(join(folder, 'index.html'), '<meta nonce="__CSP_NONCE__"><script type="module" src="/assets/a.js">')
  await writeFile(join(folder, 'assets/a.js'), script)
  await writeFile(join(folder, 'assets/f.woff2'), 'font')
  await writeFile(join(folder, 'favicon.svg'), '<svg/>')
  await writeFile(join(folder, '.sources'), 'fingerprint')
  await compressFolder(folder)
  base = await serve(folder, false)
})

afterAll(async () => {
  for (const stop of stops) await stop()
  await rm(folder, { recursive: true })
})

test.each([
  ['br, gzip', 'br', brotliDecompressSync],
  ['gzip', 'gzip', gunzipSync],
  ['identity', undefined, (body: Buffer) => body],
  ['', undefined, (body: Buffer) => body],
])('a hashed file for "%s" comes encoded as %s and is kept for ever', async (accept, encoding, decode) => {
  const answer = await ask(`${base}/assets/a.js`, { 'accept-encoding': accept })
  expect(answer.status).toBe(200)
  expect(answer.headers['content-encoding']).toBe(encoding)
  expect(answer.headers['cache-control']).toBe('public, max-age=31536000, immutable')
  expect(answer.headers['content-type']).toBe('text/javascript; charset=utf-8')
  expect(answer.headers['x-content-type-options']).toBe('nosniff')
  expect(decode(answer.body).toString()).toBe(script)
})

test('a file that is not hashed is asked for again after an hour, and an equal one is not sent twice', async () => {
  const first = await ask(`${base}/favicon.svg`)
  expect(first.headers['cache-control']).toBe('public, max-age=3600')
  const second = await ask(`${base}/favicon.svg`, { 'if-none-match': String(first.headers.etag) })
  expect([second.status, second.body.length]).toEqual([304, 0])
})

test.each(['/', '/domains', '/messages/em_1?tab=raw', '/subscriptions/plans'])('%s is the app', async path => {
  const answer = await ask(base + path, page)
  expect(answer.status).toBe(200)
  expect(answer.headers['content-type']).toBe('text/html; charset=utf-8')
  expect(answer.headers['cache-control']).toBe('no-store')
})

test.each([{ accept: '*/*' }, {}])('the address itself is the app also for who asks with %o', async headers => {
  const answer = await ask(`${base}/`, headers)
  expect(answer.status).toBe(200)
  expect(answer.headers['content-type']).toBe('text/html; charset=utf-8')
  expect((await ask(`${base}/`, headers, 'HEAD')).status).toBe(200)
})

test('every page has a nonce of its own, the same in the policy and in the document, and no inline script', async () => {
  const [one, two] = await Promise.all([ask(`${base}/`, page), ask(`${base}/`, page)])
  const nonces = [one, two].map(
    answer => /'nonce-([\w-]+)'/.exec(String(answer.headers['content-security-policy']))?.[1],
  )
  expect(nonces[0]).toHaveLength(24)
  expect(nonces[0]).not.toBe(nonces[1])
  expect(one.body.toString()).toContain(`nonce="${nonces[0]}"`)
  expect(one.body.toString()).not.toContain('__CSP_NONCE__')
  expect(one.headers['content-security-policy']).toContain("default-src 'none'; script-src 'self'; style-src 'self' ")
  expect(one.headers['content-security-policy']).not.toContain('unsafe')
  expect(one.headers['content-security-policy']).toContain("frame-ancestors 'none'")
})

test.each([
  ['/api/v1/nothing', page],
  ['/subscription-api/nothing', page],
  ['/assets/gone.js', page],
  ['/u/token', page],
  ['/metrics', page],
  ['/domains', { accept: 'application/json' }],
  ['/index.html.br', { accept: '*/*' }],
  ['/', { accept: 'application/json' }],
  ['/domains', { accept: '*/*' }],
  ['/..%2f..%2fetc%2fpasswd', { accept: '*/*' }],
])('%s with %o is not the app', async (path, headers) => {
  const answer = await ask(base + path, headers)
  expect(answer.status).toBe(404)
  expect(answer.headers['content-type']).toContain('application/problem+json')
})

test('a write to a page is not the app', async () => {
  expect((await ask(`${base}/domains`, page, 'DELETE')).status).toBe(404)
})

test.each(['/assets/a.js.br', '/.sources'])(
  '%s is no address: twins and hidden files belong to the build',
  async path => {
    expect((await ask(base + path)).status).toBe(404)
  },
)

test('only an https installation asks browsers to stay on https', async () => {
  expect((await ask(`${base}/`, page)).headers['strict-transport-security']).toBeUndefined()
  const secure = await serve(folder, true)
  expect((await ask(`${secure}/`, page)).headers['strict-transport-security']).toBe('max-age=31536000')
})

test('without a built app pages report that', async () => {
  const bare = await serve(join(folder, 'missing'), false)
  const answer = await ask(`${bare}/domains`, page)
  expect(answer.status).toBe(503)
  expect(JSON.parse(answer.body.toString())).toMatchObject({ code: 'unavailable', detail: /not built/ })
})

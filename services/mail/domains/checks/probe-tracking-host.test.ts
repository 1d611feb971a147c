import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { readConfig } from '../../../platform/process/config.ts'
import { createSecrets } from '../../../platform/security/secrets.ts'
import type { RecordCheck } from '../../dns/records/evaluate-record.ts'
import type { Lookup } from '../../dns/records/lookup.ts'
import { PROBE_PATH, probeAnswers } from '../../message/tracking-host.ts'
import { withProbedTracking } from './probe-tracking-host.ts'

const SECRET = 'a secret of at least thirty-two bytes'
const secrets = createSecrets(SECRET)
const answerAt = (host: string) => probeAnswers(text => secrets.macs('tracking', text), host)[0] ?? ''
const OURS = answerAt('links.example.com')
const record = (row: string, status: RecordCheck['status']): RecordCheck => ({
  ...{ row, status, observed: [], errors: [], warnings: [], instructions: [] },
})
const loopback: Lookup = async (_, type) =>
  type === 'A' ? { kind: 'found', values: ['127.0.0.1'], ttl: 60 } : { kind: 'missing', reason: 'nodata' }

/** The record of tracking after a probe of a server that answers so. */
async function probed(
  answer: { status?: number; text: string },
  { lookup = loopback, env = {}, status = 'verified' as RecordCheck['status'] } = {},
) {
  const asked: string[] = []
  const server = createServer((request, response) => {
    asked.push(`${request.headers.host?.replace(/:\d+$/, '')}${request.url}`)
    response.writeHead(answer.status ?? 200, { location: 'http://127.0.0.1/elsewhere' }).end(answer.text)
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  const { port } = server.address() as AddressInfo
  const config = readConfig({
    ...{ MAIL_HOSTNAME: 'mail.example.com', SESSION_SECRET: SECRET, DNS_ALLOW_PRIVATE: 'true' },
    ...{ APP_BASE_URL: `http://app.example.net:${port}`, TRACKING_SCHEME: 'http', ...env },
  })
  const records = [record('spf', 'failed'), record('tracking', status)]
  const [spf, tracking] = await withProbedTracking({ config, secrets }, 'example.com', records, lookup)
  expect(spf).toEqual(records[0])
  return { tracking, asked }
}

test('a host that leads here is verified', async () =>
  expect(await probed({ text: OURS })).toMatchObject({
    tracking: { status: 'verified', errors: [] },
    asked: [`links.example.com${PROBE_PATH}`],
  }))

test.each<[string, Parameters<typeof probed>, string]>([
  ['another service', [{ text: 'welcome' }], 'tracking.other_answer'],
  ['a proxy that passes another host on', [{ text: answerAt('app.example.net') }], 'tracking.other_answer'],
  ['an error', [{ status: 404, text: OURS }], 'tracking.other_answer'],
  ['a redirect', [{ status: 301, text: OURS }], 'tracking.other_answer'],
  ['a very long answer', [{ text: 'x'.repeat(100_000) }], 'tracking.connection'],
  [
    'no TLS',
    [{ text: OURS }, { env: { APP_BASE_URL: 'https://app.example.net:1', TRACKING_SCHEME: 'https' } }],
    'tracking.connection',
  ],
  ['a private address', [{ text: OURS }, { env: { DNS_ALLOW_PRIVATE: 'false' } }], 'tracking.no_address'],
  [
    'no address',
    [{ text: OURS }, { lookup: async () => ({ kind: 'missing', reason: 'nodata' }) }],
    'tracking.no_address',
  ],
])('%s is a failure with what to do', async (_, given, reason) => {
  const { tracking } = await probed(...given)
  expect(tracking).toMatchObject({
    status: 'failed',
    errors: [{ code: 'tracking.unreachable', params: { reason: { code: reason } } }],
    instructions: [{ code: 'tracking.serve_host', params: { host: 'links.example.com' } }],
  })
})

test('a host without its record is not asked', async () =>
  expect(await probed({ text: OURS }, { status: 'not_started' })).toMatchObject({
    tracking: { status: 'not_started' },
    asked: [],
  }))

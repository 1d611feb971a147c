/** The official SDKs for Go and Rust, unmodified, in programs of a few calls each. */
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { signedHeaders } from '../../../services/platform/webhooks/rules/standard-webhooks.ts'
import { makeSecret } from '../../../services/platform/webhooks/webhook-secret.ts'
import { type CompatApi, startCompatApi } from '../../support/http/compat-api.ts'
import { buildSdkProgram, type SdkLanguage } from '../../support/programs/sdk-programs.ts'

const run = promisify(execFile)

let api: CompatApi
beforeAll(async () => {
  api = await startCompatApi({ DNS_SERVERS: '127.0.0.1:9' })
})
afterAll(() => api.stop())

const programOf = (language: SdkLanguage) => buildSdkProgram(language, join(import.meta.dirname, 'sdks', language))

/** Runs the program with the address in RESEND_BASE_URL and the token as its first argument. */
async function call(language: SdkLanguage, args: readonly string[] = []): Promise<Record<string, unknown>> {
  const env = { ...process.env, RESEND_BASE_URL: `${api.url}/` }
  const { stdout } = await run(await programOf(language), [api.key, ...args], { env })
  return JSON.parse(stdout) as Record<string, unknown>
}

const COMMON = { id: expect.stringMatching(/^em_/), same: true }

describe('the SDK for Go', () => {
  // The first run builds the program.
  beforeAll(async () => void (await programOf('go')), 600_000)
  test('sends bytes as lists of integers, does everything else, and verifies a signature', async () => {
    const secret = makeSecret()
    const body = JSON.stringify({ type: 'email.sent' })
    const headers = signedHeaders([secret], 'msg_1', Math.floor(Date.now() / 1000), body, ['svix'])
    const signed = ['id', 'timestamp', 'signature'].map(name => headers[`svix-${name}`] ?? '')
    const found = await call('go', [body, ...signed, secret])
    expect(found).toEqual({
      ...COMMON,
      shown: ['Ann <ann@sender.example>', ['bob@example.net'], 'Hello', 'queued'],
      ...{ updated: true, canceled: true, listed: [true, true], batch: [1, 1] },
      ...{ domain: ['not_started', true], verified: true, removed: true, key: true },
      ...{ template: 'published', webhook: 'enabled', refused: expect.stringContaining('domain'), signature: true },
    })
    const bytes = Buffer.from(Uint8Array.from({ length: 300_000 }, (_, n) => n % 256))
    const raw = (await api.rawOf(String(found.id))).replaceAll('\r\n', '')
    expect(raw).toContain(bytes.toString('base64'))
    expect(raw).toMatch(/Content-Id: <logo>/i)
  })
})

describe('the SDK for Rust', () => {
  beforeAll(async () => void (await programOf('rust')), 600_000)
  test('sends, and reads every answer into its types', async () => {
    const found = await call('rust')
    expect(found).toEqual({
      ...COMMON,
      shown: ['Ann <ann@sender.example>', ['bob@example.net'], 'Hello', 'Queued'],
      ...{ listed: true, batch: 2, domain: ['NotStarted', true, 2, true], keys: true },
      ...{
        suppression: 'Manual',
        template: 'Published',
        webhook: [1, 'enabled'],
        refused: [422, 'missing_required_field'],
      },
    })
    const bytes = Buffer.from(Uint8Array.from({ length: 256 }, (_, n) => n))
    const raw = await api.rawOf(String(found.id))
    expect(raw.replaceAll('\r\n', '')).toContain(bytes.toString('base64'))
    expect(raw).toContain('application/x-a')
  })
})

/** The example of docs/inbox.md as a reader runs it: the tiny application, its Playwright tests and a domain that captures. */
import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { openSession } from '../../services/accounts/login-sessions.ts'
import { CAPTURED } from '../../services/mail/store/captured.ts'
import { collectionOf } from '../../services/platform/database/mongo.ts'
import { giveUser } from '../support/accounts/accounts-and-domains.ts'
import { freePort } from '../support/database/test-mongod.ts'
import { apiClient } from '../support/http/api-client.ts'
import { MAIL_OPERATIONS } from '../support/http/panel-api.ts'
import { program } from '../support/programs/programs.ts'
import { type PanelService, startPanelService } from './support/panel-service.ts'

const FOLDER = 'docs/playwright'
const run = promisify(execFile)

let service: PanelService
beforeAll(async () => {
  service = await startPanelService({ DELIVERY_MODE: 'direct' })
}, 400_000)
afterAll(() => service?.stop())

/** A domain without a single DNS record, and a token for it. */
async function prepare(domain: string) {
  const { mongo, foundation, url } = service
  const user = await giveUser(mongo.db)
  const store = { db: mongo.db, secrets: foundation.secrets }
  const session = await openSession(store, user, '127.0.0.1', new Date(), {})
  const client = apiClient(url, MAIL_OPERATIONS).with({ cookie: `pw_session=${session}`, 'x-csrf': '1' })
  const { body } = await client.post('/api/v1/domains', { name: domain })
  expect((await client.call('PATCH', `/api/v1/domains/${body.id}`, { delivery: 'capture' })).status).toBe(200)
  const scopes = ['emails:send', 'inbox:read']
  return (await client.post('/api/v1/tokens', { name: 'suite', scopes, domains: [domain] })).body.token
}

test('passes with two sign-ups, by link and by code, and no mail leaves', async () => {
  const domain = 'preview-42.example.com'
  const output = await mkdtemp(join(tmpdir(), 'playwright-example-'))
  onTestFinished(() => rm(output, { recursive: true, force: true }))
  const { stdout } = await run(
    process.execPath,
    ['node_modules/@playwright/test/cli.js', 'test', '--config', FOLDER, '--reporter', 'line', '--output', output],
    {
      env: {
        ...{
          PATH: `${join(process.execPath, '..')}:${process.env.PATH}`,
          HOME: output,
          APP_PORT: String(await freePort()),
        },
        ...{ POSTWRIGHT_URL: service.url, POSTWRIGHT_DOMAIN: domain, POSTWRIGHT_TOKEN: await prepare(domain) },
        CHROMIUM: process.env.CHROMIUM || program('chromium'),
      },
    },
  )
  expect(stdout).toContain('2 passed')
  const captured = await collectionOf(service.mongo.db, CAPTURED).find().project({ subject: 1 }).toArray()
  expect(captured.map(({ subject }) => subject)).toEqual(['Confirm your address', 'Confirm your address'])
}, 180_000)

test.each(['docs/inbox.md', 'docs/inbox.zh-CN.md'])('%s shows the files that this test runs', async document => {
  const text = await readFile(document, 'utf8')
  for (const file of ['inbox.ts', 'sign-up.spec.ts'])
    expect(text).toContain(`\`\`\`ts\n${await readFile(join(FOLDER, file), 'utf8')}\`\`\``)
})

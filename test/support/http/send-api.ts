/** The send API on a free port with its own database, and a client that checks responses against the contract. */
import { onTestFinished } from 'vitest'
import { openSession } from '../../../services/accounts/login-sessions.ts'
import { findUser, type UserDoc } from '../../../services/accounts/store/users.ts'
import { type Clock, systemClock } from '../../../services/platform/clock.ts'
import type { Mongo } from '../../../services/platform/database/mongo.ts'
import { silentLog } from '../../../services/platform/observability/log.ts'
import { createMetrics } from '../../../services/platform/observability/metrics.ts'
import { readConfig } from '../../../services/platform/process/config.ts'
import { createSecrets } from '../../../services/platform/security/secrets.ts'
import { send } from '../../../services/send.ts'
import { giveDomain, giveToken, giveUser } from '../accounts/accounts-and-domains.ts'
import { freshDatabase } from '../database/test-database.ts'
import { type Answer, openApiChecker } from './openapi-checker.ts'

/** A running send API with one account that may send from `example.com`. */
export interface SendApi {
  url: string
  mongo: Mongo
  user: UserDoc
  domainId: string
  /** Bearer token of the account. */
  token: string
  call: Call
  stop(): Promise<void>
}

/** One request. `body` is sent as JSON, a string unchanged; `token: ''` sends no Authorization. */
export type Call = (method: string, path: string, options?: CallOptions) => Promise<Answer & { text: string }>

/** Options of a request. */
export interface CallOptions {
  body?: unknown
  token?: string
  headers?: Record<string, string>
}

const checkContract = openApiChecker('mail')
const SECRET = 'a-secret-for-tests-of-at-least-32-bytes'

/** Starts it; `env` adds settings. With the database of another API, the account needs another verified domain. */
export async function startSendApi(
  env: Record<string, string> = {},
  {
    mongo: given,
    clock = systemClock,
    domain: name = 'example.com',
  }: { mongo?: Mongo; clock?: Clock; domain?: string } = {},
): Promise<SendApi> {
  const mongo = given ?? (await freshDatabase())
  const config = readConfig({
    APP_PORT: '0',
    MAIL_HOSTNAME: 'mail.example.com',
    SESSION_SECRET: SECRET,
    SEND_REQUESTS_PER_SECOND: '0',
    API_REQUESTS_PER_MINUTE: '0',
    PANEL_REQUESTS_PER_MINUTE: '0',
    ...env,
  })
  const running = await send({
    config,
    log: silentLog,
    metrics: createMetrics('test'),
    mongo,
    secrets: createSecrets(SECRET),
    clock,
  })
  const url = `http://127.0.0.1:${running.port}`
  const user = await giveUser(mongo.db)
  const domain = await giveDomain(mongo.db, user._id, name, { status: 'verified', verified_by: 'dns' })
  const { value: token } = await giveToken(mongo.db, user._id)
  return {
    url,
    mongo,
    user,
    domainId: domain._id,
    token,
    call: (method, path, options = {}) => call(url, method, path, { token, ...options }),
    async stop() {
      await running.stop()
      await mongo.stop()
    },
  }
}

/** Starts it for one test. */
export async function sendApiForThisTest(env: Record<string, string> = {}): Promise<SendApi> {
  const api = await startSendApi(env)
  onTestFinished(() => api.stop())
  return api
}

/** The headers of a panel session of this account. */
export async function sessionHeaders(mongo: Mongo, userId: string): Promise<Record<string, string>> {
  const user = await findUser(mongo.db, userId)
  if (!user) throw new Error(`there is no user ${userId}`)
  const secrets = createSecrets(SECRET)
  return {
    cookie: `pw_session=${await openSession({ db: mongo.db, secrets }, user, '127.0.0.1', new Date())}`,
    'x-csrf': '1',
  }
}

async function call(url: string, method: string, path: string, { body, token, headers }: CallOptions) {
  const response = await fetch(url + path, {
    method,
    headers: {
      ...(token && { authorization: `Bearer ${token}` }),
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  })
  const text = await response.text()
  const isJson = /json/.test(response.headers.get('content-type') ?? '')
  const answer = { status: response.status, headers: response.headers, body: isJson ? JSON.parse(text) : text, text }
  checkContract(method, path.split('?')[0] ?? '', answer)
  return answer
}

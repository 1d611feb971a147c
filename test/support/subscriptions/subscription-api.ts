/** The Subscription Administration API for tests: a running service, a test clock, and a client that validates responses. */
import { readFileSync } from 'node:fs'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { parse } from 'yaml'
import { createUser } from '../../../services/accounts/manage-accounts.ts'
import { admin } from '../../../services/admin.ts'
import { silentLog } from '../../../services/platform/observability/log.ts'
import type { Foundation } from '../../../services/platform/process/run.ts'
import { openSubscriptions, type Subscriptions } from '../../../services/subscriptions/context.ts'
import { openApiDocument, operations } from '../../../services/subscriptions/http/openapi.ts'
import { freshDatabase } from '../database/test-database.ts'
import { closed, openApiChecker } from '../http/openapi-checker.ts'
import { testFoundation } from '../processes/test-foundation.ts'
import { type TestClock, testClock } from '../time/test-clock.ts'

/** A response that conforms to the frozen contract, or to the generated one for operations that the frozen one lacks. */
export interface ApiAnswer {
  status: number
  headers: Headers
  text: string
  // biome-ignore lint/suspicious/noExplicitAny: tests read JSON of many shapes, which the client has validated
  body: any
}

/** Options of a request. */
export interface ApiRequest {
  /** Sent as the header `token`; by default the super administrator's, none if empty. */
  token?: string
  /** By default it selects the app `demo`. */
  query?: Record<string, string>
  /** JSON, or text unchanged. */
  body?: unknown
  headers?: Record<string, string>
}

/** A running service with an administrator, and an app `demo` with its credentials. */
export interface SubscriptionApi {
  url: string
  foundation: Foundation
  context: Subscriptions
  clock: TestClock
  /** Fields of the information and warnings that the service logged. */
  logged: Record<string, unknown>[]
  demo: { id: string; publishableKey: string; secret: string }
  /** Calls an operation of administrators on the app `demo`. */
  call(method: string, path: string, request?: ApiRequest): Promise<ApiAnswer>
  /** Calls the server API with the secret of `demo`. */
  server(method: string, path: string, request?: ApiRequest): Promise<ApiAnswer>
  /** Creates another administrator and logs in as it. */
  logIn(role: 'super' | 'operator' | 'viewer', appKeys: string[]): Promise<string>
  /** Advances the clock and logs the super administrator in again, whose session may have expired. */
  later(ms: number): Promise<void>
  stop(): Promise<void>
}

/** Number of validated responses in this run, by contract. */
export const checked = { frozen: 0, generated: 0 }

/** The frozen document: its operations are validated against it, all others against the generated one. */
export const frozenDocument: { paths: Record<string, Record<string, object>> } = parse(
  readFileSync(new URL('../../contract/subscriptions.openapi.yaml', import.meta.url), 'utf8'),
)

const PASSWORD = 'correct horse battery'
const frozen = openApiChecker('subscriptions')
const ajv = new Ajv2020({ strict: false, allErrors: true })
const generated = openApiDocument()
const documented = generated.paths as Record<string, Record<string, { responses: object }>>
ajv.addSchema(closed(generated), 'generated')

/** Starts the service with its own database. The clock stays at 18:00 in Shanghai until it is advanced. */
export async function startSubscriptionApi(env: Readonly<Record<string, string>> = {}): Promise<SubscriptionApi> {
  const mongo = await freshDatabase()
  const clock = testClock()
  const logged: Record<string, unknown>[] = []
  const note = (fields: object) => void logged.push({ ...fields })
  const rates = { ADMIN_REQUESTS_PER_MINUTE: '100000', SERVER_REQUESTS_PER_MINUTE: '100000' }
  const foundation: Foundation = {
    ...testFoundation(mongo, { ...rates, ...env }, clock),
    log: { ...silentLog, info: note, warn: note },
  }
  await createUser(foundation, { username: 'root', password: PASSWORD, role: 'admin', lang: 'zh', tz: 'Asia/Shanghai' })
  const running = await admin(foundation)
  const url = `http://127.0.0.1:${running.port}`
  const logInAs = async (username: string) =>
    (await request(url, 'POST', '/token', { body: { username, password: PASSWORD } })).body.data.token as string
  let token = await logInAs('root')
  const made = await request(url, 'POST', '/app_manage', { token, body: { app_name: 'Demo', app_key: 'demo' } })
  const demo = {
    id: made.body.data.id,
    publishableKey: made.body.data.publishable_key,
    secret: made.body.data.app_secret,
  }
  let admins = 0
  return {
    url,
    foundation,
    context: openSubscriptions(foundation),
    clock,
    logged,
    demo,
    call: (method, path, given = {}) => request(url, method, path, { token, query: { app_key: 'demo' }, ...given }),
    server: (method, path, given = {}) =>
      request(url, method, path, { ...given, headers: { authorization: `Bearer ${demo.secret}`, ...given.headers } }),
    async logIn(role, appKeys) {
      const username = `admin-${++admins}`
      await request(url, 'POST', '/admin', { token, body: { username, password: PASSWORD, role, app_keys: appKeys } })
      return logInAs(username)
    },
    async later(ms) {
      clock.advance(ms)
      token = await logInAs('root')
    },
    async stop() {
      await running.stop()
      await mongo.stop()
    },
  }
}

/** Sends a request and validates its response. */
export async function request(
  url: string,
  method: string,
  path: string,
  { token, query, body, headers }: ApiRequest = {},
): Promise<ApiAnswer> {
  const search = new URLSearchParams(query).toString()
  const response = await fetch(`${url}${path}${search === '' ? '' : `?${search}`}`, {
    method,
    headers: {
      ...(token ? { token } : {}),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  })
  const text = await response.text()
  const isJson = response.headers.get('content-type')?.startsWith('application/json') ?? false
  const answer = {
    status: response.status,
    headers: response.headers,
    text,
    body: isJson ? JSON.parse(text) : undefined,
  }
  checkAnswer(method, path.split('?')[0] ?? path, answer)
  return answer
}

function checkAnswer(method: string, path: string, answer: ApiAnswer): void {
  if (/^\/(ofrep|notify|openapi|readyz|unsubscribe)/.test(path) || answer.status === 304) return
  const template = templateOf(method, path)
  frozen(method, template, answer)
  if (frozenDocument.paths[template]?.[method.toLowerCase()]) checked.frozen++
  else checkGenerated(method, template, answer)
}

/** Validates what the frozen contract lacks: errors by their envelope, other responses by the generated document. */
function checkGenerated(method: string, template: string, answer: ApiAnswer): void {
  const what = `${method} ${template} -> ${answer.status}`
  const responses = documented[template]?.[method.toLowerCase()]?.responses ?? {}
  if (answer.status >= 400 && !(answer.status in responses)) {
    frozen('GET', '/token', answer)
    return
  }
  if (answer.body === undefined) return
  const status = answer.status >= 400 ? String(answer.status) : '200'
  const pointer = [
    'paths',
    template,
    method.toLowerCase(),
    'responses',
    status,
    'content',
    'application/json',
    'schema',
  ]
  const place = pointer.map(part => encodeURIComponent(part.replaceAll('~', '~0').replaceAll('/', '~1'))).join('/')
  const validate = ajv.compile({ $ref: `generated#/${place}` })
  if (!validate(answer.body)) throw new Error(`${what} breaks its contract: ${ajv.errorsText(validate.errors)}`)
  checked.generated++
}

function templateOf(method: string, path: string): string {
  const fits = (template: string) => new RegExp(`^${template.replaceAll(/\{\w+\}/g, '[^/]+')}$`).test(path)
  const found = operations.filter(operation => fits(operation.path))
  return (found.find(operation => operation.method === method && operation.path === path) ?? found[0])?.path ?? path
}

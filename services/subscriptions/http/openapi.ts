/** The OpenAPI document of this API, generated from the contracts, at `/openapi.json`. */
import type Router from '@koa/router'
import { z } from 'zod'
import type { AnyEndpoint } from '../../platform/http/endpoint.ts'
import { idempotencyHeader } from '../../platform/http/idempotency-key.ts'
import { openApi, operationsOf } from '../../platform/http/openapi.ts'
import { documentOperations } from '../../platform/http/reference/document-operations.ts'
import { mountReference } from '../../platform/http/reference/reference-page.ts'
import type { JsonSchema } from '../../platform/json/json-schema.ts'
import type { Config } from '../../platform/process/config.ts'
import * as apps from '../catalogue/http/apps-contract.ts'
import { ofrepOperations, ofrepRefusal } from '../flags/http/ofrep-contract.ts'
import { noticeOperations, noticeRefusals } from '../payments/http/notices-contract.ts'
import { unsubscribeOperations, unsubscribeRefusal } from '../reminders/http/unsubscribe-contract.ts'
import * as contract from './admin-contract.ts'
import * as server from './server-contract.ts'
import type { Access } from './shared/access.ts'
import { IDEMPOTENCY_KEY } from './shared/idempotency.ts'

/** An operation of this API or of OFREP. */
type AnyAccess = Access | { kind: 'key' }

/** All operations whose responses are envelopes. */
export const operations: readonly AnyEndpoint<Access>[] = [contract, apps, server].flatMap(module =>
  operationsOf<Access>(module),
)

/** Mounts the document and its page. */
export function mountOpenApi(router: Router, config: Pick<Config, 'ADMIN_BASE_URL'>): void {
  mountReference(router, openApiDocument(config.ADMIN_BASE_URL))
}

/** The document, OpenAPI 3.1. */
export function openApiDocument(baseUrl?: string | undefined) {
  return openApi<AnyAccess>({
    title: 'Subscription Administration API',
    description:
      'Administers the users, plans, subscriptions and switches of apps. An app is selected by `app_key`. Every answer but those of OFREP is an envelope `{code, message, data}`. Numbers may be sent as their text. An administrator, an app credential and an address that logs in have a rate a minute; beyond it the answer is 429 with `Retry-After`. Messages are in Chinese (`zh`) or English (`en`): the header `lang` decides, without it `Accept-Language`, without both it is Chinese. `Content-Language` says which it is.',
    version: '1',
    server: baseUrl ?? '/',
    tags: TAGS,
    operations: [
      ...operations.map(withHeaders),
      ...ofrepOperations,
      ...noticeOperations,
      ...unsubscribeOperations,
      ...documentOperations<AnyAccess>({ kind: 'open' }),
    ],
    securitySchemes: SECURITY_SCHEMES,
    security: ({ access }) => SECURITY[access.kind],
    success: ({ access }, data) => (access.kind === 'key' ? data : envelopeOf(data)),
    pathExamples: PATH_EXAMPLES,
    emptyIsAbsent: true,
    refusal,
    refusals: {
      ...refusalsOf(ofrepOperations, ofrepRefusal),
      ...refusalsOf(unsubscribeOperations, unsubscribeRefusal),
      ...noticeRefusals,
    },
  })
}

const refusalsOf = <R>(refused: readonly { operationId: string }[], by: R) =>
  Object.fromEntries(refused.map(({ operationId }) => [operationId, by]))

const PATH_EXAMPLES = {
  'subscription/{id}': '3001',
  'subscription_plan/{id}': '2001',
  'user/{id}': '1001',
  'admin/{id}': '5001',
  'app_manage/{id}': '4001',
  'credential/{credential}': 'crd_01kaqj3v9yxd1m5r8n2t6w0bze',
  'webhook/{webhook}': 'wh_01kaqj3v9yxd1m5r8n2t6w0bze',
  'delivery/{delivery}': 'msg_01kaqj3v9yxd1m5r8n2t6w0bze',
  'channel/{channel}': 'alipay',
  'flags/{key}': 'dark-mode',
  'alipay/{app_key}': 'demo',
  'wechat/{app_key}': 'demo',
  'huawei/{app_key}': 'demo',
  'unsubscribe/{token}': 'the-token-of-the-mail',
}

const TAGS = [
  { name: 'Session', description: 'Login, login status and logout of administrators.' },
  { name: 'Administrators', description: 'Who may use this API, and with which rights.' },
  { name: 'Apps', description: 'The applications whose users and subscriptions are administered.' },
  { name: 'App settings', description: 'Credentials, webhooks and payment channels of an app.' },
  { name: 'Users', description: 'End users of an app.' },
  { name: 'Plans', description: 'What end users can subscribe to.' },
  { name: 'Subscriptions', description: 'Periods of end users on plans.' },
  { name: 'Switches', description: 'Feature switches of an app.' },
  { name: 'Statistics', description: 'Statistics of one app, or of all in scope.' },
  { name: 'Audit log', description: 'Who changed what.' },
  { name: 'Resources', description: 'Kubernetes resources that own records.' },
  { name: 'Server', description: 'For the back ends of apps.' },
  { name: 'OFREP', description: 'Evaluation of switches by OpenFeature providers.' },
  { name: 'Service', description: 'Payment notices, links in mails, this document, and the probe of load balancers.' },
]

const SECURITY_SCHEMES = {
  token: { type: 'apiKey', in: 'header', name: 'token', description: 'The token that the login gives.' },
  appSecret: { type: 'http', scheme: 'bearer', description: 'A secret of the app (`ask_…`).' },
  appSignature: {
    type: 'apiKey',
    in: 'header',
    name: 'Authorization',
    description:
      '`SUB-HMAC-SHA256 key_id=…,timestamp=…,nonce=…,signature=…`: HMAC-SHA256 in hex over method, target, timestamp, nonce and the SHA-256 of the body in hex, each followed by a line feed.',
  },
  appKey: { type: 'apiKey', in: 'header', name: 'X-API-Key', description: 'A publishable key or a secret of the app.' },
  appBearer: { type: 'http', scheme: 'bearer', description: 'The same key as a Bearer token.' },
}

const SECURITY: Readonly<Record<AnyAccess['kind'], Record<string, string[]>[]>> = {
  open: [],
  admin: [{ token: [] }],
  app: [{ appSecret: [] }, { appSignature: [] }],
  key: [{ appKey: [] }, { appBearer: [] }],
}

const languageHeaders = {
  lang: z.string().optional().describe('Language of messages: `zh` or `en`.'),
  'Accept-Language': z.string().optional().describe('Language of messages where `lang` is missing.'),
}
const idempotencyHeaders = idempotencyHeader(IDEMPOTENCY_KEY, 'changes nothing')

/** Adds the headers that all operations, or all writes, read. */
function withHeaders(operation: AnyEndpoint<Access>): AnyEndpoint<Access> {
  const { access, method, headers } = operation
  const isWrite = access.kind !== 'open' && (method === 'POST' || method === 'PUT')
  const common = z.object({ ...languageHeaders, ...(isWrite && idempotencyHeaders) })
  return { ...operation, headers: headers ? common.extend(headers.shape) : common }
}

function envelopeOf(data: JsonSchema): JsonSchema {
  return {
    type: 'object',
    properties: { code: { type: 'integer' }, message: { type: 'string' }, data },
    required: ['code', 'message', 'data'],
  }
}

const refusal = {
  description: 'A refusal: code is the HTTP status times 100 plus a number.',
  mediaType: 'application/json',
  name: 'Refusal',
  schema: envelopeOf({
    type: 'object',
    properties: {
      errors: {
        type: 'array',
        items: {
          type: 'object',
          properties: {
            field: { type: 'string' },
            rule: { type: 'string' },
            code: { type: 'string', description: 'More precise than the rule.' },
            params: { type: 'string', description: 'The values in the message as the text of a JSON object.' },
            message: { type: 'string', description: 'In the language of the answer.' },
          },
          required: ['field', 'rule', 'code', 'message'],
        },
      },
    },
  }),
}

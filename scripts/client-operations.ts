/** The operations of an OpenAPI document as a module of the client: see `clients/typescript/src/runtime/operation.ts`. */

interface Content {
  content?: Record<string, unknown>
}

interface ClientOperation {
  operationId: string
  summary: string
  tags: string[]
  security: Record<string, string[]>[]
  parameters?: { name: string; in: string }[]
  requestBody?: Content
  responses: Record<string, Content>
}

/** The parts of a document that the client is made from. */
export interface ClientDocument {
  paths: Record<string, Record<string, ClientOperation>>
}

/** Credentials that a client can have: tokens of the mail API, sessions of administrators, secrets and keys of apps. */
const CREDENTIALS = ['token', 'appSecret', 'appBearer']

/** The login of the Subscription Administration API, which gives the token of its session. */
const LOGIN = '/token'

/**
 * The document without what no program calls: operations that only a session of the panel opens, pages and links in
 * mails, notices of payment channels.
 */
export function withoutPages<D extends ClientDocument>(document: D): D {
  const paths = Object.entries(document.paths).map(([path, methods]) => [
    path,
    Object.fromEntries(Object.entries(methods).filter(([, { security }]) => path === LOGIN || isForPrograms(security))),
  ])
  return {
    ...document,
    paths: Object.fromEntries(paths.filter(([, methods]) => Object.keys(methods ?? {}).length > 0)),
  }
}

function isForPrograms(security: ClientOperation['security']): boolean {
  return security.some(one => CREDENTIALS.some(name => name in one))
}

const TYPES = ['CallOptions', 'Input', 'KeyOption', 'Operation', 'SendingOperation']

/** The source of the module; `types` is the module of the document's types. */
export function operationsModule({ paths }: ClientDocument, types: string): string {
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, one]) => declaration(`${method.toUpperCase()} ${path}`, one)),
  )
  const used = TYPES.filter(name => operations.some(text => new RegExp(`\\b${name}\\b`).test(text)))
  return [
    `import type { ${used.join(', ')} } from '../runtime/operation.ts'`,
    `import { operation } from '../runtime/operation.ts'`,
    `import type * as types from '${types}'`,
    '',
    ...operations,
  ].join('\n')
}

function declaration(target: string, one: ClientOperation): string {
  const traits = traitsOf(one)
  const given = Object.keys(traits).length === 0 ? '' : `, ${literal(traits)}`
  return `/** ${one.summary} */\nexport const ${one.operationId}: ${typeOf(one, traits)} = /* @__PURE__ */ operation('${target}'${given})\n`
}

function typeOf({ operationId, responses, parameters = [] }: ClientOperation, traits: Traits): string {
  const name = `types.${operationId.charAt(0).toUpperCase()}${operationId.slice(1)}`
  const input = `Input<${name}Data, CallOptions${traits.key ? ' & KeyOption' : ''}>`
  const answer = (status: string) => `${name}Responses[${status}]`
  if ('202' in responses && parameters.some(one => one.name === 'dry_run'))
    return `SendingOperation<${input}, ${answer('202')}, ${answer('200')}>`
  const status = Object.keys(responses).find(one => one.startsWith('2')) ?? '200'
  if (traits.raw) return `Operation<${input}, Response>`
  const result = status === '204' ? 'undefined' : `${answer(status)}${traits.envelope ? `['data']` : ''}`
  return `Operation<${input}, ${result}${'304' in responses ? ' | undefined' : ''}>`
}

/** As `Traits` of the runtime. */
interface Traits {
  auth?: string
  key?: true
  type?: string
  raw?: true
  envelope?: true
}

function traitsOf({ security, parameters = [], requestBody, responses }: ClientOperation): Traits {
  const answers = Object.entries(responses).flatMap(([status, { content = {} }]) =>
    status.startsWith('2') ? Object.keys(content) : [],
  )
  const sent = Object.keys(requestBody?.content ?? { 'application/json': {} })
  const usesTokenHeader = security.some(one => 'token' in one) && !security.some(one => 'session' in one)
  const isEnvelope = usesTokenHeader || security.length === 0 || security.some(one => 'appSecret' in one)
  const isJson = answers.every(type => type === 'application/json')
  return {
    ...(security.length === 0 ? { auth: 'none' } : usesTokenHeader ? { auth: 'token' } : {}),
    ...(parameters.some(one => one.name === 'Idempotency-Key') && { key: true }),
    ...(sent[0] !== undefined && !sent.includes('application/json') && { type: sent[0] }),
    ...(!isJson && { raw: true }),
    ...(isEnvelope && isJson && { envelope: true }),
  }
}

function literal(traits: Traits): string {
  const entries = Object.entries(traits).map(([name, value]) => `${name}: ${value === true ? 'true' : `'${value}'`}`)
  return `{ ${entries.join(', ')} }`
}

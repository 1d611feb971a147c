/** Checks responses against a frozen OpenAPI 3.1 document of test/contract. */
import { readFileSync } from 'node:fs'
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import { parse } from 'yaml'

/** A response. */
export interface Answer {
  status: number
  headers: Headers
  /** Parsed if it was JSON. */
  body: unknown
}

/** Throws if a response of an operation in the document violates the document. */
export type CheckAnswer = (method: string, path: string, answer: Answer) => void

interface ResponseObject {
  $ref?: string
  headers?: Record<string, { required?: boolean; schema: object }>
  content?: Record<string, { schema: object }>
}

interface Document {
  paths: Record<string, Record<string, { responses: Record<string, ResponseObject> }>>
  components: { responses: Record<string, ResponseObject> }
}

/** Loads `test/contract/<name>.openapi.yaml`. Other operations are not checked; `default` applies to errors only. */
export function openApiChecker(name: string): CheckAnswer {
  const document: Document = parse(
    readFileSync(new URL(`../../contract/${name}.openapi.yaml`, import.meta.url), 'utf8'),
  )
  const ajv = new Ajv2020({ strict: false, allErrors: true })
  ajv.addSchema(document, name)
  const compiled = new Map<string, ValidateFunction>()
  const check = (pointer: string, value: unknown, what: string) => {
    const validate = compiled.get(pointer) ?? ajv.compile({ $ref: `${name}#${pointer}` })
    compiled.set(pointer, validate)
    if (!validate(value)) throw new Error(`${what} breaks the contract: ${ajv.errorsText(validate.errors)}`)
  }
  const find = (method: string, path: string, status: number, what: string) => {
    const responses = document.paths[path]?.[method]?.responses ?? {}
    const key = String(status) in responses || status < 400 ? String(status) : 'default'
    const given = responses[key]
    if (!given) throw new Error(`${what} is no answer of the contract`)
    const name = given.$ref?.split('/').at(-1)
    if (name === undefined) return { response: given, place: `/paths/${escaped(path)}/${method}/responses/${key}` }
    return { response: document.components.responses[name], place: `/components/responses/${name}` }
  }
  return (method, path, { status, headers, body }) => {
    if (!document.paths[path]?.[method.toLowerCase()]) return
    const what = `${method} ${path} -> ${status}`
    const { response, place } = find(method.toLowerCase(), path, status, what)
    const type = headers.get('content-type')?.split(';')[0] ?? ''
    if (!response?.content?.[type]) throw new Error(`${what} has the content type "${type}", which the contract lacks`)
    check(`${place}/content/${escaped(type)}/schema`, body, what)
    for (const [header, { required }] of Object.entries(response.headers ?? {})) {
      const value = headers.get(header)
      if (value !== null) check(`${place}/headers/${header}/schema`, value, `${what}, header ${header},`)
      else if (required) throw new Error(`${what} lacks the header ${header}`)
    }
  }
}

/** A schema whose objects permit listed fields only, so that additional fields are reported. */
export function closed<T>(schema: T): T {
  if (Array.isArray(schema)) return schema.map(item => closed(item) as unknown) as T
  if (typeof schema !== 'object' || schema === null) return schema
  const inner = Object.fromEntries(Object.entries(schema).map(([key, value]) => [key, closed(value as unknown)]))
  const open = inner.type === 'object' && inner.properties !== undefined && inner.additionalProperties === undefined
  return (open ? { ...inner, additionalProperties: false } : inner) as T
}

function escaped(part: string): string {
  return encodeURIComponent(part.replaceAll('~', '~0').replaceAll('/', '~1'))
}

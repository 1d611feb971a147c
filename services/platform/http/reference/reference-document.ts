/** The parts of an OpenAPI document that the page for readers shows. */
import type { JsonSchema } from '../../json/json-schema.ts'

interface Content {
  schema: JsonSchema
  example?: unknown
}

/** A parameter in the path, the query or a header. */
export interface ReferenceParameter {
  name: string
  in: string
  required: boolean
  description?: string
  schema: JsonSchema
  example?: unknown
}

/** One operation of a document. */
export interface ReferenceOperation {
  operationId: string
  tags: readonly string[]
  summary: string
  /** Alternatives; empty: open to anybody. */
  security: readonly Readonly<Record<string, readonly string[]>>[]
  parameters?: readonly ReferenceParameter[] | undefined
  requestBody?: { required: boolean; content: Readonly<Record<string, Content>> } | undefined
  responses: Readonly<
    Record<string, { $ref?: string; description?: string; content?: Readonly<Record<string, Content>> }>
  >
}

/** A document that `openApi` made. */
export interface ReferenceDocument {
  info: { title: string; description: string }
  servers: readonly { url: string }[]
  tags: readonly { name: string; description: string }[]
  paths: Readonly<Record<string, Readonly<Record<string, ReferenceOperation>>>>
  components: {
    securitySchemes: Readonly<Record<string, SecurityScheme>>
    schemas: Readonly<Record<string, JsonSchema>>
  }
}

/** How a caller shows who it is. */
export interface SecurityScheme {
  type: string
  /** Of the type `http`. */
  scheme?: string
  /** Of the header or cookie. */
  name?: string
  in?: string
  description: string
}

/** An operation with its place. */
export interface PlacedOperation {
  /** In capital letters. */
  method: string
  path: string
  operation: ReferenceOperation
}

/** All operations in the order of the document. */
export function placedOperations({ paths }: ReferenceDocument): PlacedOperation[] {
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ method: method.toUpperCase(), path, operation })),
  )
}

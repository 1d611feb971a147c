/**
 * JSON schemas for kubeconform, one file per kind: those of Kubernetes from a real API server's OpenAPI document, those of
 * custom resources from their definitions. Closed, so that an unknown field is an error.
 */
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

type Json = Record<string, unknown>

/** An OpenAPI 2 document, as `/openapi/v2` gives it. */
export interface OpenApi {
  definitions: Record<string, Json>
}

/** The schema part of a CustomResourceDefinition. */
export interface Definition {
  spec: { group: string; names: { kind: string }; versions: { name: string; schema: { openAPIV3Schema: Json } }[] }
}

/** The path template of the files of a folder for kubeconform. */
export const locationIn = (folder: string) => join(folder, '{{.Group}}-{{.ResourceAPIVersion}}-{{.ResourceKind}}.json')

/** Writes a file for every kind of the document and of the definitions. */
export async function writeSchemas(folder: string, api: OpenApi, definitions: readonly Definition[]): Promise<void> {
  await mkdir(folder, { recursive: true })
  const closed = Object.fromEntries(Object.entries(api.definitions).map(([name, schema]) => [name, close(schema)]))
  const own = Object.entries(closed).flatMap(([name, schema]) =>
    kindsOf(schema).map(({ group, version, kind }) => {
      const needed = reachable(name, closed)
      const file = { $ref: `#/definitions/${name}`, definitions: Object.fromEntries(needed.map(n => [n, closed[n]])) }
      return [fileName(group, version, kind), file] as const
    }),
  )
  const custom = definitions.flatMap(({ spec }) =>
    spec.versions.map(({ name, schema }) => {
      const file = close(schema.openAPIV3Schema)
      Object.assign(file.properties as Json, { metadata: { type: 'object' } })
      return [fileName(spec.group, name, spec.names.kind), file] as const
    }),
  )
  // The server describes custom resources as well, but loses part of their definitions.
  const files = new Map([...own, ...custom])
  await Promise.all([...files].map(([name, file]) => writeFile(join(folder, name), JSON.stringify(file))))
}

/** The core group has no name; kubeconform uses its version instead. */
const fileName = (group: string, version: string, kind: string) =>
  `${group || version}-${version}-${kind.toLowerCase()}.json`

function kindsOf(schema: Json): { group: string; version: string; kind: string }[] {
  return (schema['x-kubernetes-group-version-kind'] as { group: string; version: string; kind: string }[]) ?? []
}

/** Objects with listed properties permit no others; numbers are permitted where OpenAPI has strings only. */
function close(schema: Json): Json {
  if (schema['x-kubernetes-int-or-string'] === true || schema.format === 'int-or-string')
    return { type: ['string', 'integer'] }
  const result: Json = { ...schema }
  for (const key of ['properties', 'definitions'] as const) {
    if (schema[key])
      result[key] = Object.fromEntries(Object.entries(schema[key]).map(([name, one]) => [name, close(one as Json)]))
  }
  for (const key of ['items', 'additionalProperties', 'not'] as const) {
    if (typeof schema[key] === 'object' && schema[key] !== null) result[key] = close(schema[key] as Json)
  }
  const open = schema.additionalProperties ?? schema['x-kubernetes-preserve-unknown-fields']
  if (schema.properties && open === undefined) result.additionalProperties = false
  return result
}

/** The definition and every one that it references. */
function reachable(start: string, definitions: Record<string, Json>): string[] {
  const found = new Set([start])
  for (const name of found) {
    for (const [, next = ''] of JSON.stringify(definitions[name]).matchAll(/"#\/definitions\/([^"]+)"/g))
      found.add(next)
  }
  return [...found]
}

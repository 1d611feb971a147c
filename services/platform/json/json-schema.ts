/**
 * JSON Schema (2020-12) of the zod schemas in the contracts, as OpenAPI 3.1 documents need it. A schema whose code
 * checks more than zod can express adds JSON Schema keywords by `.meta({ … })`. They must accept every value that the
 * code accepts: clients check their requests with them.
 */
import { z } from 'zod'

/** A JSON Schema. */
export type JsonSchema = Record<string, unknown>

/** The JSON Schemas of one document. */
export interface Schemas {
  /** What a client sends. */
  input(schema: z.ZodType): JsonSchema
  /** What a client gets. Objects are open: a client must not fail at a field of a later release. */
  output(schema: z.ZodType): JsonSchema
  /** Schemas with an id, which the others refer to. */
  components(): Record<string, JsonSchema>
}

/**
 * Collects the schemas of a document. A schema with `.meta({ id })` becomes a component. Throws when a schema cannot be
 * expressed, and when two schemas have one id.
 */
export function createSchemas(): Schemas {
  const components = new Map<string, string>()
  const convert = (schema: z.ZodType, io: 'input' | 'output'): JsonSchema => {
    const {
      $schema: _,
      $defs = {},
      ...json
    } = z.toJSONSchema(schema, {
      io,
      override: ({ zodSchema, jsonSchema }) => refine(zodSchema, jsonSchema as JsonSchema, io),
      unrepresentable: ({ zodSchema }) => (z.globalRegistry.has(zodSchema) ? 'any' : 'throw'),
    })
    for (const [id, { id: __, ...definition }] of Object.entries($defs)) {
      const text = referring(definition)
      if ((components.get(id) ?? text) !== text) throw new Error(`Two different schemas have the id ${id}.`)
      components.set(id, text)
    }
    return JSON.parse(referring(json)) as JsonSchema
  }
  return {
    input: schema => convert(schema, 'input'),
    output: schema => convert(schema, 'output'),
    components: () =>
      Object.fromEntries([...components].toSorted().map(([id, text]) => [id, JSON.parse(text) as JsonSchema])),
  }
}

const referring = (json: object) => JSON.stringify(json).replaceAll('"#/$defs/', '"#/components/schemas/')

function refine(schema: z.core.$ZodTypes, json: JsonSchema, io: 'input' | 'output'): void {
  refuseFlags(schema)
  removeHidden(json)
  if (io === 'input' && schema._zod.def.type === 'object') json.required = requiredOf(schema._zod.def.shape, json)
  if (FORMATS.has(json.format) && !z.globalRegistry.get(schema)?.pattern) delete json.pattern
  if (io === 'input') return
  if (json.additionalProperties === false) delete json.additionalProperties
  if (json.minimum === Number.MIN_SAFE_INTEGER) delete json.minimum
  if (json.maximum === Number.MAX_SAFE_INTEGER) delete json.maximum
}

/** Formats of JSON Schema that are equivalent to zod's pattern, so the pattern is omitted. */
const FORMATS: ReadonlySet<unknown> = new Set(['date', 'date-time', 'email', 'ipv4', 'ipv6', 'uri'])

/** Required fields of an object; zod treats fields that begin with code as optional. */
function requiredOf(shape: Readonly<Record<string, z.core.$ZodType>>, { properties }: JsonSchema): string[] {
  const names = Object.keys((properties ?? {}) as Record<string, JsonSchema>)
  return names.filter(name => shape[name] && !z.safeParse(shape[name], undefined).success)
}

/** Leaves out the fields of an object that are marked by `.meta({ hidden: true })`. */
function removeHidden({ properties }: JsonSchema): void {
  for (const [name, property] of Object.entries((properties ?? {}) as Record<string, JsonSchema>))
    if (property.hidden === true) delete (properties as Record<string, JsonSchema>)[name]
}

/** `pattern` has no place for flags: without them it would mean something else. */
function refuseFlags(schema: z.core.$ZodTypes): void {
  for (const { _zod } of schema._zod.def.checks ?? []) {
    const { pattern } = _zod.def as { pattern?: RegExp }
    if (pattern && pattern.flags !== '')
      throw new Error(`A pattern of a contract has flags, which JSON Schema lacks: ${pattern}`)
  }
}

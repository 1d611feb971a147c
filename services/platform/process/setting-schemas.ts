/** JSON Schemas of the settings as text or YAML values, for files that set them, such as the values of the Helm chart. */
import { z } from 'zod'
import { settings } from './config.ts'

/** A JSON Schema (draft 7). */
export type JsonSchema = Record<string, unknown>

/** Templates leave blank settings, which count as unset. */
const BLANK = '^\\s*$'

/** The schema of each setting by name. Rules that a schema cannot express are checked when a process starts. */
export function settingSchemas(): Record<string, JsonSchema> {
  return Object.fromEntries(
    Object.entries(settings).map(([name, setting]) => [
      name,
      { anyOf: [...schemasOf(setting), { type: 'string', pattern: BLANK }], description: setting.description ?? '' },
    ]),
  )
}

/** Schemas of which a value has to fit one. */
function schemasOf(setting: z.ZodType, patterns: readonly string[] = []): JsonSchema[] {
  const pattern = setting.meta()?.pattern
  const known = typeof pattern === 'string' ? [...patterns, pattern] : patterns
  if (setting instanceof z.ZodOptional || setting instanceof z.ZodDefault)
    return schemasOf(setting.unwrap() as z.ZodType, known)
  if (setting instanceof z.ZodPipe) {
    // What `preprocess` makes of blanks is not part of the schema; what follows a transformation is not given by people.
    const { in: first, out: then } = setting._zod.def
    if (first instanceof z.ZodTransform) return schemasOf(then as z.ZodType, known)
    const further = then instanceof z.ZodTransform ? [] : patternsOf(then as z.ZodType)
    return schemasOf(first as z.ZodType, [...known, ...further])
  }
  if (setting instanceof z.ZodUnion) return setting.options.flatMap(option => schemasOf(option as z.ZodType, known))
  if (setting instanceof z.ZodLiteral) return [{ enum: [...setting.values] }]
  if (setting instanceof z.ZodEnum) return [ofEnum(setting.options.map(String))]
  if (setting instanceof z.ZodNumber) return ofNumber(setting)
  return [ofText([...known, ...patternsOf(setting)])]
}

function ofEnum(options: readonly string[]): JsonSchema {
  if (options.includes('true')) return { enum: [...options, true, false, 0, 1] }
  const numbers = options.filter(option => /^\d+$/.test(option)).map(Number)
  return { enum: [...options, ...numbers] }
}

function ofNumber(setting: z.ZodNumber): JsonSchema[] {
  const { type, minimum, maximum } = z.toJSONSchema(setting)
  const bounds = {
    ...(minimum === undefined ? {} : { minimum }),
    ...(maximum === undefined || maximum === Number.MAX_SAFE_INTEGER ? {} : { maximum }),
  }
  return [
    { type, ...bounds },
    { type: 'string', pattern: type === 'integer' ? '^\\s*\\d+\\s*$' : '^\\s*\\d+(\\.\\d+)?\\s*$' },
  ]
}

/** A single number, as a port in a list or a password of digits, is no string in YAML. */
function ofText(patterns: readonly string[]): JsonSchema {
  if (patterns.length === 0) return { type: ['string', 'number'] }
  return { type: 'string', allOf: patterns.map(pattern => ({ pattern })) }
}

function patternsOf(setting: z.ZodType): string[] {
  const json = z.toJSONSchema(setting, { io: 'input', unrepresentable: 'any' }) as JsonSchema
  const all = Array.isArray(json.allOf) ? (json.allOf as JsonSchema[]) : []
  const patterns = [json, ...all].flatMap(({ pattern }) => (typeof pattern === 'string' ? [pattern] : []))
  const address = setting instanceof z.ZodURL ? [urlPattern(setting)] : []
  // Values are trimmed before they are checked; that of a name is lower case by then.
  return [...patterns.filter(pattern => !pattern.startsWith('^(?=')), ...address]
}

function urlPattern(setting: z.ZodURL): string {
  const protocols: readonly string[] = ['http', 'https', 'smtp', 'smtps']
  const allowed = protocols.filter(name => setting.safeParse(`${name}://mail.example.com`).success)
  return `^\\s*(${allowed.join('|')})://\\S+\\s*$`
}

/** Fields of Mongoose schemas (ADR 3), so that the type inferred from a schema is exactly what is stored. */
import mongoose, { type InferRawDocType } from 'mongoose'

const { Schema } = mongoose

/**
 * What is stored is what a store wrote: no `__v`, no `id`, no `_id` in parts, empty objects kept. Fields that the schema
 * lacks are kept: a newer release may have written them, and a replaced document must not lose them.
 */
const OPTIONS = {
  _id: false,
  id: false,
  versionKey: false,
  minimize: false,
  strict: false,
  strictQuery: 'throw',
  suppressReservedKeysWarning: true,
} as const

// An empty text is a value; Mongoose takes it as absent by default.
Schema.Types.String.checkRequired(value => typeof value === 'string')

/** The type of an object with these fields. */
export type Fields<D> = InferRawDocType<D, { typeKey: 'type'; _id: false }>

/** A field that every document has. */
export const required = <const T>(type: T) => ({ type, required: true }) as const
/** A field that may be absent, and is never null. Without the default, Mongoose stores `[]` for an absent array. */
export const optional = <const T>(type: T) => ({ type, allowNull: false, default: undefined }) as const
/** One of these values, in every document. */
export const oneOf = <const V extends string>(...values: V[]) => ({ ...required(String), enum: values })
/** One of these values, or absent. */
export const optionalOneOf = <const V extends string>(...values: V[]) => ({ ...optional(String), enum: values })
/** A value that only zod or a rule checks, in every document. */
export const unchecked = <T>() => required(Schema.Types.Mixed) as unknown as { required: true; __rawDocTypeHint: T }
/** The same, in some documents. */
export const optionalUnchecked = <T>() =>
  optional(Schema.Types.Mixed) as unknown as { allowNull: false; __rawDocTypeHint: T }
export const text = required(String)
export const number = required(Number)
export const flag = required(Boolean)
export const date = required(Date)
export const times = { created_at: date, updated_at: date }

/** An object inside a document, or a whole document. */
export function part<const D extends object>(fields: D): mongoose.Schema<Fields<D>> {
  return new Schema(fields as never, OPTIONS)
}

/**
 * Mongoose models of the control plane (ADR 3): a schema has the fields of a document, and the type of the document is
 * inferred from it. Hot collections are declared with `defineCollection` and use the driver.
 */
import mongoose, { type Model as MongooseModel, type Query, type QueryFilter, type Schema } from 'mongoose'
import { type Fields, part } from './fields.ts'
import { type CollectionDefinition, type Db, type IndexDefinition, isDuplicateKey, type Session } from './mongo.ts'

export type { Db, QueryFilter, Session }

/**
 * A model without its operations that do not reject undefined values in filters. `collection`, the driver's own, does not
 * reject them either.
 */
export type Model<T> = Omit<MongooseModel<T>, 'aggregate' | 'bulkWrite'>

/** A collection with its schema. Its indexes are those of the schema. */
export interface ModelDefinition<T extends object> extends CollectionDefinition<T> {
  schema: Schema<T>
}

/** The type of a model's documents. */
export type DocumentOf<M> = M extends ModelDefinition<infer T> ? T : never

/**
 * Declares a model. Updates are validated as inserts are and return the document as it is then, unless they ask for the one before. Operations whose filter has
 * an undefined value are rejected: the driver leaves such a field out, so that the filter matches every document.
 */
export function defineModel<const D extends object>(name: string, fields: D): ModelDefinition<Fields<D>> {
  const schema = part(fields)
  const filtered = /^(count|delete|distinct|find|replace|update)/
  schema.pre<Query<unknown, unknown>>(filtered, { document: false, query: true }, function () {
    rejectUndefined(this.getFilter())
    this.setOptions({ runValidators: true, returnDocument: this.getOptions().returnDocument ?? 'after' })
  })
  return {
    name,
    schema,
    // Read late: indexes are declared on the schema after the model.
    get indexes() {
      return schema.indexes().map(([key, options]) => ({ key, ...options }) as IndexDefinition)
    },
  }
}

/** The model of a definition on the connection of this database. */
export function modelOf<T extends object>(db: Db, { name, schema }: ModelDefinition<T>): Model<T> {
  const connection = mongoose.connections.find(open => open.db === db)
  if (!connection) throw new Error('a model needs a database that connectMongo opened')
  return (connection.models[name] as Model<T> | undefined) ?? connection.model<T>(name, schema, name)
}

/** Puts `after` in the place of the version before it, by the number in `counter`; false when another process changed it. */
export async function replaceVersion<T extends { _id: number }>(
  model: Model<T>,
  after: T,
  counter: keyof T & string,
  session: Session,
): Promise<boolean> {
  const before: object = { _id: after._id, [counter]: Number(after[counter]) - 1 }
  return (await model.replaceOne(before, after, { session })).matchedCount === 1
}

/** Stores a document; false when a unique index has its key already: a transaction is then over and must be given up. */
export async function insertUnique<T extends object>(
  model: Model<T>,
  document: T,
  session?: Session,
): Promise<boolean> {
  try {
    await model.insertOne(document, session ? { session } : {})
    return true
  } catch (error) {
    if (isDuplicateKey(error)) return false
    throw error
  }
}

function rejectUndefined(filter: object): void {
  for (const [field, value] of Object.entries(filter)) {
    if (value === undefined) throw new TypeError(`the filter field ${field} is undefined`)
    if (typeof value === 'object' && value !== null) rejectUndefined(value)
  }
}

import { expect, expectTypeOf, test } from 'vitest'
import { databaseForThisTest } from '../../../test/support/database/test-database.ts'
import * as field from './fields.ts'
import { type DocumentOf, defineModel, insertUnique, type Model, modelOf } from './models.ts'
import { collectionOf } from './mongo.ts'

const THINGS = defineModel('things', {
  _id: field.text,
  name: field.text,
  token: field.optional(String),
  nullable: String,
  kind: field.oneOf('a', 'b'),
  state: field.optionalOneOf('on', 'off'),
  tags: field.required([String]),
  more: field.optional([String]),
  empty: field.unchecked<Record<string, number>>(),
  test: field.required(field.part({ type: field.text, at: field.optional(Date) })),
  list: field.optional([field.part({ at: field.date, errors: field.optional([String]) })]),
  errors: field.optional([String]),
})
type Thing = DocumentOf<typeof THINGS>

const thing: Thing = { _id: 'a', name: '', kind: 'a', tags: [], empty: {}, test: { type: 't' } }

async function withThings() {
  const { db } = await databaseForThisTest()
  const model = modelOf(db, THINGS)
  await model.insertMany([thing, { ...thing, _id: 'b', token: 'secret' }])
  return { model, stored: () => collectionOf(db, THINGS).find().sort({ _id: 1 }).toArray() }
}

test('the type of a document is exactly what is stored', () => {
  expectTypeOf<Thing>().toEqualTypeOf<{
    _id: string
    name: string
    token?: string
    nullable?: string | null
    kind: 'a' | 'b'
    state?: 'on' | 'off'
    tags: string[]
    more?: string[]
    empty: Record<string, number>
    test: { type: string; at?: Date }
    list?: { at: Date; errors?: string[] }[]
    errors?: string[]
  }>()
})

test('a document is stored and read as it was given', async () => {
  const { model, stored } = await withThings()
  const given: Thing = {
    ...thing,
    _id: 'c',
    list: [{ at: new Date(1), errors: ['x'] }],
    nullable: null,
    errors: ['y'],
    empty: { x: 1 },
  }
  await insertUnique(model, given)
  await model.replaceOne({ _id: 'b' }, { ...thing, _id: 'b', more: [] })
  const expected = [thing, { ...thing, _id: 'b', more: [] }, given]
  expect(await stored()).toEqual(expected)
  expect(await model.find().sort({ _id: 1 }).lean()).toEqual(expected)
  expect(await insertUnique(model, given)).toBe(false)
})

const nothing = undefined as unknown as string
test.each<[string, object]>([
  ['a field', { token: nothing }],
  ['a field beside others', { _id: 'a', token: nothing }],
  ['an operand', { token: { $ne: nothing } }],
  ['one of several values', { token: { $in: ['x', nothing] } }],
  ['a branch', { $or: [{ token: nothing }, { name: 'x' }] }],
  ['a field of a part', { 'test.type': nothing }],
])('no operation takes a filter in which %s is undefined', async (_, filter) => {
  const { model, stored } = await withThings()
  const change = { name: 'changed' }
  for (const operation of [
    model.findOne(filter).lean(),
    model.find(filter).lean(),
    model.findAndCount(filter, null, { sort: { _id: 1 }, limit: 1 }),
    model.exists(filter),
    model.countDocuments(filter),
    model.distinct('name', filter),
    model.updateOne(filter, change),
    model.updateMany(filter, change),
    model.replaceOne(filter, thing),
    model.deleteOne(filter),
    model.deleteMany(filter),
    model.findOneAndUpdate(filter, change).lean(),
    model.findOneAndReplace(filter, thing).lean(),
    model.findOneAndDelete(filter).lean(),
  ])
    await expect(operation).rejects.toThrow('is undefined')
  expect(await stored()).toHaveLength(2)
})

test('the type of a filter allows no undefined', async () => {
  const { model } = await withThings()
  // @ts-expect-error: the compiler refuses it as well.
  await expect(model.findOne({ token: undefined })).rejects.toThrow('token is undefined')
  await expect(model.findById(nothing)).rejects.toThrow('_id is undefined')
  await expect(model.findByIdAndUpdate(nothing, { name: 'changed' })).rejects.toThrow('_id is undefined')
})

test('the type of a model lacks the operations that would take such a filter', () => {
  expectTypeOf<Model<Thing>>().toHaveProperty('updateMany')
  expectTypeOf<Model<Thing>>().not.toHaveProperty('aggregate')
  expectTypeOf<Model<Thing>>().not.toHaveProperty('bulkWrite')
})

test('an update returns the document as it is then', async () => {
  const { model } = await withThings()
  const changed = { ...thing, name: 'changed' }
  expect(await model.findByIdAndUpdate('a', { name: 'changed' }).lean()).toEqual(changed)
  expect(await model.findOneAndUpdate({ _id: 'a' }, { $unset: {} }).lean()).toEqual(changed)
})

test.each<[string, object, RegExp]>([
  ['a value of another type', { $set: { name: { $ne: 1 } } }, /Cast to string/],
  ['a value that is not listed', { kind: 'c' }, /not a valid enum value/],
  ['null', { token: null }, /does not allow null/],
  ['no value for a required field', { $unset: { name: '' } }, /required/],
])('an update is refused with %s', async (_, update, reason) => {
  const { model, stored } = await withThings()
  await expect(model.updateOne({ _id: 'a' }, update)).rejects.toThrow(reason)
  expect((await stored())[0]).toEqual(thing)
})

test('fields that a newer release added survive a change and a replacement', async () => {
  const { model, stored } = await withThings()
  const newer = { ...thing, added: 1, test: { ...thing.test, added: 2 } }
  await model.collection.replaceOne({ _id: 'a' as never }, newer)
  await model.updateOne({ _id: 'a' }, { name: 'changed' })
  expect((await stored())[0]).toEqual({ ...newer, name: 'changed' })
  const read = await model.findById('a').lean()
  await model.replaceOne({ _id: 'a' }, { ...read, name: 'again' })
  expect((await stored())[0]).toEqual({ ...newer, name: 'again' })
})

test('a filter with an unknown field is refused', async () => {
  const { model } = await withThings()
  const filter: object = { other: 1 }
  await expect(model.findOne(filter)).rejects.toThrow(/not in schema/)
})

import { expect, test } from 'vitest'
import { databaseForThisTest } from '../../../test/support/database/test-database.ts'
import { collectionOf, defineCollection } from '../database/mongo.ts'
import { listManaged, type ManagedFields, managedIn, mirrorState } from './managed-records.ts'
import type { ResourceState } from './rules/managed-by.ts'

interface Doc extends ManagedFields {
  _id: string
  label: string
  hidden?: boolean
}

const resourceOf = (name: string, namespace = 'shop') => ({ kind: 'Thing', namespace, name, uid: `uid-${name}` })
const stateOf = (reason: string, second = 0): ResourceState => ({
  ...{ ready: true, reason, message: '', conditions: [], observed_at: new Date(second * 1000) },
})

async function withRecords(docs: readonly Doc[]) {
  const { db } = await databaseForThisTest()
  const open = (name: string) => collectionOf(db, defineCollection<Doc>(name))
  const ownRecords = open('things')
  if (docs.length > 0) await ownRecords.insertMany([...docs])
  const source = (name: string) => managedIn(open(name), { hidden: { $ne: true } }, ['label'], ({ label }) => label)
  return {
    ownRecords,
    others: open('others'),
    list: (limit?: number) => listManaged([source('things'), source('others')], limit),
  }
}

const managed = (name: string, namespace?: string): Doc => ({
  ...{ _id: name, label: `label of ${name}`, managed_by: resourceOf(name, namespace) },
})

test('what resources manage is listed by namespace and name, over all collections', async () => {
  const { others, list } = await withRecords([
    managed('b'),
    { ...managed('x'), hidden: true },
    { _id: 'free', label: 'of a person' },
    { ...managed('a', 'zoo'), k8s: stateOf('Ready') },
  ])
  await others.insertOne(managed('a'))
  expect(await list()).toEqual({
    records: [
      { resource: resourceOf('a'), record: 'label of a', state: undefined },
      { resource: resourceOf('b'), record: 'label of b', state: undefined },
      { resource: resourceOf('a', 'zoo'), record: 'label of a', state: stateOf('Ready') },
    ],
    complete: true,
  })
})

test.each([
  [0, 0, true],
  [2, 2, true],
  [3, 2, false],
])('%i records with a limit of two: %i are listed, complete: %s', async (count, listed, complete) => {
  const { list } = await withRecords(Array.from({ length: count }, (_, n) => managed(`r${n}`)))
  const found = await list(2)
  expect([found.records.length, found.complete]).toEqual([listed, complete])
})

test.each<[string, { id: string; uid: string }, ResourceState, ResourceState]>([
  ['a new state is written', { id: 'a', uid: 'uid-a' }, stateOf('Failed', 9), stateOf('Failed', 9)],
  ['the same state is not', { id: 'a', uid: 'uid-a' }, stateOf('Ready', 9), stateOf('Ready')],
  ['that of another resource is not', { id: 'a', uid: 'uid-b' }, stateOf('Failed', 9), stateOf('Ready')],
  ['nor that of a record that is gone', { id: 'gone', uid: 'uid-a' }, stateOf('Failed', 9), stateOf('Ready')],
])('%s', async (_, target, given, stored) => {
  const { ownRecords } = await withRecords([{ ...managed('a'), k8s: stateOf('Ready') }])
  await mirrorState(ownRecords, target, given)
  expect(await ownRecords.find().toArray()).toEqual([{ ...managed('a'), k8s: stored }])
})

test('the first state is written', async () => {
  const { ownRecords } = await withRecords([managed('a')])
  await mirrorState(ownRecords, { id: 'a', uid: 'uid-a' }, stateOf('Ready'))
  expect(await ownRecords.findOne()).toMatchObject({ k8s: stateOf('Ready') })
})

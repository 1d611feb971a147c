import { expect, test } from 'vitest'
import { type Change, createCache, type KubeObject } from './object-cache.ts'

const object = (name: string, revision: number, more: object = {}, uid = `u-${name}`): KubeObject =>
  ({
    metadata: { name, namespace: 'ns', uid, resourceVersion: String(revision), creationTimestamp: '', ...more },
  }) as KubeObject

function cache() {
  const changes: string[] = []
  const made = createCache(error => changes.push(`error ${String(error)}`))
  made.onChange(({ key, before, after, initial }: Change) =>
    changes.push(
      `${key} ${before?.metadata.resourceVersion ?? '-'} ${after?.metadata.resourceVersion ?? '-'}${initial ? ' first' : ''}`,
    ),
  )
  return { made, changes }
}

test('a repeated list reports only changed and deleted objects', () => {
  const { made, changes } = cache()
  made.replace([object('a', 1), object('b', 1)], true)
  made.replace([object('a', 1), object('c', 3)], false)
  expect(changes).toEqual(['ns/a - 1 first', 'ns/b - 1 first', 'ns/c - 3', 'ns/b 1 -'])
  expect([...made.keys()]).toEqual(['ns/a', 'ns/c'])
})

test('a list of one namespace does not affect the others', () => {
  const { made } = cache()
  made.put(object('a', 1, { namespace: 'other' }))
  made.replace([object('b', 2)], false, 'ns')
  made.replace([], false, 'ns')
  expect([...made.keys()]).toEqual(['other/a'])
})

test('an older revision never replaces a newer one; numbers, not texts, are compared', () => {
  const { made, changes } = cache()
  made.put(object('a', 10))
  made.put(object('a', 9))
  made.put(object('a', 10))
  made.put(object('a', 100))
  expect(changes).toEqual(['ns/a - 10', 'ns/a 10 100'])
})

test('an object that was deleted and made again is new whatever its revision', () => {
  const { made } = cache()
  made.put(object('a', 10))
  made.put(object('a', 5, {}, 'other'))
  expect(made.get('ns/a')?.metadata.uid).toBe('other')
})

test.each([
  ['its own', (made: ReturnType<typeof createCache>) => made.remove(object('a', 7))],
  [
    'that of one that follows under its name',
    (made: ReturnType<typeof createCache>) => made.put(object('a', 8, {}, 'next')),
  ],
])('a late response does not restore a deleted object: %s', (_, end) => {
  const { made } = cache()
  made.put(object('a', 5))
  end(made)
  const now = made.get('ns/a')
  made.put(object('a', 6))
  expect(made.get('ns/a')).toBe(now)
})

test('the end of an object is not the end of the one that was made after it', () => {
  const { made } = cache()
  made.put(object('a', 5))
  made.put(object('a', 9, {}, 'next'))
  made.remove(object('a', 8))
  expect(made.get('ns/a')?.metadata.uid).toBe('next')
})

test('an object that left a selection returns with a newer revision', () => {
  const { made } = cache()
  made.put(object('a', 5))
  made.remove(object('a', 6))
  made.put(object('a', 7))
  expect(made.get('ns/a')?.metadata.resourceVersion).toBe('7')
})

test('managedFields are not kept', () => {
  const { made } = cache()
  made.put(object('a', 1, { managedFields: [{ manager: 'kubectl' }] }))
  expect(made.get('ns/a')?.metadata).not.toHaveProperty('managedFields')
})

test('an index follows changes and deletions', () => {
  const { made } = cache()
  const color = (name: string, revision: number, value: string) => object(name, revision, { labels: { color: value } })
  made.put(color('a', 1, 'red'))
  made.addIndex('color', ({ metadata }) => (metadata.labels?.color ? [metadata.labels.color] : []))
  made.put(color('b', 2, 'red'))
  expect(made.find('color', 'red')).toEqual(['ns/a', 'ns/b'])
  made.put(color('a', 3, 'blue'))
  made.remove(object('b', 4))
  expect([made.find('color', 'red'), made.find('color', 'blue')]).toEqual([[], ['ns/a']])
})

test('a listener that throws keeps neither the others nor the cache from working', () => {
  const errors: unknown[] = []
  const made = createCache(error => errors.push(error))
  const heard: string[] = []
  made.onChange(() => {
    throw new Error('bad listener')
  })
  made.onChange(({ key }) => heard.push(key))
  made.put(object('a', 1))
  expect([heard, errors.length]).toEqual([['ns/a'], 1])
})

import { describe, expect, test } from 'vitest'
import { createGroupCommit } from './group-commit.ts'

/** A writer whose batches end when the test ends them. */
function heldWriter() {
  const batches: { items: string[]; end: PromiseWithResolvers<string[]> }[] = []
  const write = (items: readonly string[]) => {
    const end = Promise.withResolvers<string[]>()
    batches.push({ items: [...items], end })
    return end.promise
  }
  return { batches, write }
}

/** A writer that completes immediately and records the batches. */
function recordingWriter() {
  const seen: string[][] = []
  const write = async (items: readonly string[]) => {
    seen.push([...items])
    return items
  }
  return { seen, write }
}

const limits = { sizeOf: (item: string) => item.length, most: 3, mostBytes: 10, flights: 1 }
const turn = () => new Promise(resolve => setImmediate(resolve))

describe('callers share writes', () => {
  test('callers of one turn go together; later ones gather while the batch is under way', async () => {
    const { batches, write } = heldWriter()
    const commit = createGroupCommit({ ...limits, write })
    const first = [commit('a'), commit('b')]
    await turn()
    const second = [commit('c'), commit('d')]
    await turn()
    expect(batches.map(({ items }) => items)).toEqual([['a', 'b']])
    batches[0]?.end.resolve(['A', 'B'])
    expect(await Promise.all(first)).toEqual(['A', 'B'])
    await turn()
    expect(batches.map(({ items }) => items)).toEqual([
      ['a', 'b'],
      ['c', 'd'],
    ])
    batches[1]?.end.resolve(['C', 'D'])
    expect(await Promise.all(second)).toEqual(['C', 'D'])
  })

  test.each([
    { name: 'count', items: ['a', 'b', 'c', 'd'], expected: [['a', 'b', 'c'], ['d']] },
    { name: 'bytes', items: ['aaaaaa', 'bbbb', 'c'], expected: [['aaaaaa', 'bbbb'], ['c']] },
    { name: 'one large item', items: ['x'.repeat(50), 'b'], expected: [['x'.repeat(50)], ['b']] },
  ])('a batch is closed by its limit: $name', async ({ items, expected }) => {
    const { seen, write } = recordingWriter()
    const commit = createGroupCommit({
      ...limits,
      write,
    })
    await Promise.all(items.map(commit))
    expect(seen).toEqual(expected)
  })

  test('the first item after a pause is written immediately, the next ones wait for the callers of the last batch', async () => {
    const { seen, write } = recordingWriter()
    const commit = createGroupCommit({
      ...limits,
      gatherMs: 1e9,
      write,
    })
    await Promise.all(['a', 'b'].map(commit))
    const later = [commit('c')]
    await turn()
    expect(seen).toEqual([['a', 'b']])
    later.push(commit('d'))
    await Promise.all(later)
    expect(seen).toEqual([
      ['a', 'b'],
      ['c', 'd'],
    ])
  })

  test('below the rate the next ones do not wait for callers that may not return', async () => {
    const { seen, write } = recordingWriter()
    const commit = createGroupCommit({ ...limits, gatherMs: 1e9, gatherRate: 1e9, write })
    await Promise.all(['a', 'b'].map(commit))
    await commit('c')
    expect(seen).toEqual([['a', 'b'], ['c']])
  })

  test('two halves that would take turns become one', async () => {
    const { batches, write } = heldWriter()
    const commit = createGroupCommit({ ...limits, gatherMs: 1e9, write })
    const one = commit('a')
    await turn()
    const all = [commit('b')]
    batches[0]?.end.resolve(['A'])
    await one
    await turn()
    expect(batches).toHaveLength(1)
    all.push(commit('a'))
    await turn()
    batches[1]?.end.resolve(['B', 'A'])
    expect(await Promise.all(all)).toEqual(['B', 'A'])
  })

  test.each([1, 2])('callers that do not return are awaited no longer than the limit (%i flights)', async flights => {
    const { seen, write } = recordingWriter()
    const commit = createGroupCommit({
      ...limits,
      flights,
      gatherMs: 50,
      write,
    })
    await Promise.all(['a', 'b', 'c'].map(commit))
    const later = [commit('d')]
    await turn()
    later.push(commit('e'))
    await turn()
    expect(seen).toEqual([['a', 'b', 'c']])
    await Promise.all(later)
    expect(seen).toEqual([
      ['a', 'b', 'c'],
      ['d', 'e'],
    ])
  })

  test('a full batch does not wait', async () => {
    const { seen, write } = recordingWriter()
    const commit = createGroupCommit({
      ...limits,
      gatherMs: 1e9,
      write,
    })
    await commit('a')
    await Promise.all(['b', 'c', 'd'].map(commit))
    expect(seen).toEqual([['a'], ['b', 'c', 'd']])
  })

  test('the rest of a full batch does not wait', async () => {
    const { seen, write } = recordingWriter()
    const commit = createGroupCommit({ ...limits, gatherMs: 1e9, write })
    await Promise.all(['a', 'b', 'c', 'd'].map(commit))
    await Promise.all(['eeeeee', 'ffffff', 'g'].map(commit))
    expect(seen).toEqual([['a', 'b', 'c'], ['d'], ['eeeeee'], ['ffffff', 'g']])
  })

  test('at most the allowed number of batches is in flight', async () => {
    const { batches, write } = heldWriter()
    const commit = createGroupCommit({ ...limits, flights: 2, write })
    const all = [commit('a')]
    await turn()
    all.push(commit('b'))
    await turn()
    all.push(commit('c'))
    await turn()
    expect(batches.map(({ items }) => items)).toEqual([['a'], ['b']])
    batches[1]?.end.resolve(['B'])
    await turn()
    batches[0]?.end.resolve(['A'])
    batches[2]?.end.resolve(['C'])
    expect(await Promise.all(all)).toEqual(['A', 'B', 'C'])
  })

  test('a failed batch fails its own callers only', async () => {
    const { batches, write } = heldWriter()
    const commit = createGroupCommit({ ...limits, write })
    const lost = commit('a').catch((error: Error) => error.message)
    await turn()
    const kept = commit('b')
    batches[0]?.end.reject(new Error('disk full'))
    expect(await lost).toBe('disk full')
    await turn()
    batches[1]?.end.resolve(['B'])
    expect(await kept).toBe('B')
  })

  test('a writer that forgets an item fails that item', async () => {
    const commit = createGroupCommit<string, string>({ ...limits, write: async () => [] })
    await expect(commit('a')).rejects.toThrow('no result')
  })
})

import { expect, test } from 'vitest'
import { PARTS_MOST, readExport } from './export-run.ts'

/** Answers parts until `count` of them were read; each names the next one but the last. */
function parts(count: number) {
  const asked: (string | undefined)[] = []
  const part = async (after: string | undefined) => {
    asked.push(after)
    const headers = asked.length < count ? { 'x-next': `em_${asked.length}` } : undefined
    return new Response(`${asked.length};`, headers ? { headers } : {})
  }
  return { asked, part }
}

test('parts are read with the cursor of the one before and make one file', async () => {
  const { asked, part } = parts(3)
  const reports: unknown[] = []
  const { blob, isComplete } = await readExport(part, progress => reports.push(progress))
  expect([await blob.text(), isComplete]).toEqual(['1;2;3;', true])
  expect(asked).toEqual([undefined, 'em_1', 'em_2'])
  expect(reports.at(-1)).toEqual({ parts: 3, bytes: 6 })
})

test('a file ends after the most parts, and is not complete', async () => {
  const { asked, part } = parts(PARTS_MOST + 5)
  expect((await readExport(part, () => undefined)).isComplete).toBe(false)
  expect(asked.length).toBe(PARTS_MOST)
})

test('a part that fails is a failure of the export', async () => {
  const { part } = parts(9)
  let calls = 0
  const failing = (after: string | undefined) => (++calls === 2 ? Promise.reject(new Error('cut')) : part(after))
  await expect(readExport(failing, () => undefined)).rejects.toThrow('cut')
})

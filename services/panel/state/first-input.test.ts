/** Code that waits for an input, with the events of a window. */
import { afterAll, beforeAll, expect, test, vi } from 'vitest'

const window = new EventTarget()
let input: typeof import('./first-input.ts')

beforeAll(async () => {
  vi.stubGlobal('addEventListener', window.addEventListener.bind(window))
  input = await import('./first-input.ts')
})
afterAll(() => vi.unstubAllGlobals())

test('code is loaded at the first input only, and again when the browser is online after a failure', async () => {
  const calls: string[] = []
  let isOnline = false
  const loaded = input.loadAtFirstInput(async () => {
    calls.push(isOnline ? 'online' : 'offline')
    if (!isOnline) throw new Error('no connection')
    return 'code'
  })
  await Promise.resolve()
  expect(calls).toEqual([])
  window.dispatchEvent(new Event('keydown'))
  await expect.poll(() => calls).toEqual(['offline'])
  isOnline = true
  window.dispatchEvent(new Event('online'))
  expect(await loaded).toBe('code')
  expect(calls).toEqual(['offline', 'online'])
})

test('after the first input code is loaded at once', async () => {
  expect(await input.loadAtFirstInput(() => Promise.resolve('more'))).toBe('more')
})

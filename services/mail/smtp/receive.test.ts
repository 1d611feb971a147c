import { PassThrough } from 'node:stream'
import { describe, expect, test, vi } from 'vitest'
import { createBudget, type ReceiveLimits, receiveMessage } from './receive.ts'

const limits = (over: Partial<ReceiveLimits> = {}): ReceiveLimits => ({
  maxBytes: 10,
  bytesPerSecond: 1,
  graceMs: 60_000,
  budget: createBudget(1000),
  ...over,
})

/** Feeds chunks and ends, one turn apart. */
async function feed(stream: PassThrough, chunks: readonly string[]): Promise<void> {
  for (const chunk of chunks) {
    stream.write(chunk)
    await new Promise(resolve => setImmediate(resolve))
  }
  stream.end()
}

describe('receiving', () => {
  test('a message up to the limit comes whole, and its memory counts until it is released', async () => {
    const budget = createBudget(10)
    const stream = new PassThrough()
    const received = receiveMessage(stream, limits({ budget }))
    await feed(stream, ['12345', '67890'])
    const result = await received
    expect(result).toMatchObject({ kind: 'whole', raw: Buffer.from('1234567890') })
    expect(budget.take(1)).toBe(false)
    if (result.kind === 'whole') result.release()
    expect(budget.take(10)).toBe(true)
  })

  test.each([
    ['larger than allowed', limits(), 'message_too_large'],
    ['more than fits into memory', limits({ budget: createBudget(4) }), 'queue_unavailable'],
  ])('%s: read to the end, kept nowhere', async (_, given, code) => {
    const stream = new PassThrough()
    const received = receiveMessage(stream, given)
    await feed(stream, ['12345', '67890', '1'])
    expect(await received).toEqual({ kind: 'refused', code })
    expect(given.budget.take(4)).toBe(true)
  })

  test('a flood is cut at twice the limit', async () => {
    const stream = new PassThrough()
    const received = receiveMessage(stream, limits())
    stream.write('x'.repeat(21))
    expect(await received).toEqual({ kind: 'cut', code: 'message_too_large' })
  })

  test('a sender that goes away leaves no memory behind', async () => {
    const budget = createBudget(5)
    const stream = new PassThrough()
    const received = receiveMessage(stream, limits({ budget }))
    stream.write('12345')
    await vi.waitFor(() => expect(budget.take(1)).toBe(false))
    stream.destroy(new Error('reset'))
    expect(await received).toEqual({ kind: 'gone' })
    expect(budget.take(5)).toBe(true)
  })

  test('a sender that trickles is cut after the grace; a steady one is not', async () => {
    const [slow, steady] = [new PassThrough(), new PassThrough()]
    const given = { graceMs: 20, bytesPerSecond: 100, maxBytes: 1_000_000, budget: createBudget(1_000_000) }
    const cut = receiveMessage(slow, given)
    const whole = receiveMessage(steady, given)
    slow.write('x')
    steady.write('x'.repeat(100_000))
    expect(await cut).toEqual({ kind: 'cut', code: 'too_slow' })
    steady.end()
    expect(await whole).toMatchObject({ kind: 'whole' })
  })
})

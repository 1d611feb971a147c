import type { ServerResponse } from 'node:http'
import { describe, expect, test } from 'vitest'
import { reset, type ScriptedAnswer, scriptedHttp } from '../../../../test/support/http/scripted-http.ts'
import { createClient } from './client.ts'
import { PostwrightError } from './errors.ts'
import { type FollowOptions, followEvents } from './events.ts'

const event = (id: string) =>
  `id: 1/${id}\nevent: email.delivered\ndata: ${JSON.stringify({ id, type: 'email.delivered' })}\n\n`

/** Writes these parts as one stream; `open` leaves it open. */
const stream =
  (parts: string[], end: 'ends' | 'open' | 'breaks' = 'ends'): ScriptedAnswer =>
  async (response: ServerResponse) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    for (const part of parts) await new Promise(resolve => response.write(part, resolve))
    if (end === 'ends') response.end()
    if (end === 'breaks') response.socket?.destroy()
  }

/** Ids of the events until `count` have come, and the requests. */
async function follow(answers: [ScriptedAnswer, ...ScriptedAnswer[]], count: number, options: FollowOptions = {}) {
  const { url, requests } = await scriptedHttp(...answers)
  const ids: string[] = []
  const reasons: unknown[] = []
  const onReconnect = (reason: unknown) => void reasons.push(reason)
  for await (const { id } of followEvents(createClient({ url }), { ...options, onReconnect })) {
    ids.push(id)
    if (ids.length === count) break
  }
  return { ids, reasons, cursors: requests.map(({ headers }) => headers['last-event-id']) }
}

describe('followEvents', () => {
  test('yields events, whatever parts they come in, and no comments', async () => {
    const text = `retry: 2000\n\n: still here\n\n${event('a')}${event('b')}`
    const answers: [ScriptedAnswer] = [stream([text.slice(0, 40), text.slice(40, 90), text.slice(90)], 'open')]
    expect((await follow(answers, 2)).ids).toEqual(['a', 'b'])
  })

  test('keeps characters whole that come in two parts', async () => {
    const bytes = Buffer.from(`id: 1/a\ndata: {"id":"a","text":"送达"}\n\n`)
    const { url } = await scriptedHttp(response => {
      response.writeHead(200)
      response.write(bytes.subarray(0, 36), () => response.write(bytes.subarray(36)))
    })
    const events = followEvents(createClient({ url }))
    expect((await events.next()).value).toMatchObject({ text: '送达', cursor: '1/a' })
    await events.return()
  })

  test.each(['ends', 'breaks'] as const)(
    'goes on after a stream that %s, and yields a repeated event once',
    async end => {
      const answers: [ScriptedAnswer, ScriptedAnswer] = [
        stream([event('a'), event('b')], end),
        stream([event('b') + event('c')], 'open'),
      ]
      const { ids, cursors, reasons } = await follow(answers, 3, { after: '1/0' })
      expect(ids).toEqual(['a', 'b', 'c'])
      expect(cursors).toEqual(['1/0', '1/b'])
      expect(reasons).toHaveLength(1)
    },
  )

  test('goes on after failures that pass', async () => {
    const busy = { status: 429, headers: { 'retry-after': '0' }, body: { code: 'rate_limited', detail: 'Too many.' } }
    const { ids, reasons } = await follow([busy, reset, stream([event('a')], 'open')], 1)
    expect(ids).toEqual(['a'])
    expect(reasons).toMatchObject([{ code: 'rate_limited' }, { code: 'network_error' }])
  })

  test('throws when the token is refused', async () => {
    const { url } = await scriptedHttp({ status: 401, body: { code: 'invalid_token', detail: 'It is revoked.' } })
    const refused = followEvents(createClient({ url })).next()
    await expect(refused).rejects.toThrow(PostwrightError)
    await expect(refused).rejects.toMatchObject({ status: 401, code: 'invalid_token' })
  })

  test('ends quietly with the signal: while it waits for events, and while it waits to connect', async () => {
    for (const answer of [stream([event('a')], 'open'), stream([event('a')])]) {
      const controller = new AbortController()
      const { url } = await scriptedHttp(answer)
      const events = followEvents(createClient({ url }), { signal: controller.signal })
      await events.next()
      const rest = events.next()
      controller.abort()
      expect(await rest).toEqual({ done: true, value: undefined })
    }
  })
})

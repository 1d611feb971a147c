/** All authoritative servers of a zone, on loopback addresses of their own: what each answers, and what it costs to wait. */
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { CLASS, decodeMessage, encodeData, encodeMessage, TYPE } from './dns-message.ts'
import { createResolver } from './resolver.ts'

const ZONE = 'zone.test'
type Value = [type: 'NS' | 'A' | 'TXT', value: string]

/** Answers each question from the list; undefined: not at all. */
async function serve(ip: string, port: number, values: (name: string, type: number) => Value[] | undefined) {
  const socket = createSocket('udp4')
  const asked: string[] = []
  socket.on('message', (query, { port: to, address }) => {
    const { id, questions } = decodeMessage(query)
    const [{ name, type } = { name: '', type: 0 }] = questions
    asked.push(name)
    const found = values(name, type)
    if (!found) return
    const answers = found.map(([kind, value]) => ({
      ...{ name, type: TYPE[kind], class: CLASS.IN, ttl: 60, data: encodeData(kind === 'NS' ? 'CNAME' : kind, value) },
    }))
    const answer = encodeMessage({ id, flags: 0x8480, questions, answers, authorities: [], additionals: [] })
    socket.send(answer, to, address)
  })
  socket.bind(port, ip)
  await once(socket, 'listening')
  onTestFinished(() => void socket.close())
  return { port: (socket.address() as AddressInfo).port, asked }
}

/** Servers at 127.0.0.2 and up, with these texts; `null`: silent. */
async function zoneWith(texts: readonly (string | null)[]) {
  const recursor = await serve('127.0.0.1', 0, (name, type) => {
    if (name === ZONE && type === TYPE.NS) return texts.map((_, index) => ['NS', `ns${index}.${ZONE}`])
    const index = Number(/^ns(\d+)\./.exec(name)?.[1] ?? Number.NaN)
    return type === TYPE.A && index >= 0 ? [['A', `127.0.0.${index + 2}`]] : []
  })
  const { port } = recursor
  const servers = await Promise.all(
    texts.map((text, index) =>
      serve(`127.0.0.${index + 2}`, port, () => (text === null ? undefined : text === '' ? [] : [['TXT', text]])),
    ),
  )
  const resolver = createResolver({ servers: [`127.0.0.1:${port}`], port, allowPrivate: true, timeoutMs: 300 })
  return { session: resolver.session(), servers }
}

test('each server is asked, and answers for itself', async () => {
  const { session, servers } = await zoneWith(['one', '', 'two'])
  const answers = await session.everyAuthoritative(ZONE, `mail.${ZONE}`, 'TXT')
  expect(answers).toMatchObject([
    { kind: 'found', values: ['one'] },
    { kind: 'missing', reason: 'nodata' },
    { kind: 'found', values: ['two'] },
  ])
  expect(servers.map(({ asked }) => asked)).toEqual(Array(3).fill([`mail.${ZONE}`]))
})

test('silent servers are waited for at once, not one after the other', async () => {
  const { session } = await zoneWith([null, null, null, 'one'])
  const started = performance.now()
  const answers = await session.everyAuthoritative(ZONE, `mail.${ZONE}`, 'TXT')
  expect(answers.map(({ kind }) => kind)).toEqual(['temporary', 'temporary', 'temporary', 'found'])
  // Two attempts of 300 ms each; one after the other they would take three times as long.
  expect(performance.now() - started).toBeLessThan(1_500)
})

test('no more than eight servers are asked', async () => {
  const { session, servers } = await zoneWith(Array(10).fill('same'))
  expect(await session.everyAuthoritative(ZONE, ZONE, 'TXT')).toHaveLength(8)
  expect(servers.filter(({ asked }) => asked.length > 0)).toHaveLength(8)
})

test('silent servers, and a zone without any, leave the answer open', async () => {
  const { session } = await zoneWith([null])
  expect(await session.everyAuthoritative(ZONE, ZONE, 'TXT')).toMatchObject([{ kind: 'temporary' }])
  expect(await session.everyAuthoritative('nowhere.example', 'nowhere.example', 'TXT')).toMatchObject([
    { kind: 'temporary' },
  ])
})

import * as packet from 'dns-packet'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  CLASS,
  decodeData,
  decodeMessage,
  encodeData,
  encodeMessage,
  encodeName,
  type Message,
  negativeTtl,
  TYPE,
  WireError,
} from './wire.ts'

const query = (name: string): Message => ({
  id: 7,
  flags: 0x0100,
  questions: [{ name, type: TYPE.TXT, class: CLASS.IN }],
  answers: [],
  authorities: [],
  additionals: [],
})

test('another implementation reads our messages', () => {
  const data = encodeData('TXT', 'x'.repeat(300))
  const bytes = encodeMessage({
    ...query('Example.COM'),
    answers: [{ name: 'example.com', type: TYPE.TXT, class: 1, ttl: 60, data }],
  })
  const { id, questions, answers } = packet.decode(bytes)
  expect(id).toBe(7)
  expect(questions).toMatchObject([{ name: 'example.com', type: 'TXT' }])
  expect(answers).toMatchObject([{ ttl: 60, data: [Buffer.from('x'.repeat(255)), Buffer.from('x'.repeat(45))] }])
})

test.each([
  [{ type: 'A', data: '192.0.2.1' }, '192.0.2.1'],
  [{ type: 'AAAA', data: '2001:db8::1' }, '2001:db8::1'],
  [{ type: 'AAAA', data: '::' }, '::'],
  [{ type: 'CNAME', data: 'Target.Example.COM' }, 'target.example.com'],
  [{ type: 'NS', data: 'ns1.example.com' }, 'ns1.example.com'],
  [{ type: 'PTR', data: 'host.example.com' }, 'host.example.com'],
  [{ type: 'MX', data: { preference: 10, exchange: 'mx.example.com' } }, '10 mx.example.com'],
  [{ type: 'TXT', data: ['v=spf1 ', '-all'] }, 'v=spf1 -all'],
])('we read what another implementation wrote: %o', (answer, value) => {
  const bytes = packet.encode({
    type: 'response',
    id: 1,
    questions: [{ type: 'A', name: 'example.com' }],
    answers: [{ name: 'example.com', ttl: 300, ...answer } as packet.Answer],
  })
  const decoded = decodeMessage(bytes)
  expect(decoded.answers.map(({ type, data }) => decodeData(type, data))).toEqual([value])
  expect(decoded.answers[0]?.name).toBe('example.com')
})

test('compressed names inside record data are written out', () => {
  const bytes = Buffer.concat([
    Buffer.from([0, 1, 0x84, 0, 0, 1, 0, 1, 0, 0, 0, 0]),
    encodeName('example.com'),
    Buffer.from([0, 5, 0, 1]),
    Buffer.from([0xc0, 12, 0, 5, 0, 1, 0, 0, 0, 60, 0, 6, 3, 0x77, 0x77, 0x77, 0xc0, 12]),
  ])
  const { answers, aa } = decodeMessage(bytes)
  expect(aa).toBe(true)
  expect(answers.map(({ name, type, data }) => [name, decodeData(type, data)])).toEqual([
    ['example.com', 'www.example.com'],
  ])
})

test('the negative TTL is the smaller of the two', () => {
  const authority = (ttl: number, minimum: number) => {
    const bytes = packet.encode({
      type: 'response',
      authorities: [
        { type: 'SOA', name: 'example.com', ttl, data: { mname: 'a.example', rname: 'b.example', minimum } },
      ],
    })
    return negativeTtl(decodeMessage(bytes).authorities)
  }
  expect(authority(60, 3600)).toBe(60)
  expect(authority(3600, 300)).toBe(300)
  expect(negativeTtl([])).toBeUndefined()
})

describe('bad bytes', () => {
  const good = encodeMessage(query('example.com'))
  test.each([
    ['nothing', Buffer.alloc(0)],
    ['half a header', good.subarray(0, 7)],
    ['half a question', good.subarray(0, 20)],
    ['a pointer to itself', Buffer.from([0, 1, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0xc0, 12, 0, 1, 0, 1])],
    ['a pointer forward', Buffer.from([0, 1, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0xc0, 30, 0, 1, 0, 1])],
    ['a reserved label type', Buffer.from([0, 1, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0x80, 12, 0, 1, 0, 1])],
  ])('%s is refused', (_, bytes) => expect(() => decodeMessage(bytes)).toThrow(WireError))

  test.each([['a..b'], ['x'.repeat(64)], [`${'a.'.repeat(130)}b`]])('%s is no name', name => {
    expect(() => encodeName(name)).toThrow(WireError)
  })

  test('random bytes are read or refused, never anything else', () =>
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 80 }), bytes => {
        try {
          decodeMessage(Buffer.from(bytes))
        } catch (error) {
          expect(error).toBeInstanceOf(WireError)
        }
      }),
      { numRuns: 5000 },
    ))
})

test('every TXT value survives', () =>
  fc.assert(
    fc.property(fc.string({ maxLength: 800 }), value => decodeData(TYPE.TXT, encodeData('TXT', value)) === value),
    { numRuns: 500 },
  ))

test('every address survives', () =>
  fc.assert(
    fc.property(fc.ipV6(), fc.ipV4(), (v6, v4) => {
      const plain = v6.includes('.') ? '::1' : v6
      expect(decodeData(TYPE.A, encodeData('A', v4))).toBe(v4)
      expect(encodeData('AAAA', decodeData(TYPE.AAAA, encodeData('AAAA', plain)))).toEqual(encodeData('AAAA', plain))
    }),
  ))

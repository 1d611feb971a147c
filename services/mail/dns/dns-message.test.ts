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
} from './dns-message.ts'

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

describe('a name in pieces', () => {
  /** A message whose first record holds `chain`, from byte 23 on, and whose others are all called by the pointer to `start`. */
  function message(chain: Buffer, start: number, others: number): Buffer {
    const header = Buffer.from([0, 1, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0])
    header.writeUInt16BE(others + 1, 6)
    const record = (name: Buffer, data: Buffer) =>
      Buffer.concat([name, Buffer.from([0, TYPE.TXT, 0, 1, 0, 0, 0, 0, data.length >> 8, data.length & 255]), data])
    const pointer = Buffer.from([0xc0 | (start >> 8), start & 255])
    const called = Array.from({ length: others }, () => record(pointer, Buffer.alloc(0)))
    return Buffer.concat([header, record(Buffer.of(0), chain), ...called])
  }
  const BEGIN = 23
  /** `count` pieces of one label each, every one pointing to the one before it. */
  function chained(label: number, count: number) {
    const piece = Buffer.concat([Buffer.of(label), Buffer.alloc(label, 'a')])
    const pieces = [Buffer.concat([piece, Buffer.of(0)])]
    let [last, next] = [BEGIN, BEGIN + label + 2]
    while (pieces.length < count) {
      pieces.push(Buffer.concat([piece, Buffer.from([0xc0 | (last >> 8), last & 255])]))
      ;[last, next] = [next, next + label + 3]
    }
    return { chain: Buffer.concat(pieces), start: last }
  }
  const nameOf = (label: number, count: number) => {
    const { chain, start } = chained(label, count)
    return decodeMessage(message(chain, start, 1)).answers[1]?.name
  }

  test.each([
    ['127 labels, as many as fit', 1, 127],
    ['of 253 bytes', 62, 4],
  ])('is read: %s', (_, label, count) => {
    expect(nameOf(label, count)).toBe(Array.from({ length: count }, () => 'a'.repeat(label)).join('.'))
  })

  test.each([
    ['128 labels', 1, 128],
    ['of 257 bytes', 63, 4],
    ['thousands of labels', 1, 4_000],
  ])('is refused: %s', (_, label, count) => expect(() => nameOf(label, count)).toThrow(WireError))

  test('of pointers alone ends soon, however many names lead there', () => {
    const pointers = Array.from({ length: 8_000 }, (_, n) => {
      const to = n === 0 ? BEGIN : BEGIN + 1 + 2 * (n - 1)
      return Buffer.from([0xc0 | (to >> 8), to & 255])
    })
    const bytes = message(Buffer.concat([Buffer.of(0), ...pointers]), BEGIN + 1 + 2 * 7_999, 3_000)
    expect(() => decodeMessage(bytes)).toThrow(/too many pointers/)
  })
})

test('every name that is written is read again', () =>
  fc.assert(
    fc.property(fc.domain(), name => {
      const { questions } = decodeMessage(encodeMessage(query(name)))
      expect(questions[0]?.name).toBe(name.toLowerCase())
    }),
  ))

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

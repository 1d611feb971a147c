import { describe, expect, test } from 'vitest'
import { exactTerm, hashTerm, messageTerms, queryTerms, type Searchable, tagTerm } from './search-terms.ts'

const MESSAGE: Searchable = {
  from: 'Billing@Shop.example',
  subject: 'Your order ORD-2024/17 (paid): Größe 42, version 2.4.1',
  message_id: '<Abc.123@mail.shop.example>',
  // Stored domains are A-labels.
  rcpts: [{ email: 'bob.smith+news@eu.mail.example.com' }, { email: '王小明@xn--r8jz45g.jp' }],
  tags: [{ name: 'Kind', value: 'a b' }],
}
const matches = (query: string, message: Searchable = MESSAGE) => {
  const terms = messageTerms(message)
  return [...queryTerms(query)].every(term => terms.has(term))
}

describe('a query finds a message by', () => {
  test.each([
    ['a word of the subject', 'order'],
    ['words in any order and case', 'PAID Your'],
    ['a word with marks', 'GRÖßE'],
    ['an order number', 'ord-2024/17'],
    ['a part of an order number', '2024'],
    ['a number with dots', '2.4.1'],
    ['punctuation around words', '"order", (paid)'],
    ['the Message-ID', '<Abc.123@mail.shop.example>'],
    ['the Message-ID without brackets', 'abc.123@MAIL.shop.example'],
    ['a recipient', 'bob.smith+news@eu.mail.example.com'],
    ['the local part', 'bob.smith+news'],
    ['a word of the local part', 'smith'],
    ['a recipient of an internationalised domain', '王小明@例え.jp'],
    ['the domain of a recipient', 'eu.mail.example.com'],
    ['the same with an at sign', '@eu.mail.example.com'],
    ['a parent of the domain', 'example.com'],
    ['the sender', 'billing@shop.example'],
    ['the end of a local part before its at sign', 'billing@'],
    ['a name in an unspaced script', '小明'],
    ['words from several places', 'order smith shop.example'],
    ['nothing but punctuation', '.*'],
  ])('%s', (_, query) => {
    expect(matches(query)).toBe(true)
  })
})

describe('a query does not find a message by', () => {
  test.each([
    ['a part of a word', 'orde'],
    ['one word of two', 'order unpaid'],
    ['another address', 'bob@eu.mail.example.com'],
    ['a top-level domain', 'com'],
    ['a part of a domain label', 'xample.com'],
    ['a tag', 'kind'],
  ])('%s', (_, query) => {
    expect(matches(query)).toBe(false)
  })
})

describe('unspaced scripts', () => {
  test.each([
    ['您的订单已发货', '订单', true],
    ['您的订单已发货', '单', true],
    ['您的订单已发货', '您的订单已发货', true],
    ['您的订单已发货', '单订', false],
    ['订单A-17已发货', 'a-17', true],
    ['订单17已发货', '17', true],
    ['ご注文ありがとう', '注文', true],
    ['𠮷野家', '𠮷野', true],
    ['ใบสั่งซื้อ', 'สั่ง', true],
    ['您的 order 已发货', '已发 order', true],
    ['हिन्दी-समाचार', 'हिन्दी', true], // spaced, and its words end with a mark
  ])('%s is found by %s: %s', (subject, query, found) => {
    expect(matches(query, { ...MESSAGE, subject })).toBe(found)
  })
})

test('terms of a message are bounded by its subject and its addresses, and none is empty', () => {
  const subject = Array.from({ length: 5_000 }, (_, n) => `w${n}`).join(' ')
  const local = Array.from({ length: 30 }, (_, n) => `p${n}`).join('.')
  const deep = Array.from({ length: 40 }, (_, n) => `l${n}`).join('.')
  const terms = messageTerms({ ...MESSAGE, subject, rcpts: [{ email: `${local}@${deep}.example` }] })
  expect(terms.size).toBeLessThan(170)
  expect(messageTerms({ from: '', subject: ' .,- ', message_id: '', rcpts: [{ email: '@' }] }).has('')).toBe(false)
})

test('exact terms and tags are those of the message', () => {
  const terms = messageTerms(MESSAGE)
  for (const value of ['<Abc.123@mail.shop.example>', 'BILLING@shop.example', 'Shop.example'])
    expect(terms.has(exactTerm(value))).toBe(true)
  expect(terms.has(tagTerm('Kind'))).toBe(true)
  expect(terms.has(tagTerm('Kind:a b'))).toBe(true)
  expect(terms.has(tagTerm('kind'))).toBe(false)
})

describe('the number of a term', () => {
  test('is a 32-bit integer, the same each time, another one for another account', () => {
    const numbers = ['a', 'b'].flatMap(user => ['order', 'ordes'].map(term => hashTerm(user, term)))
    expect(numbers).toEqual(['a', 'b'].flatMap(user => ['order', 'ordes'].map(term => hashTerm(user, term))))
    expect(new Set(numbers).size).toBe(4)
    for (const number of numbers) expect(number).toBe(number | 0)
  })

  test('spreads: among 200,000 terms hardly any two share one', () => {
    const seen = new Set<number>()
    for (let n = 0; n < 200_000; n++) seen.add(hashTerm('usr_1', `user${n}@example.com`))
    // 200,000² / 2 / 2³² pairs are expected to: five.
    expect(200_000 - seen.size).toBeLessThan(30)
  })
})

import { describe, expect, test } from 'vitest'
import { MAX_FROM_MAILBOXES, readMailboxes } from './mailboxes.ts'

describe('authors of a message', () => {
  test.each([
    ['a@example.org', ['a@example.org']],
    ['<a@Example.ORG>', ['a@example.org']],
    ['Ann Other <a@example.org>', ['a@example.org']],
    ['"Other, Ann" <a@example.org>', ['a@example.org']],
    ['"a@evil.example" <a@example.org>', ['a@example.org']],
    ['J. Doe <j.doe@example.org>', ['j.doe@example.org']],
    ['=?utf-8?q?evil=40evil.example?= <a@example.org>', ['a@example.org']],
    ['你好 <a@example.org>', ['a@example.org']],
    ['a@example.org (evil@evil.example)', ['a@example.org']],
    ['(one (two)) a@example.org', ['a@example.org']],
    ['a@example.org, Bob <b@example.net>', ['a@example.org', 'b@example.net']],
    ['a@münchen.example', ['a@xn--mnchen-3ya.example']],
    ['"ann lee"@example.org, "ann..lee"@Example.net', ['"ann lee"@example.org', '"ann..lee"@example.net']],
    ['Ann <"ann"@example.org>', ['ann@example.org']],
    ['"quote \\" and <b@evil.example>" <a@example.org>', ['a@example.org']],
  ])('%s', (value, expected) => {
    expect(readMailboxes(value)).toEqual(expected)
  })

  const authors = (count: number) => Array.from({ length: count }, (_, n) => `A <a${n}@example.org>`).join(', ')

  test('up to ten are read, more are refused without reading them', () => {
    expect(readMailboxes(authors(MAX_FROM_MAILBOXES))).toHaveLength(10)
    expect(readMailboxes(authors(MAX_FROM_MAILBOXES + 1))).toBe('too_many')
    expect(readMailboxes(`${',not a mailbox'.repeat(5000)}`)).toBe('too_many')
    expect(readMailboxes(`"${','.repeat(5000)}" (${','.repeat(5000)}) <a@example.org>`)).toEqual(['a@example.org'])
  })

  test.each([
    ['nothing', ''],
    ['a name alone', 'Ann Other'],
    ['an address as name', 'a@example.org <b@evil.example>'],
    ['an unquoted comma', 'Other, Ann <a@example.org>'],
    ['an empty part', 'a@example.org,'],
    ['two addresses in one mailbox', '<a@example.org> <b@evil.example>'],
    ['text behind the bracket', '<a@example.org> b'],
    ['nested brackets', '<<a@example.org>>'],
    ['two at signs', 'a@example.org@evil.example'],
    ['a route', '<@evil.example:a@example.org>'],
    ['a group', 'list: a@example.org;'],
    ['the null path', '<>'],
    ['an address literal', 'a@[127.0.0.1]'],
    ['another address in a quoted local part', '"ceo@evil.example"@example.org'],
    ['a list in a quoted local part', '"a,b"@example.org'],
    ['a quoted local part with a bracket', '"a>b"@example.org'],
    ['an encoded word in a quoted local part', '"=?utf-8?q?x?="@example.org'],
    ['an encoded word as local part', '=?utf-8?b?Ym9zc0BldmlsLmV4YW1wbGU=?=@example.org'],
    ['an encoded word within a local part', 'a=?utf-8?q?=40evil.example=00?=b@example.org'],
    ['an encoded word as local part in brackets', 'Ann <=?utf-8?q?boss=40evil.example?=@example.org>'],
    ['a domain of one label', 'a@localhost'],
    ['an open comment', 'a@example.org (evil'],
    ['a closing bracket of no comment', 'a@example.org) (b'],
    ['an open quote', '"Ann <a@example.org>'],
    ['a comment within an atom', 'a(x)b@example.org'],
    ['a control character', 'a@example.org\u0000'],
    ['a full-width domain', 'a@ｅxample.org'],
    ['an invisible character in the domain', 'a@exa\u00admple.org'],
  ])('refused: %s', (_, value) => {
    expect(readMailboxes(value)).toBeUndefined()
  })
})

test.each([
  ['a quote without end before many escaped ones', `"${'\\"'.repeat(125_000)}`],
  ['open comments', '('.repeat(250_000)],
  ['quotes within open comments', '("'.repeat(125_000)],
  ['backslashes', '\\'.repeat(250_000)],
  ['at signs', '@'.repeat(250_000)],
  ['signs of encoded words', `${'=?'.repeat(125_000)}@example.org`],
])('the longest header of %s is refused immediately', (_, value) => {
  const started = performance.now()
  expect(readMailboxes(value)).toBeUndefined()
  expect(performance.now() - started).toBeLessThan(1_000)
})

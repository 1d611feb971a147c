import { expect, test } from 'vitest'
import { child, escapeXml, listAt, parseXml, textAt } from './xml.ts'

test('elements, texts, lists, and prefixes of names', () => {
  const root = parseXml(
    '<?xml version="1.0"?>\n<a:R xmlns:a="urn:x"><L><V>1 &amp; &lt;2&gt;</V><V>"3"</V></L><E/></a:R>',
  )
  expect(root?.name).toBe('R')
  expect(listAt(root, 'L').map(({ text }) => text)).toEqual(['1 & <2>', '"3"'])
  expect([textAt(root, 'E'), textAt(root, 'L', 'V'), textAt(root, 'X', 'V'), child(undefined, 'x')]).toEqual([
    '',
    '1 & <2>',
    undefined,
    undefined,
  ])
})

test.each([
  ['nothing', ''],
  ['a text', 'Bad Gateway'],
  ['JSON', '{"a":1}'],
  ['an element without an end', '<a><b></b>'],
  ['crossed elements', '<a><b></a></b>'],
  ['a document type', '<!DOCTYPE a [<!ENTITY e "eeee">]><a>&e;</a>'],
  ['an unknown entity', '<a>&e;</a>'],
  ['elements without number', '<a>'.repeat(10_000) + '</a>'.repeat(10_000)],
  ['two roots', '<a></a><b></b>'],
])('%s is no answer', (_, text) => expect(parseXml(text)).toBeUndefined())

test.each(['a & b', '<x y="z">', "'", '"v=spf1 -all"', ']]>'])('%s is the same after writing and reading', text => {
  expect(parseXml(`<a>${escapeXml(text)}</a>`)?.text).toBe(text)
})

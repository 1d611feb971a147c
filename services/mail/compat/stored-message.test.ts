import { expect, test } from 'vitest'
import { readStored } from './stored-message.ts'

const replyTo = (value: string) => readStored(Buffer.from(`From: a@b.example\r\nReply-To: ${value}\r\n\r\n`)).reply_to

test.each<[string, string[]]>([
  ['a@b.example', ['a@b.example']],
  ['a@b.example, <c@d.example>', ['a@b.example', '<c@d.example>']],
  ['"Ann, B." <a@b.example>,c@d.example', ['"Ann, B." <a@b.example>', 'c@d.example']],
  ['"a\\", b" <a@b.example>, c@d.example', ['"a\\", b" <a@b.example>', 'c@d.example']],
  ['<a@b.example, c@d.example', ['<a@b.example, c@d.example']],
  ['"a, b', ['"a, b']],
  ['"a\\', ['"a\\']],
  [',, ,', []],
])('Reply-To %j is %j', (value, expected) => expect(replyTo(value)).toEqual(expected))

test.each([
  ['brackets', '<'],
  ['quotes', '"\\'],
  ['escaped quotes', '\\"'],
])('a long field of %s that are not closed is read in its length', (_, text) => {
  const line = text.repeat(900 / text.length)
  const value = `"${text === '<' ? '" ' : ''}${Array.from({ length: 250 }, () => line).join('\r\n ')}`
  const started = performance.now()
  expect(replyTo(value)).toHaveLength(1)
  expect(performance.now() - started).toBeLessThan(1_000)
})

import { describe, expect, test } from 'vitest'
import { type Header, parseHeader } from '../../message/headers.ts'
import { type OwnUnsubscribe, readOwnUnsubscribe, unsubscribeFields } from './unsubscribe-fields.ts'

const fieldsOf = (...lines: string[]) => (parseHeader(Buffer.from(`${lines.join('\r\n')}\r\n\r\n`)) as Header).fields
const POST = 'List-Unsubscribe-Post: List-Unsubscribe=One-Click'

describe('what a message says of itself', () => {
  test.each<[string, string[], OwnUnsubscribe]>([
    ['nothing', ['Subject: x'], 'none'],
    ['both fields', ['List-Unsubscribe: <https://a.example/u?x=1>', POST], 'one_click'],
    ['both fields, folded', ['List-Unsubscribe: <mailto:x@a.example>,', ' <https://a.example/u>', POST], 'one_click'],
    ['other cases of letters', ['list-unsubscribe: <HTTPS://a.example>', POST.toLowerCase()], 'one_click'],
    ['no Post', ['List-Unsubscribe: <https://a.example/u>'], 'incomplete'],
    ['Post alone', [POST], 'incomplete'],
    ['plain http', ['List-Unsubscribe: <http://a.example/u>', POST], 'incomplete'],
    ['mail alone', ['List-Unsubscribe: <mailto:x@a.example>', POST], 'incomplete'],
    ['no brackets', ['List-Unsubscribe: https://a.example/u', POST], 'incomplete'],
    ['another Post', ['List-Unsubscribe: <https://a.example/u>', 'List-Unsubscribe-Post: yes'], 'incomplete'],
    ['an empty field', ['List-Unsubscribe:', POST], 'incomplete'],
  ])('%s', (_, lines, expected) => expect(readOwnUnsubscribe(fieldsOf(...lines))).toBe(expected))

  test('fields that are removed do not count', () => {
    const fields = fieldsOf('List-Unsubscribe: <https://a.example/u>', POST)
    expect(readOwnUnsubscribe(fields.map(field => ({ ...field, removed: true as const })))).toBe('none')
  })
})

describe('fields that are added', () => {
  test('with https are complete for one click', () => {
    const url = 'https://mail.example.com/u/token'
    const lines = unsubscribeFields({ url, mailto: 'unsubscribe+t@bounce.example.com' }).map(([n, v]) => `${n}: ${v}`)
    expect(lines).toEqual([
      'List-Unsubscribe: <https://mail.example.com/u/token>,\r\n <mailto:unsubscribe+t@bounce.example.com>',
      'List-Unsubscribe-Post: List-Unsubscribe=One-Click',
    ])
    expect(readOwnUnsubscribe(fieldsOf(...lines))).toBe('one_click')
  })

  test('without https have no Post', () =>
    expect(unsubscribeFields({ url: 'http://127.0.0.1/u/t' })).toEqual([
      ['List-Unsubscribe', '<http://127.0.0.1/u/t>'],
    ]))
})

import { expect, test } from 'vitest'
import { PREVIEW_POLICY, previewPage } from './preview.ts'

const page = (given: { html?: string; text?: string; images?: [string, string][] }) =>
  previewPage({ html: given.html, text: given.text, images: new Map(given.images ?? []) })

test('text is shown as it is, whatever it looks like', () => {
  const shown = page({ text: '<script>alert(1)</script> & </pre><b>' })
  expect(shown).toContain('&lt;script&gt;alert(1)&lt;/script&gt; &amp; &lt;/pre&gt;&lt;b&gt;')
  expect(shown.match(/<(?!!doctype|meta|pre|\/pre)/g)).toBeNull()
})

test('what was escaped by its writer stays escaped', () => {
  expect(page({ text: '&lt;' })).toContain('>&amp;lt;<')
})

test('a message without a body is an empty page', () => {
  expect(page({})).toMatch(/<pre [^>]*><\/pre>$/)
})

test.each([
  ['<img src="cid:logo@example.com">', '<img src="data:image/png;base64,QQ==">'],
  ["<img src='CID:logo@example.com'>", "<img src='data:image/png;base64,QQ=='>"],
  [
    '<img src=cid:logo@example.com><img src=cid:logo@example.com>',
    '<img src=data:image/png;base64,QQ==><img src=data:image/png;base64,QQ==>',
  ],
  ['<img src="cid:other">', '<img src="cid:other">'],
  ['<img src="acid:logo@example.com">', '<img src="acid:logo@example.com">'],
  ['<p>cid: nothing</p>', '<p>cid: nothing</p>'],
])('of %s the images inside the message are put in', (html, shown) => {
  expect(page({ html, images: [['logo@example.com', 'data:image/png;base64,QQ==']] })).toBe(shown)
})

test('an image that is used in many places is inserted until the page has 16 MiB of images', () => {
  const image = `data:image/png;base64,${'A'.repeat(4 * 1024 * 1024 - 22)}`
  const shown = page({ html: '<img src="cid:a">'.repeat(1_000), images: [['a', image]] })
  expect(shown.match(/data:image/g)).toHaveLength(4)
  expect(shown.match(/cid:a/g)).toHaveLength(996)
})

test('HTML goes before text, also when it is empty', () => {
  expect(page({ html: '<b>x</b>', text: 'x' })).toBe('<b>x</b>')
  expect(page({ html: '', text: 'x' })).toBe('')
})

test('the policy lets nothing run, load or leave', () => {
  const rules = new Map(PREVIEW_POLICY.split('; ').map(rule => [rule.split(' ')[0], rule.split(' ').slice(1)]))
  // Without allow-scripts, allow-forms and the like.
  expect(rules.get('sandbox')).toEqual([])
  expect(rules.get('default-src')).toEqual(["'none'"])
  expect(rules.get('img-src')).toEqual(['data:'])
  expect([...rules.keys()]).not.toContain('script-src')
})

import { expect, test } from 'vitest'
import { htmlToText } from './html-to-text.ts'

test.each<[string, string, string]>([
  ['paragraphs and lines', '<h1>Hi</h1><p>a\n  b<br>c</p><p>d</p>', 'Hi\n\na b\nc\n\nd\n'],
  ['links', '<p>See <a href="https://a.example/?a=1&amp;b">here</a>.</p>', 'See here (https://a.example/?a=1&b).\n'],
  ['a link that shows its address', '<a href="https://a.example">https://a.example</a>', 'https://a.example\n'],
  ['a mail address', '<a href="mailto:a@b.example">a@b.example</a>', 'a@b.example\n'],
  ['a link without a text', '<a href="https://a.example"></a>', 'https://a.example\n'],
  ['a link that runs something', '<a href="javascript:a">x</a>', 'x\n'],
  ['lists', '<ul><li>a</li><li>b</li></ul>c', '- a\n- b\n\nc\n'],
  ['tables', '<table><tr><td>a</td><td>b</td></tr><tr><td>c</td></tr></table>', 'a b\nc\n'],
  ['entities', '<p>a &lt;b&gt; &amp;&nbsp;c</p>', 'a <b> & c\n'],
  ['images', 'a <img alt="Logo" src="x"> b', 'a Logo b\n'],
  [
    'what is not read',
    '<head><title>T</title><style>p{}</style></head><script>a<p>b</script><!-- c --><p>d</p>',
    'd\n',
  ],
  ['inline elements', '<b>a</b><i>b</i> <u>c</u>', 'ab c\n'],
  ['nothing', '', ''],
  ['an end tag alone', '</a></p>x', 'x\n'],
])('%s', async (_, html, text) => {
  expect(await htmlToText(html)).toBe(text)
})

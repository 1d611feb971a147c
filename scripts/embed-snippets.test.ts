import { expect, test } from 'vitest'
import { documentsWithSnippets, embedSnippets } from './embed-snippets.ts'

const read = (name: string) => ({ 'a.sh': 'send {{to}}\n\nend\n', 'b.mjs': 'x\n' })[name] ?? ''

test('replaces what is between the marks, with their indentation, again and again', () => {
  const text =
    'Text\n\n   <!-- snippet a.sh -->\n   old\n   <!-- end of snippet -->\n\n<!-- snippet b.mjs -->\n<!-- end of snippet -->\nEnd\n'
  const once = embedSnippets(text, read)
  expect(once).toBe(
    "Text\n\n   <!-- snippet a.sh -->\n   ```sh\n   send 'you@example.net'\n\n   end\n   ```\n   <!-- end of snippet -->\n\n<!-- snippet b.mjs -->\n```js\nx\n```\n<!-- end of snippet -->\nEnd\n",
  )
  expect(embedSnippets(once, read)).toBe(once)
})

test('leaves other text alone', () => {
  const text = '```sh\nsend {{to}}\n```\n<!-- snippet without an end -->\n'
  expect(embedSnippets(text, read)).toBe(text)
})

test('finds the documents', () => {
  expect(documentsWithSnippets()).toEqual(expect.arrayContaining(['docs/quickstarts/go.md', 'docs/smtp.zh-CN.md']))
})

import { describe, expect, test } from 'vitest'
import { findLinks, MAX_LINKS } from './find-links.ts'

const of = (html: string | undefined, text?: string) => findLinks({ html, text })

describe('the links of HTML', () => {
  test.each<[string, string, [href: string, text: string][]]>([
    [
      'with their words',
      '<a href="https://a.example/x?a=1&amp;b=2">Confirm <b>now</b></a>',
      [['https://a.example/x?a=1&b=2', 'Confirm now']],
    ],
    [
      'of an image',
      '<a href="https://a.example/"><img src="x" alt="Open the app"></a>',
      [['https://a.example/', 'Open the app']],
    ],
    ['of a map', '<map><area href="https://a.example/" alt="North"></map>', [['https://a.example/', 'North']]],
    [
      'of other schemes',
      '<a href="mailto:a@b.example">Write</a><a href="myapp://open">App</a>',
      [
        ['mailto:a@b.example', 'Write'],
        ['myapp://open', 'App'],
      ],
    ],
    [
      'each once',
      '<a href="https://a.example/">One</a><a href="https://a.example/">One</a><a href="https://a.example/">Two</a>',
      [
        ['https://a.example/', 'One'],
        ['https://a.example/', 'Two'],
      ],
    ],
    ['without places in the message', '<a href="#top">Top</a><a name="x">Here</a><a href="">None</a>', []],
    [
      'that are not closed',
      '<a href="https://a.example/">One<a href="https://b.example/">Two',
      [
        ['https://a.example/', 'One'],
        ['https://b.example/', 'Two'],
      ],
    ],
    [
      'outside of scripts, styles and comments',
      '<script>"<a href=https://a.example/>x</a>"</script><style><a href="https://b.example/">x</a></style><!-- <a href="https://c.example/">x</a> -->',
      [],
    ],
    [
      'as they are, also those that no browser should follow',
      '<a href="javascript:alert(1)">x</a>',
      [['javascript:alert(1)', 'x']],
    ],
  ])('%s', async (_, html, expected) => {
    expect(await of(html)).toEqual(expected.map(([href, text]) => ({ href, text })))
  })
})

test('addresses in the text follow, without the punctuation around them and without those of the HTML', async () => {
  const text =
    'See https://a.example/1, <https://a.example/2> (https://a.example/3) "https://a.example/4". https://w.example/A_(b)\nhttps://a.example/1。'
  const hrefs = async (html?: string) => (await of(html, text)).map(({ href }) => href)
  expect(await hrefs()).toEqual([1, 2, 3, 4].map(n => `https://a.example/${n}`).concat('https://w.example/A_(b)'))
  expect(await hrefs('<a href="https://a.example/2">Two</a>')).toEqual([
    'https://a.example/2',
    ...[1, 3, 4].map(n => `https://a.example/${n}`),
    'https://w.example/A_(b)',
  ])
})

test('at most so many are answered, and a long address is none', async () => {
  const many = Array.from({ length: MAX_LINKS + 10 }, (_, n) => `<a href="https://a.example/${n}">x</a>`).join('')
  expect(await of(many, 'https://b.example/')).toHaveLength(MAX_LINKS)
  expect(await of(`<a href="https://a.example/${'x'.repeat(9_000)}">x</a>`)).toEqual([])
})

describe('an address in the text', () => {
  const long = '.'.repeat(8_000)
  test.each<[string, string, string[]]>([
    ['that ends in punctuation of two kinds', 'https://a.example/x?!).', ['https://a.example/x']],
    ['with punctuation within', `https://a.example/${long}x`, [`https://a.example/${long}x`]],
    ['with much punctuation at its end', `https://a.example/x${long}`, ['https://a.example/x']],
    ['with brackets of its own', '(https://w.example/A_(b)).', ['https://w.example/A_(b)']],
    ['of punctuation', 'https://...', ['https://']],
    ['that is repeated', 'https://a.example/1 '.repeat(3), ['https://a.example/1']],
  ])('%s', async (_, text, expected) => {
    expect((await of(undefined, text)).map(({ href }) => href)).toEqual(expected)
  })

  test('after thousands of others is not looked for', async () => {
    const repeated = (times: number) => `${'https://a.example/1 '.repeat(times)}https://b.example/2`
    expect(await of(undefined, repeated(10 * MAX_LINKS - 1))).toHaveLength(2)
    expect(await of(undefined, repeated(10 * MAX_LINKS))).toHaveLength(1)
  })
})

test.each([
  ['open links', '<a href=x>'.repeat(100_000)],
  ['attributes', `<a ${'href=x '.repeat(100_000)}>`],
  ['words', `<a href="https://a.example/">${'word '.repeat(200_000)}`],
])('a message of %s takes little time', async (_, html) => {
  const started = performance.now()
  await of(html, html)
  expect(performance.now() - started).toBeLessThan(5_000)
})

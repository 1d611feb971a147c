import { expect, test } from 'vitest'
import { turnsDuring } from '../../../../test/support/time/event-loop-turns.ts'
import { parseTemplate, renderTemplate, type TemplateContent } from './render-template.ts'
import { TemplateError } from './template-error.ts'

const values = (given: object) => Object.assign(Object.create(null), given)

async function render(content: Partial<TemplateContent>, given: object = {}) {
  return renderTemplate(parseTemplate({ subject: 'Hello', variables: [], ...content }), values(given))
}

async function htmlOf(html: string, given: object = {}): Promise<string | undefined> {
  return (await render({ html }, given)).html
}

async function errorOf(work: () => Promise<unknown>): Promise<string> {
  const error = await work().then(
    () => undefined,
    (thrown: unknown) => thrown,
  )
  if (!(error instanceof TemplateError)) throw new Error('nothing was refused', { cause: error })
  return error.message
}

const SCRIPT = `"><script>alert(1)</script>'`

test.each<[string, string, object, string]>([
  ['text', '<p>{{ x }}</p>', { x: SCRIPT }, '<p>&quot;&gt;&lt;script&gt;alert(1)&lt;/script&gt;&#39;</p>'],
  ['a double-quoted attribute', '<b title="{{ x }}">', { x: '" onclick="a' }, '<b title="&quot; onclick=&quot;a">'],
  ['a single-quoted attribute', "<b title='{{ x }}'>", { x: "' onclick='a" }, "<b title='&#39; onclick=&#39;a'>"],
  ['a title', '<title>{{ x }}</title>', { x: '</title><p>' }, '<title>&lt;/title&gt;&lt;p&gt;</title>'],
  ['template syntax', '<p>{{ x }}</p>', { x: '{{ 7 | times: 7 }}{% if %}' }, '<p>{{ 7 | times: 7 }}{% if %}</p>'],
  ['entities', '<p>{{ x }}</p>', { x: '&lt;b&gt;' }, '<p>&amp;lt;b&amp;gt;</p>'],
  [
    'an address',
    '<a href="{{ x }}">',
    { x: 'https://a.example/?a=1&b="' },
    '<a href="https://a.example/?a=1&amp;b=&quot;">',
  ],
  ['a relative address', '<a href="/users/{{ x }}">', { x: 'a:b' }, '<a href="/users/a:b">'],
  ['a part of a query', '<a href="/?q={{ x | url_encode }}">', { x: 'a&b c/"' }, '<a href="/?q=a%26b%20c%2F%22">'],
  ['a style', '<p style="color: {{ x }}">', { x: '#ff0000' }, '<p style="color: #ff0000">'],
  ['control characters', '<p>{{ x }}</p>', { x: 'a\0\u001b\u0085b\tc' }, '<p>ab\tc</p>'],
  ['half a surrogate pair', '<p>{{ x }}</p>', { x: 'a\ud800b' }, '<p>a\ufffdb</p>'],
  ['a reference begun by the template', '<p>&{{ x }}</p>', { x: 'lt;b' }, '<p>&&#108;&#116;&#59;&#98;</p>'],
  ['a reference of two values', '<p>&{{ x }}{{ y }}</p>', { x: '', y: 'lt;' }, '<p>&&#108;&#116;&#59;</p>'],
  [
    'marks of another value',
    '<p>{{ x }}</p><i>{{ y }}</i>',
    { x: '\uFDD01\uFDD1', y: '<' },
    '<p>\uFDD01\uFDD1</p><i>&lt;</i>',
  ],
  ['nothing', '<p>{{ x }}</p>', { x: null }, '<p></p>'],
  ['numbers and booleans', '<p>{{ x }} {{ y }}</p>', { x: 1.5, y: false }, '<p>1.5 false</p>'],
])('a value is escaped for its place: %s', async (_, html, given, expected) => {
  expect(await htmlOf(html, given)).toBe(expected)
})

test.each([
  '{{ x.constructor }}',
  '{{ x.constructor.constructor }}',
  '{{ x.__proto__ }}',
  '{{ x["__proto__"]["polluted"] }}',
  '{{ list.constructor }}{{ list.map }}',
  '{{ list[0].__proto__ }}{{ list[0].toString }}{{ list[0].hasOwnProperty }}',
  '{{ __proto__ }}{{ constructor }}{{ globalThis }}{{ process }}{{ require }}',
])('nothing of a prototype or of the process is reachable: %s', async html => {
  const entry = Object.create(null)
  expect(await htmlOf(html, { x: 'text', list: [entry] })).toBe('')
})

test.each<[string, string, object?]>([
  ['a script', '<script>var a = "{{ x }}"</script>'],
  ['a style sheet', '<style>p { color: {{ x }} }</style>'],
  ['a comment', '<!-- {{ x }} -->'],
  ['a conditional comment', '<!--[if mso]>{{ x }}<![endif]-->'],
  ['the name of a tag', '<{{ x }}>'],
  ['the name of a tag, in two values', '<{{ y }}{{ x }}>', { y: '', x: 'b' }],
  ['the name of an attribute', '<b {{ x }}="1">'],
  ['an attribute without quotes', '<b title={{ x }}>'],
  ['an attribute without quotes before a quote', '<b title={{ x }}">'],
  ['an attribute that is there twice', '<b title="1" title="{{ x }}">'],
  ['an event handler', '<b onclick="{{ x }}">'],
  ['a document', '<iframe srcdoc="{{ x }}">'],
  ['several addresses', '<img srcset="{{ x }}">'],
  ['a refresh', '<meta http-equiv="refresh" content="0;url={{ x }}">'],
  ['a base', '<base href="{{ x }}">'],
  ['an iframe', '<iframe src="{{ x }}">'],
  ['an animation', '<svg><animate attributeName="href" values="{{ x }}">'],
  ['markup inside of a title', '<svg><title><a href="{{ x }}"></title></svg>'],
  ['plain text', '<plaintext>{{ x }}'],
  ['a forged mark', '&#xFDD0;0&#xFDD1;<script>{{ x }}</script>'],
  ['a forged mark in decimal', '&#64976;0&#64977;<script>{{ x }}</script>'],
])('no value may stand in %s', async (_, html, given = { x: 'harmless' }) => {
  expect(await errorOf(() => htmlOf(html, given))).toMatch(/^line 1, column \d+: (?:A value cannot be used|A value in)/)
})

test.each([
  'javascript:alert(1)',
  'JaVaScRiPt:alert(1)',
  ' \u0001javascript:alert(1)',
  'java\tscript:alert(1)',
  'java\nscript:alert(1)',
  '\u200bjavascript:alert(1)',
  'vbscript:a',
  'data:text/html,<script>alert(1)</script>',
  'file:///etc/passwd',
  'blob:a',
])('an address may not be %j', async x => {
  const refused = /An address may not begin with/
  expect(await errorOf(() => htmlOf('<a href="{{ x }}">', { x }))).toMatch(refused)
  expect(await errorOf(() => htmlOf('<img alt="" src=\'{{ x }}\'>', { x }))).toMatch(refused)
  expect(await errorOf(() => htmlOf('<a href="{{ a }}{{ b }}">', { a: x.slice(0, 4), b: x.slice(4) }))).toMatch(refused)
})

test('an address that the template begins and a value ends is judged as a whole', async () => {
  expect(await errorOf(() => htmlOf('<a href="java{{ x }}">', { x: 'script:a' }))).toMatch(/"javascript:"/)
  expect(await errorOf(() => htmlOf('<a href="java&#115;cript:{{ x }}">', { x: '1' }))).toMatch(/"javascript:"/)
  expect(await htmlOf('<a href="https://a.example/{{ x }}">', { x: 'javascript:a' })).toContain('example/javascript:a')
})

test.each(['red;background:url(//a.example)', 'expression(alert(1))', 'red}', '"', 'url(x)', '\\65'])(
  'a style may not be %j',
  async x => {
    expect(await errorOf(() => htmlOf('<p style="color: {{ x }}">', { x }))).toMatch(/A value in a style/)
  },
)

test.each(['a\r\nBcc: b@example.com', 'a\nb', 'a\u2028b', 'a\0b', 'a\u0085b'])('a subject is one line: %j', async x => {
  const { subject } = await render({ subject: 'Hi {{ x }}!', text: '' }, { x })
  expect(subject).toMatch(/^Hi a (?:Bcc: )?b(?:@example.com)?!$/)
})

test('text and subject are not HTML-escaped', async () => {
  const content = { subject: '{{ x }}', text: '{{ x }}', html: '{{ x }}' }
  expect(await render(content, { x: 'a & <b>' })).toEqual({
    subject: 'a & <b>',
    text: 'a & <b>',
    html: 'a &amp; &lt;b&gt;',
    textIsDerived: false,
  })
})

test.each<[string, string, RegExp]>([
  ['raw output', '{{ x | raw }}', /no filter "raw"/],
  ['files', "{% include 'a' %}", /no tag "include"/],
  ['partials', "{% render '/etc/passwd' %}", /no tag "render"/],
  ['layouts', "{% layout 'a' %}", /no tag "layout"/],
  ['capture', '{% capture a %}{% endcapture %}', /no tag "capture"/],
  ['assignment', '{% assign a = x %}', /no tag "assign"/],
  ['dates, whose format can pad without a bound', '{{ x | date: "%9999999d" }}', /no filter "date"/],
  ['replacement', '{{ x | replace: "a", "b" }}', /no filter "replace"/],
])('the language has no %s', async (_, html, message) => {
  expect(await errorOf(() => htmlOf(html, { x: '1' }))).toMatch(message)
})

test.each<[string, string, string]>([
  ['an open tag', 'a\nbc {% if x %}', 'line 2, column 4: Something is not closed'],
  ['an open output', 'a\n\n {{ x', 'line 3, column 2: Something is not closed'],
  ['nonsense', ' {% for in %}{% endfor %}', 'line 1, column 2: This cannot be read'],
  ['a list', '{{ list }}', 'line 1, column 1: A list or an object cannot be output'],
  ['an object', '{{ list[0] }}', 'line 1, column 1: A list or an object cannot be output'],
])('an error names line and column: %s', async (_, html, message) => {
  const given = { x: '1', list: [Object.create(null)] }
  expect(await errorOf(() => htmlOf(html, given))).toContain(message)
})

const CHARACTERS = 'a'.repeat(60_000)

test.each<[string, string, object?]>([
  ['a long loop', '{% for i in (1..9999999) %}x{% endfor %}'],
  ['a loop from below zero', '{% for i in (-99999999..1) %}x{% endfor %}'],
  ['loops in loops', `${'{% for i in (1..999) %}'.repeat(4)}x${'{% endfor %}'.repeat(4)}`],
  ['empty loops in loops', `${'{% for i in (1..9999) %}'.repeat(3)}${'{% endfor %}'.repeat(3)}`],
  ['a long result', `{% for i in (1..40) %}${CHARACTERS}{% endfor %}`],
  ['a long result of values', '{% for i in (1..40) %}{{ x }}{% endfor %}', { x: CHARACTERS }],
  ['a result that escaping makes long', '{% for i in (1..4) %}{{ x }}{% endfor %}', { x: '"'.repeat(60_000) }],
  ['filters on filters', `{{ x ${'| upcase '.repeat(90)}}}`, { x: CHARACTERS }],
  ['a filter that grows its input', `{{ x ${'| url_encode '.repeat(60)}}}`, { x: '%'.repeat(60_000) }],
  ['nested tags', '{% if x %}'.repeat(4_000)],
  ['many tags', '{{ x }}'.repeat(60_000)],
  ['a long expression', `{{ x${'.a'.repeat(200_000)} }}`],
  ['a long condition', `{% if ${'x and '.repeat(80_000)}x %}{% endif %}`],
  ['open brackets', '{'.repeat(500_000)],
])('work is bounded: %s', async (_, html, given = { x: '1' }) => {
  expect(await errorOf(() => htmlOf(html, given))).toMatch(/^line 1, column \d+: /)
})

test.each<[string, string]>([
  ['open tags', '<a>x'.repeat(120_000)],
  ['formatting elements with paragraphs', Array.from({ length: 20_000 }, (_, n) => `<b id="${n}"><p>`).join('')],
  ['angle brackets', '<'.repeat(500_000)],
  ['comments', '<!--'.repeat(120_000)],
  ['attributes', `<a ${'b="c" '.repeat(20_000)}>`],
])('HTML is read once and in turns, whatever its form: %s', async (_, html) => {
  let rendered: string | undefined
  const turns = await turnsDuring(async () => {
    rendered = await htmlOf(html)
  })
  expect(rendered).toBe(html)
  expect(turns).toBeGreaterThanOrEqual(2 * Math.floor(html.length / 32_768)) // places, and the text
})

test('loops and conditions', async () => {
  const html =
    '{% for line in lines %}{% if line.paid %}{{ forloop.index }}: {{ line.name | upcase }}{% else %}-{% endif %};{% endfor %}'
  const lines = [values({ name: 'a<b', paid: true }), values({ name: 'c', paid: false })]
  expect(await htmlOf(html, { lines })).toBe('1: A&lt;B;-;')
})

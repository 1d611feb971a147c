import { expect, test } from 'vitest'
import { findTemplateErrors } from './check-template.ts'

const variables = [
  { key: 'x', type: 'string' as const },
  { key: 'lines', type: 'list' as const },
]

async function errorsOf(html: string): Promise<string[]> {
  const errors = await findTemplateErrors({ subject: '', html, variables })
  return errors.map(({ pointer, reason }) => {
    const {
      line,
      column,
      reason: inner,
    } = (reason.params ?? {}) as unknown as {
      line: number
      column: number
      reason: { code: string; params?: { name?: string } }
    }
    return `${pointer} ${line}:${column} ${inner.code.replace('field.template_', '')} ${inner.params?.name ?? ''}`.trim()
  })
}

test.each<[string, string, string[]]>([
  ['a good template', '<p>{{ x }}{% for l in lines %}{{ l.name }}{{ forloop.index }}{% endfor %}</p>', []],
  ['a variable that is not declared', '<p>\n{{ nme }}</p>', ['/html 2:4 variable nme']],
  [
    'in a condition',
    '{% if a %}{% elsif b and c %}{% endif %}',
    ['a', 'b', 'c'].map((name, n) => `/html 1:${[7, 20, 26][n]} variable ${name}`),
  ],
  ['in a filter', '{{ x | default: y }}', ['/html 1:17 variable y']],
  ['in a range', '{% for i in (1..n) %}{% endfor %}', ['/html 1:17 variable n']],
  ['in a case', '{% case a %}{% when b %}{% endcase %}', ['/html 1:9 variable a', '/html 1:21 variable b']],
  ['in an index', '{{ lines[n] }}', ['/html 1:10 variable n']],
  ['of a loop that is over', '{% for l in lines %}{% endfor %}{{ l }}', ['/html 1:36 variable l']],
  ['syntax', '{% zap %}', ['/html 1:1 tag zap']],
  ['a place', '<script>{{ x }}</script>', ['/html 1:9 place']],
  ['a place in a branch', '{% if x %}a{% else %}<style>{{ x }}</style>{% endif %}', ['/html 1:29 place']],
  [
    'a place in a nested branch',
    '{% if x %}{% if x %}{% else %}<b {{ x }}>{% endif %}{% endif %}',
    ['/html 1:34 place'],
  ],
  [
    'places in all branches',
    '{% case x %}{% when 1 %}<b a={{ x }}>{% when 2 %}<b onx="{{ x }}">{% endcase %}',
    ['/html 1:30 unquoted a', '/html 1:58 attribute onx'],
  ],
  ['an element of each branch', '<b {% if x %}title="{{ x }}"{% else %}title="a{{ x }}"{% endif %}>', []],
  ['the end of a tag before a name', '<{% if x %}{{ x }}{% endif %}>', ['/html 1:12 place']],
])('%s', async (_, html, expected) => {
  expect(await errorsOf(html)).toEqual(expected)
})

test('each part has a pointer of its own, and at most ten errors', async () => {
  const errors = await findTemplateErrors({
    subject: '{{ a }}',
    html: '{{ b }}'.repeat(50),
    text: '{% c %}',
    variables,
  })
  expect(errors.map(({ pointer }) => pointer)).toEqual(['/subject', ...Array(10).fill('/html'), '/text'])
})

test('a template of the largest size is checked', async () => {
  const html = '{% if x %}<p title="{{ x }}">{{ x }}</p>{% else %}{{ x }}{% endif %}'.repeat(800)
  expect(await errorsOf(html + 'x'.repeat(512 * 1024 - html.length))).toEqual([])
})

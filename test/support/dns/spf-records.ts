/** Random SPF records for property tests. */
import fc from 'fast-check'

const term = fc.oneof(
  fc.ipV4().map(ip => `ip4:${ip}`),
  fc.ipV6().map(ip => `ip6:${ip}`),
  fc.constantFrom(
    'a',
    'mx',
    '-mx/24',
    '?ptr',
    'A:Mail.example.com//64',
    'exists:%{ir}.x.example',
    'foo=%{l-}',
    'exp=e.example',
  ),
  fc.domain().map(name => `include:${name}`),
)
/** Valid records: mechanisms and modifiers with gaps of one to three blanks, and each kind of end. */
export const spfRecord = fc
  .tuple(
    fc.uniqueArray(fc.tuple(fc.integer({ min: 1, max: 3 }), term), { maxLength: 12, selector: ([, text]) => text }),
    fc.constantFrom('', ' -all', '  ~all', ' ?all ', ' redirect=_spf.example.org', ' all mx'),
  )
  .map(([terms, end]) => `v=spf1${terms.map(([gap, text]) => ' '.repeat(gap) + text).join('')}${end}`)

/** The changelog: what is unreleased becomes a section, and a section becomes notes. */
import { readFile } from 'node:fs/promises'
import { describe, expect, test } from 'vitest'
import { entriesOf, notesOf, released, textOf } from './changelog.ts'

const HEAD = '# Changelog\n\nNewest first.\n\n'
const OLD = '## 0.1.0 - 2026-11-22\n\nFirst release.\n\n### Added\n\n- All of it, in\n  two lines.\n'
const changelog = (unreleased: string, older = OLD) => `${HEAD}## Unreleased\n\n${unreleased}\n${older}`

describe('released', () => {
  test('gives the entries version and date, and leaves an empty section above them', () => {
    const before = changelog('### Added\n\n- A.\n- B, which\n  is longer.\n\n### Fixed\n\n- C.\n')
    expect(released(before, '0.2.0', '2026-11-24')).toBe(
      `${HEAD}## Unreleased\n\n## 0.2.0 - 2026-11-24\n\n### Added\n\n- A.\n- B, which\n  is longer.\n\n### Fixed\n\n- C.\n\n${OLD}`,
    )
  })

  test('brings the categories into one order', () => {
    const text = released(
      changelog('### Security\n\n- S.\n\n### Fixed\n\n- F.\n\n### Added\n\n- A.\n'),
      '1.0.0',
      '2026-11-24',
    )
    expect(entriesOf(text, '1.0.0')?.map(({ category }) => category)).toEqual(['Added', 'Fixed', 'Security'])
  })

  test('joins the sections of candidates in the final release, and no others', () => {
    const candidates =
      '## 0.2.0-rc.2 - 2026-11-23\n\n### Fixed\n\n- F.\n\n## 0.2.0-rc.1 - 2026-11-22\n\n### Added\n\n- A.\n\n'
    const before = changelog('### Fixed\n\n- G.\n', candidates + OLD)
    const text = released(before, '0.2.0', '2026-11-24')
    expect(entriesOf(text, '0.2.0')?.map(textOf)).toEqual(['A.', 'G.', 'F.'])
    expect(text).not.toContain('-rc.')
    expect(text.endsWith(OLD)).toBe(true)
    expect(released(before, '0.2.0-rc.3', '2026-11-24').match(/-rc\.\d/g)).toEqual(['-rc.3', '-rc.2', '-rc.1'])
    expect(released(before, '0.3.0', '2026-11-24').match(/-rc\.\d/g)).toEqual(['-rc.2', '-rc.1'])
  })

  test('a final release may have no change since its candidate', () => {
    const text = released(
      changelog('', `## 0.2.0-rc.1 - 2026-11-22\n\n### Added\n\n- A.\n\n${OLD}`),
      '0.2.0',
      '2026-11-24',
    )
    expect(entriesOf(text, '0.2.0')?.map(textOf)).toEqual(['A.'])
  })

  test('the first release of a file without any', () => {
    expect(released(`${HEAD}## Unreleased\n\n### Added\n\n- A.\n`, '0.1.0', '2026-11-24')).toMatch(
      /## Unreleased\n\n## 0\.1\.0 - 2026-11-24\n\n### Added\n\n- A\.\n$/,
    )
  })

  test.each([
    ['nothing unreleased', changelog(''), /no entry under "## Unreleased"/],
    ['categories without entries', changelog('### Added\n\n### Fixed\n'), /no entry under "## Unreleased"/],
    ['no section for it', `${HEAD}${OLD}`, /no section "## Unreleased"/],
    [
      'an unknown category',
      changelog('### Improved\n\n- A.\n'),
      /Unreleased: "Improved" is no category; there are: Added,/,
    ],
    ['text between entries', changelog('### Added\n\n- A.\nlost\n'), /this line belongs to no entry: "lost"/],
    ['a continued line without an entry', changelog('### Added\n\n  lost\n'), /belongs to no entry/],
    [
      'the version already',
      changelog('### Added\n\n- A.\n', OLD.replace('0.1.0', '0.2.0')),
      /already has a section 0\.2\.0/,
    ],
  ])('refuses a changelog with %s', (_, text, message) => {
    expect(() => released(text, '0.2.0', '2026-11-24')).toThrow(message)
  })
})

describe('notesOf', () => {
  test('each entry is one line, and the introduction stays', () => {
    expect(notesOf(changelog(''), '0.1.0')).toBe('First release.\n\n### Added\n\n- All of it, in two lines.\n')
  })

  test.each(['0.2.0', '0.1', 'Unreleased'])('there are none for %s', version => {
    expect(() => notesOf(changelog(''), version)).toThrow(`no section ${version}`)
  })
})

test('our own changelog can be released without losing a line of an entry', async () => {
  const before = await readFile('CHANGELOG.md', 'utf8')
  const after = released(before, '999.0.0', '2026-11-24')
  const entryLines = (text: string) => text.split('\n').filter(line => /^(- | {2}|### )/.test(line))
  expect(entryLines(after).sort()).toEqual(entryLines(before).sort())
  expect(
    notesOf(after, '999.0.0')
      .split('\n')
      .filter(line => line.startsWith('- ')).length,
  ).toBe(entriesOf(before, 'Unreleased')?.length)
})

/** Validation of architecture decision records. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { brokenReferences, readDecisions, recordErrors, renderIndex } from './adr.ts'

const record = (heading: string, ...lines: string[]) => `# ${heading}\n\n${lines.join('\n')}\n\nText.\n`
const FIELDS = ['- Status: accepted', '- Date: 2026-11-21', '- Part: mail']
const GOOD = {
  '0001-first-choice.md': record('1. First choice', ...FIELDS),
  '0002-a-second-one.md': record('2. A second one', ...FIELDS),
}

async function recordsOf(files: Record<string, string>) {
  const folder = await mkdtemp(join(tmpdir(), 'pw-adr-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  for (const [name, text] of Object.entries({ ...files, 'README.md': 'index' }))
    await writeFile(join(folder, name), text)
  return readDecisions(folder)
}

const withSecond = (name: string, text: string) => ({
  '0001-first-choice.md': GOOD['0001-first-choice.md'],
  [name]: text,
})
const second = (...lines: string[]) => withSecond('0002-two.md', record('2. Two', ...lines))

test.each([
  ['two complete records', GOOD, []],
  ['an amended one', second('- Status: accepted', '- Date: 2026-11-21 (amended 2026-11-22)', '- Part: dns'), []],
  ['a superseded one', second('- Status: superseded by 1', '- Date: 2026-11-21', '- Part: dns'), []],
  ['no fields', second(), [/- Status: accepted/, /- Date: YYYY-MM-DD/, /- Part/]],
  ['an unknown status', second('- Status: maybe', ...FIELDS.slice(1)), [/- Status: accepted/]],
  ['an unknown successor', second('- Status: superseded by 7', ...FIELDS.slice(1)), [/no ADR 7 that supersedes/]],
  ['a date in words', second('- Status: accepted', '- Date: today', '- Part: dns'), [/- Date: YYYY-MM-DD/]],
  ['a gap', withSecond('0003-two.md', record('3. Two', ...FIELDS)), [/expected number 2/]],
  ['another file name', withSecond('0002-to.md', record('2. Two', ...FIELDS)), [/file name 0002-two\.md/]],
  ['no heading', withSecond('0002-two.md', FIELDS.join('\n')), [/expected number 2/, /file name/]],
])('a folder with %s has the expected errors', async (_, files, errors) => {
  expect(recordErrors(await recordsOf(files))).toEqual(errors.map(pattern => expect.stringMatching(pattern)))
})

// Split, so that the check does not treat these samples as references.
const ADR = 'ADR'
const FOLDER = ['docs', 'adr'].join('/')

test.each([
  [`see ${ADR} 2`, []],
  [`(${ADR}s 1, 2 and 3)`, [`there is no ${ADR} 3`]],
  [`${ADR}\n * 12 says`, [`there is no ${ADR} 12`]],
  [`${FOLDER}/0002-a-second-one.md`, []],
  [`${FOLDER}/0002-former-title.md`, [`there is no ${FOLDER}/0002-former-title.md`]],
  [`by decision ${2}`, [`write "${ADR} N" instead of "decision ${2}"`]],
])('references in %j have the expected errors', async (text, errors) => {
  const decisions = await recordsOf(GOOD)
  expect(brokenReferences('file.ts', text, decisions)).toEqual(errors.map(error => `file.ts: ${error}`))
})

test('the index has a row for each record', async () => {
  expect(renderIndex(await recordsOf(GOOD))).toContain(
    '| 1 | [First choice](0001-first-choice.md) | accepted | 2026-11-21 | mail |\n' +
      '| 2 | [A second one](0002-a-second-one.md) | accepted | 2026-11-21 | mail |\n',
  )
})

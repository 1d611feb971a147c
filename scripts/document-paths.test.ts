/** Source files that documents name exist: a renamed file would leave readers with a path to nothing. */
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'

const tracked = execFileSync('git', ['ls-files'], { encoding: 'utf8' }).trim().split('\n')
/** Files of an installation, an image or a release. */
const ELSEWHERE = new Set([
  'mongo/postwright.json',
  '/app/sbom/server.cdx.json',
  'build.cdx.json',
  'dist/release/digests.json',
])

/** Names of source files in backticks or quotes: `store/events.ts`, 'test/support/programs.ts'. */
function namesIn(text: string): string[] {
  return [...text.matchAll(/[`']([\w@./-]+\.(?:ts|tsx|cjs|json|txt))(?:`|')/g)].map(match => match[1] ?? '')
}

function isKnown(given: string): boolean {
  const name = given.replace(/^\.\//, '')
  return ELSEWHERE.has(name) || tracked.some(file => file === name || file.endsWith(`/${name}`))
}

const documents = tracked.filter(file => /^(?:docs\/.*|[^/]*)\.md$|^\.github\/.*\.ya?ml$/.test(file))

test.each(documents.filter(file => file !== 'CHANGELOG.md'))('%s names existing files', file => {
  expect(namesIn(readFileSync(file, 'utf8')).filter(name => !isKnown(name))).toEqual([])
})

test.each([
  ['`store/no-such-file.ts` and `services/all.ts`', ['store/no-such-file.ts']],
  ["hashFiles('test/support/programs.ts', 'package.json')", ['test/support/programs.ts']],
  ['`events.tsx`', ['events.tsx']],
  ['`smtp.ts` without a path', []],
])('finds what does not exist: %s', (text, missing) => {
  expect(namesIn(text).filter(name => !isKnown(name))).toEqual(missing)
})

/** One version: every file that contains it agrees with package.json. */
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { checkVersions, versionsOf } from './check.ts'

const FILES = [
  ...['package.json', 'package-lock.json', 'CHANGELOG.md', 'charts/postwright/Chart.yaml'],
  ...['clients/typescript/package.json', 'clients/typescript/src/generated/version.ts'],
]

/** A copy of the files in which one text is replaced. */
async function copyWith(file: string, from: string | RegExp, to: string): Promise<string> {
  const root = await mkdtemp(join(tmpdir(), 'pw-versions-'))
  onTestFinished(() => rm(root, { recursive: true, force: true }))
  for (const name of FILES) await cp(name, join(root, name), { recursive: true, force: true })
  const text = await readFile(file, 'utf8')
  const changed = text.replace(from, to)
  expect(changed, `${file} has ${from}`).not.toBe(text)
  await writeFile(join(root, file), changed)
  return root
}

test('all files of this checkout have the version of package.json, and the changelog has its section', async () => {
  const versions = await versionsOf('.')
  expect(new Set(Object.values(versions))).toEqual(new Set([versions['package.json version']]))
  expect(await checkVersions('.')).toBe(versions['package.json version'])
})

const CHART = 'charts/postwright/Chart.yaml'
test.each([
  ['package-lock.json', /"version": "[^"]+"/, '"version": "9.9.9"', 'package-lock.json version is 9.9.9'],
  [CHART, /^version: .*/m, 'version: 9.9.9', 'Chart.yaml version is 9.9.9'],
  [CHART, /^appVersion: .*/m, 'appVersion: 9.9.9', 'Chart.yaml appVersion is 9.9.9'],
  [CHART, /postwright\/postwright:\S+/, 'postwright/postwright:9.9.9', 'artifacthub.io/images is 9.9.9'],
  [
    'clients/typescript/package.json',
    /"version": "[^"]+"/,
    '"version": "9.9.9"',
    'clients/typescript/package.json version is 9.9.9',
  ],
  ['clients/typescript/src/generated/version.ts', /'[^']+'$/m, "'9.9.9'", 'version.ts is 9.9.9'],
])('%s with another version is refused', async (file, from, to, message) => {
  const root = await copyWith(file, from, to)
  await expect(checkVersions(root)).rejects.toThrow(message)
})

test('a version without a section in the changelog is refused', async () => {
  const { 'package.json version': version = '' } = await versionsOf('.')
  const root = await copyWith('CHANGELOG.md', `## ${version} - `, '## 0.0.1 - ')
  await expect(checkVersions(root)).rejects.toThrow(`CHANGELOG.md has no section ${version}`)
})

test('no document names the version of an image to build: it would be forgotten', async () => {
  const { 'package.json version': version = '' } = await versionsOf('.')
  for (const file of ['Dockerfile', 'README.md', 'README.zh-CN.md', 'docs/install.md', 'docs/install.zh-CN.md'])
    expect(await readFile(file, 'utf8'), file).not.toMatch(
      new RegExp(`(postwright:|VERSION=)${version.replaceAll('.', '\\.')}`),
    )
})

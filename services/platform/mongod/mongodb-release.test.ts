import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { canOpen, isRecentEnough, releaseIn, releaseOfData } from './mongodb-release.ts'

const of = (text: string) => releaseIn(text) ?? expect.fail(`no release in ${text}`)

test.each([
  ['6.0.5', '6.0', true],
  ['7.0.28', '6.0', true],
  ['8.0.32', '6.0', false],
  ['8.0.32', '7.0', true],
  ['8.0.32', '8.0', true],
  ['8.2.3', '8.0', true],
  ['8.0.32', '8.2', false],
  ['9.0.1', '8.0', true],
  ['6.0.5', '7.0', false],
  ['6.0.5', '8.0', false],
])('MongoDB %s and data of %s: %s', (program, data, opens) => expect(canOpen(of(program), of(data))).toBe(opens))

test.each([
  ['6.0.5', true],
  ['5.0.31', false],
  ['10.0.0', true],
])('MongoDB %s is recent enough: %s', (release, enough) => expect(isRecentEnough(of(release))).toBe(enough))

test.each([
  ['without data, whatever lies there', { 'postwright.json': '{"dataRelease":"8.0"}' }, undefined],
  ['as it was noted', { WiredTiger: '', 'postwright.json': '{"port":1,"dataRelease":"8.0"}' }, '8.0'],
  [
    'by the log of the last mongod',
    { WiredTiger: '', 'postwright.json': '{"port":1}', 'mongod.log': '{"attr":{"buildInfo":{"version":"7.0.14","git' },
    '7.0',
  ],
  ['of the oldest release when nothing is known', { WiredTiger: '', 'postwright.json': '{"po' }, '6.0'],
])('data in a folder: %s', async (_, files, release) => {
  const folder = await mkdtemp(join(tmpdir(), 'pw-release-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text)
  expect(await releaseOfData(folder)).toEqual(release === undefined ? undefined : of(release))
})

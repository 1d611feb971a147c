/** Making a release in real git repositories. */
import { execFileSync } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { type Preparation, prepareRelease } from './prepare.ts'
import { createRunner } from './run.ts'

const CHANGELOG =
  '# Changelog\n\n## Unreleased\n\n### Added\n\n- A feature.\n\n## 0.1.0 - 2026-11-22\n\n### Added\n\n- It.\n'

/** A repository of version 0.1.0 with one commit. */
async function repository() {
  const root = await mkdtemp(join(tmpdir(), 'pw-release-'))
  onTestFinished(() => rm(root, { recursive: true, force: true }))
  const git = (...args: string[]) => execFileSync('git', args, { cwd: root, encoding: 'utf8' }).trim()
  git('init', '--quiet', '--initial-branch', 'main')
  git('config', 'user.name', 'Maintainer')
  git('config', 'user.email', 'maintainer@example.com')
  await writeFile(join(root, 'package.json'), '{\n  "name": "p",\n  "version": "0.1.0"\n}\n')
  const lock = {
    name: 'p',
    version: '0.1.0',
    packages: { '': { name: 'p', version: '0.1.0' }, x: { version: '0.1.0' } },
  }
  await writeFile(join(root, 'package-lock.json'), `${JSON.stringify(lock, null, 2)}\n`)
  await writeFile(join(root, 'CHANGELOG.md'), CHANGELOG)
  git('add', '--all')
  git('commit', '--quiet', '--message', 'Begin')
  const lines: string[] = []
  const prepare = (changes: Partial<Preparation> & { dryRun?: boolean } = {}) =>
    prepareRelease({
      ...{ root, version: '0.2.0', date: '2026-11-24', sign: false },
      runner: createRunner(changes.dryRun ?? false, line => lines.push(line)),
      print: line => lines.push(line),
      derive: () => writeFile(join(root, 'derived.txt'), '0.2.0'),
      ...changes,
    })
  return { root, git, prepare, lines }
}

test('commits version, changelog and derived files, and tags the commit', async () => {
  const { root, git, prepare, lines } = await repository()
  await prepare()
  expect(git('status', '--porcelain')).toBe('')
  expect(git('log', '--format=%s')).toBe('Release 0.2.0\nBegin')
  expect(git('tag', '--points-at', 'HEAD', '--format=%(objecttype) %(refname:short) %(contents:subject)')).toBe(
    'tag v0.2.0 Postwright 0.2.0',
  )
  expect(git('show', '--name-only', '--format=', 'HEAD').split('\n').sort()).toEqual(
    ['CHANGELOG.md', 'derived.txt', 'package-lock.json', 'package.json'].sort(),
  )
  expect(JSON.parse(await readFile(join(root, 'package.json'), 'utf8')).version).toBe('0.2.0')
  expect(JSON.parse(await readFile(join(root, 'package-lock.json'), 'utf8'))).toEqual({
    ...{ name: 'p', version: '0.2.0' },
    packages: { '': { name: 'p', version: '0.2.0' }, x: { version: '0.1.0' } },
  })
  expect(await readFile(join(root, 'CHANGELOG.md'), 'utf8')).toContain('## Unreleased\n\n## 0.2.0 - 2026-11-24\n')
  expect(lines.at(-1)).toBe('publish it: git push --atomic origin HEAD v0.2.0')
})

test('a dry run prints notes and commands, and changes nothing', async () => {
  const { git, prepare, lines } = await repository()
  await prepare({ dryRun: true })
  expect(git('status', '--porcelain')).toBe('')
  expect(git('log', '--format=%s')).toBe('Begin')
  expect(git('tag')).toBe('')
  const text = lines.join('\n')
  expect(text).toContain('### Added\n\n- A feature.\n')
  expect(text).toContain("would run: git commit --message 'Release 0.2.0'")
  expect(text).toContain("would run: git tag --annotate v0.2.0 --message 'Postwright 0.2.0'")
})

test.each([
  ['the same version', { version: '0.1.0' }, /0\.1\.0 is not higher than 0\.1\.0/],
  ['a lower version', { version: '0.0.9' }, /not higher/],
  ['a candidate of the same version', { version: '0.1.0-rc.1' }, /not higher/],
  ['no version', { version: 'v0.2.0' }, /is not a version/],
  ['a date that does not exist', { date: '2026-02-30' }, /"2026-02-30" is not a date/],
  ['a date in words', { date: 'today' }, /is not a date/],
])('refuses %s and changes nothing', async (_, changes, message) => {
  const { git, prepare } = await repository()
  await expect(prepare(changes)).rejects.toThrow(message)
  expect([git('status', '--porcelain'), git('log', '--format=%s'), git('tag')]).toEqual(['', 'Begin', ''])
})

test('refuses changes that are not committed, also new files', async () => {
  const { root, prepare, git } = await repository()
  await writeFile(join(root, 'new.txt'), '')
  await expect(prepare()).rejects.toThrow(/not committed:\n\?\? new\.txt/)
  expect(git('tag')).toBe('')
})

test('refuses an existing tag', async () => {
  const { git, prepare } = await repository()
  git('tag', 'v0.2.0')
  await expect(prepare()).rejects.toThrow('the tag v0.2.0 exists already')
  expect(git('log', '--format=%s')).toBe('Begin')
})

test('refuses a detached HEAD, whose commit would be on no branch', async () => {
  const { git, prepare } = await repository()
  git('checkout', '--quiet', '--detach')
  await expect(prepare()).rejects.toThrow('HEAD is detached')
})

test('refuses a changelog without entries', async () => {
  const { root, git, prepare } = await repository()
  await writeFile(join(root, 'CHANGELOG.md'), CHANGELOG.replace('- A feature.\n', ''))
  git('commit', '--quiet', '--all', '--message', 'Empty')
  await expect(prepare()).rejects.toThrow('there is nothing to release')
})

test('a failure of the derived files leaves no commit, and says how to go back', async () => {
  const { git, prepare } = await repository()
  await expect(prepare({ derive: () => Promise.reject(new Error('no disk')) })).rejects.toThrow(
    /no disk[\s\S]*"git restore \."/,
  )
  expect([git('log', '--format=%s'), git('tag')]).toEqual(['Begin', ''])
  git('restore', '.')
  expect(git('status', '--porcelain')).toBe('')
})

test('two releases in a row', async () => {
  const { root, git, prepare } = await repository()
  await prepare({ version: '0.2.0-rc.1' })
  const file = join(root, 'CHANGELOG.md')
  await writeFile(
    file,
    (await readFile(file, 'utf8')).replace('## Unreleased\n', '## Unreleased\n\n### Fixed\n\n- B.\n'),
  )
  git('commit', '--quiet', '--all', '--message', 'Fix')
  await prepare({ version: '0.2.0' })
  expect(git('tag').split('\n')).toEqual(['v0.2.0', 'v0.2.0-rc.1'])
  expect((await readFile(file, 'utf8')).match(/^## .*/gm)).toEqual([
    '## Unreleased',
    '## 0.2.0 - 2026-11-24',
    '## 0.1.0 - 2026-11-22',
  ])
})

/** Documents that the panel links to: of the tag of a release, and of the main branch for every other build. */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { resolveConfig } from 'vite'
import { expect, onTestFinished, test } from 'vitest'
import manifest from '../../../package.json' with { type: 'json' }
import { documentAddress } from './documents.ts'

const PANEL = join(import.meta.dirname, '..')

test.each([
  ['smtp', 'en', '1.2.3', 'v1.2.3/docs/smtp.md'],
  ['smtp', 'zh-CN', '1.2.3', 'v1.2.3/docs/smtp.zh-CN.md'],
  ['quickstarts/README', 'zh-CN', '2.0.0-rc.1', 'v2.0.0-rc.1/docs/quickstarts/README.zh-CN.md'],
  ['smtp', 'en', undefined, 'main/docs/smtp.md'],
  ['webhooks', 'zh-CN', undefined, 'main/docs/webhooks.zh-CN.md'],
])('%s in %s of release %s', (name, language, release, path) => {
  expect(documentAddress(name, language, release)).toBe(`https://github.com/postwright/postwright/blob/${path}`)
})

test.each([
  ['the image of this version', manifest.version, true],
  ['the image of another version', '99.0.0', false],
  ['an image that is no release', '', false],
  ['a checkout', undefined, false],
])('a build for %s knows whether it is a release', async (_, version, isRelease) => {
  const before = process.env.RELEASE_VERSION
  onTestFinished(() => {
    if (before === undefined) delete process.env.RELEASE_VERSION
    else process.env.RELEASE_VERSION = before
  })
  if (version === undefined) delete process.env.RELEASE_VERSION
  else process.env.RELEASE_VERSION = version
  const config = await resolveConfig({ configFile: join(PANEL, 'vite.config.ts'), logLevel: 'silent' }, 'build')
  expect(config.define).toMatchObject({
    __VERSION__: JSON.stringify(manifest.version),
    __IS_RELEASE__: JSON.stringify(isRelease),
  })
})

test('only a release names its version to the panel of its image', async () => {
  const dockerfile = await readFile(join(PANEL, '../../Dockerfile'), 'utf8')
  const stage = dockerfile.split(/^FROM /m).find(text => /^.* AS panel$/m.test(text))
  expect(stage).toMatch(/^ARG RELEASE=\nRUN RELEASE_VERSION="\$\{RELEASE\}" node scripts\/build-panel\.ts$/m)
  expect(await readFile(join(PANEL, '../../scripts/release/image.ts'), 'utf8')).toMatch(
    /`RELEASE=\$\{target\.version\}`/,
  )
  for (const name of ['install.md', 'install.zh-CN.md'])
    expect(await readFile(join(PANEL, '../../docs', name), 'utf8')).not.toContain('RELEASE=')
})

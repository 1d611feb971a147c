/** The dependency-cruiser rule about development dependencies, in a small project. */
import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'

const cruiser = resolve('node_modules/dependency-cruiser/bin/dependency-cruiser.mjs')

/** The violations in a project with the dependencies of this one and one file. */
async function violations(file: string, text: string): Promise<unknown[]> {
  const root = await mkdtemp(join(tmpdir(), 'pw-dependencies-'))
  onTestFinished(() => rm(root, { recursive: true, force: true }))
  await mkdir(join(root, dirname(file)), { recursive: true })
  await writeFile(join(root, file), text)
  await mkdir(join(root, 'scripts'), { recursive: true })
  await writeFile(join(root, 'scripts/other.ts'), '') // tsconfig.json excludes the web app and needs one file
  for (const name of ['package.json', 'tsconfig.json', '.dependency-cruiser.cjs'])
    await writeFile(join(root, name), await readFile(name))
  await symlink(resolve('node_modules'), join(root, 'node_modules'))
  const args = [cruiser, '--config', '.dependency-cruiser.cjs', '--output-type', 'json', file]
  const report = await new Promise<string>((found, failed) => {
    execFile(process.execPath, args, { cwd: root }, (error, stdout) => (stdout ? found(stdout) : failed(error)))
  })
  const { summary } = JSON.parse(report) as { summary: { violations: { rule: { name: string } }[] } }
  return summary.violations.filter(({ rule }) => rule.name === 'no-development-dependencies')
}

test.each([
  ['a development dependency', 'services/platform/a.ts', "import { decode } from 'dns-packet'\nexport { decode }\n"],
  [
    'a development dependency in a dynamic import',
    'services/mail/a.ts',
    "export const load = () => import('fast-check')\n",
  ],
  ['a development dependency in the operator', 'operator/a.ts', "export { test } from 'vitest'\n"],
  ['a development dependency in the administration program', 'scripts/admin.ts', "import 'knip'\n"],
  [
    'a package that only another package depends on',
    'services/platform/a.ts',
    "import { ObjectId } from 'bson'\nexport { ObjectId }\n",
  ],
])('rejects %s', async (_, file, text) => expect(await violations(file, text)).toHaveLength(1))

test.each([
  ['a production dependency', 'services/platform/a.ts', "export { z } from 'zod'\n"],
  ['a module of Node', 'services/platform/a.ts', "export { readFile } from 'node:fs/promises'\n"],
  ['a type', 'services/platform/a.ts', "import type { Packet } from 'dns-packet'\nexport type P = Packet\n"],
  ['the web app, which is bundled', 'services/panel/a.ts', "export { useState } from 'react'\n"],
  ['a test', 'services/platform/a.test.ts', "import { test } from 'vitest'\ntest.todo('x')\n"],
])('permits %s', async (_, file, text) => expect(await violations(file, text)).toEqual([]))

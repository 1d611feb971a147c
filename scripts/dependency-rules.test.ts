/** The rule of .dependency-cruiser.cjs about development dependencies, on a small project that breaks it. */
import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'

const cruiser = resolve('node_modules/dependency-cruiser/bin/dependency-cruiser.mjs')

/** One file each; no two have the same path. */
const REJECTED: readonly (readonly [what: string, file: string, text: string])[] = [
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
    'services/platform/b.ts',
    "import { ObjectId } from 'bson'\nexport { ObjectId }\n",
  ],
]
const PERMITTED: typeof REJECTED = [
  ['a production dependency', 'services/platform/c.ts', "export { z } from 'zod'\n"],
  ['a module of Node', 'services/platform/d.ts', "export { readFile } from 'node:fs/promises'\n"],
  ['a type', 'services/platform/e.ts', "import type { Packet } from 'dns-packet'\nexport type P = Packet\n"],
  ['the web app, which is bundled', 'services/panel/a.ts', "export { useState } from 'react'\n"],
  ['a test', 'services/platform/f.test.ts', "import { test } from 'vitest'\ntest.todo('x')\n"],
]

let root: string
/** The files that the rule rejects, one entry for each violation. */
let rejected: string[]

beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'pw-dependencies-'))
  for (const [, file, text] of [...REJECTED, ...PERMITTED, ['', 'scripts/other.ts', ''] as const]) {
    await mkdir(join(root, dirname(file)), { recursive: true })
    await writeFile(join(root, file), text) // scripts/other.ts: tsconfig.json excludes the web app and needs one file
  }
  for (const name of ['package.json', 'tsconfig.json', '.dependency-cruiser.cjs'])
    await writeFile(join(root, name), await readFile(name))
  await symlink(resolve('node_modules'), join(root, 'node_modules'))
  const files = [...REJECTED, ...PERMITTED].map(([, file]) => file)
  const args = [cruiser, '--config', '.dependency-cruiser.cjs', '--output-type', 'json', ...files]
  const report = await new Promise<string>((found, failed) => {
    execFile(process.execPath, args, { cwd: root }, (error, stdout) => (stdout ? found(stdout) : failed(error)))
  })
  const { summary } = JSON.parse(report) as { summary: { violations: { from: string; rule: { name: string } }[] } }
  rejected = summary.violations
    .filter(({ rule }) => rule.name === 'no-development-dependencies')
    .map(({ from }) => from)
})

afterAll(() => rm(root, { recursive: true, force: true }))

const violations = (file: string) => rejected.filter(from => from === file)

test.each(REJECTED)('rejects %s', (_, file) => expect(violations(file)).toHaveLength(1))

test.each(PERMITTED)('permits %s', (_, file) => expect(violations(file)).toEqual([]))

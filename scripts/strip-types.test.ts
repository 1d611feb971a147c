import { execFile } from 'node:child_process'
import { cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { stripTypes } from './strip-types.ts'

const run = promisify(execFile)
const LOADER = join(import.meta.dirname, '../services/platform/process/load-stripped.mjs')
/** Node as the image starts it, except that it refuses to strip types itself. */
const IMAGE = ['--import', LOADER, '--no-experimental-strip-types']

let folder = ''
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'pw-strip-'))
})
afterEach(() => rm(folder, { recursive: true }))

test('types go, lines and columns stay, other files are left alone', async () => {
  await mkdir(join(folder, 'deep'))
  await writeFile(
    join(folder, 'main.ts'),
    "import { half } from './deep/half.ts'\nimport type { Half } from './deep/half.ts'\nconst one: Half = half(4 as number)\nprocess.stdout.write(String(one))\n",
  )
  await writeFile(
    join(folder, 'deep/half.ts'),
    'export type Half = number\n\nexport function half(of: number): Half {\n  if (of < 0) throw new Error("negative")\n  return of / 2\n}\n',
  )
  await writeFile(join(folder, 'text.md'), 'const a: string')
  expect(stripTypes([folder])).toBe(2)
  expect((await run(process.execPath, [...IMAGE, join(folder, 'main.ts')])).stdout).toBe('2')
  const failing = `import(${JSON.stringify(join(folder, 'deep/half.ts'))}).then(({ half }) => half(-1))`
  await expect(run(process.execPath, [...IMAGE, '-e', failing])).rejects.toThrow(/deep\/half\.ts:4:21/)
})

test('a single file can be named, and what is stripped can be stripped again', async () => {
  const file = join(folder, 'one.ts')
  await writeFile(file, 'export const one: number = 1\n')
  for (let turn = 0; turn < 2; turn++) {
    expect(stripTypes([file])).toBe(1)
    expect(await readFile(file, 'utf8')).toBe('export const one         = 1\n\n//# types removed\n')
  }
})

test('a file that was added to the image with its types is loaded by Node itself', async () => {
  await writeFile(join(folder, 'main.ts'), "import { one } from './one.ts'\nprocess.stdout.write(String(one))\n")
  stripTypes([folder])
  await writeFile(join(folder, 'one.ts'), 'export const one: number = (1 as number) + 1\n')
  expect((await run(process.execPath, ['--import', LOADER, join(folder, 'main.ts')])).stdout).toBe('2')
})

test('source that is not TypeScript ends with the error of the parser', async () => {
  const file = join(folder, 'wrong.ts')
  await writeFile(file, 'const = 1\n')
  expect(() => stripTypes([file])).toThrow(SyntaxError)
})

test('what the image runs loads without types', async () => {
  const root = join(import.meta.dirname, '..')
  for (const part of ['services', 'operator', 'scripts/admin.ts'])
    await cp(join(root, part), join(folder, part), {
      recursive: true,
      filter: name => !/\.test\.tsx?$|\/dist$/.test(name),
    })
  await cp(join(root, 'package.json'), join(folder, 'package.json'))
  await symlink(join(root, 'node_modules'), join(folder, 'node_modules'))
  expect(stripTypes(['services', 'operator', 'scripts/admin.ts'].map(part => join(folder, part)))).toBeGreaterThan(500)
  const programs = ['services/all.ts', 'operator/main.ts']
  const imports = programs.map(name => `await import(${JSON.stringify(join(folder, name))})`).join(';')
  const loader = join(folder, 'services/platform/process/load-stripped.mjs')
  const flags = ['--import', loader, '--no-experimental-strip-types', '--input-type=module']
  const { stdout } = await run(process.execPath, [...flags, '-e', `${imports};process.stdout.write('loaded')`])
  expect(stdout).toBe('loaded')
}, 180_000)

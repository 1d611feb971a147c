/** `npm run format` on temporary files. */
import { spawnSync } from 'node:child_process'
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { expect, onTestFinished, test } from 'vitest'

/** Formats these texts as files; returns the new texts and the exit code. */
function format(texts: readonly string[]) {
  const files = texts.map((_, index) => `scripts/unformatted-${process.pid}-${index}.ts`)
  onTestFinished(() => {
    for (const file of files) rmSync(file)
  })
  for (const [index, file] of files.entries()) writeFileSync(file, texts[index] ?? '')
  const { status } = spawnSync(process.execPath, ['scripts/format.ts', ...files])
  return { status, texts: files.map(file => readFileSync(file, 'utf8')) }
}

test('fixes layout, quotes and the order of imports', () => {
  expect(
    format(['export function one() {\n      return "one";\n}\n', "import b from 'b'\nimport a from 'a'\n\na(b)\n"]),
  ).toEqual({
    status: 0,
    texts: ["export function one() {\n  return 'one'\n}\n", "import a from 'a'\nimport b from 'b'\n\na(b)\n"],
  })
})

test('keeps an error without a safe fix and exits with 1', () => {
  const text = 'export const any: any = 1\n'
  expect(format([text])).toEqual({ status: 1, texts: [text] })
})

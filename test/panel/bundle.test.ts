/** The built entry: size of its styles, and what it does not contain. */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { beforeAll, expect, test } from 'vitest'
import { PANEL_FOLDER } from '../../services/mail/http/panel-files.ts'
import { english } from '../../services/platform/sentences/en/index.ts'
import { chinese } from '../../services/platform/sentences/zh-cn/index.ts'
import { builtPanel } from './support/built-panel.ts'

const KB = 1024
let entry: string[]

beforeAll(async () => {
  await builtPanel()
  const index = await readFile(join(PANEL_FOLDER, 'index.html'), 'utf8')
  entry = [...index.matchAll(/(?:src|href)="\/(assets\/[^"]+)"/g)].flatMap(match => match[1] ?? [])
})

/** Size of the files with gzip, in bytes. */
async function transferred(names: string[]): Promise<number> {
  const sizes = await Promise.all(names.map(async name => gzipSync(await readFile(join(PANEL_FOLDER, name))).length))
  return sizes.reduce((sum, size) => sum + size, 0)
}

/** The entry script and everything that it imports statically. */
async function closure(names: string[]): Promise<string[]> {
  const found = new Set(names)
  for (const name of found) {
    const code = await readFile(join(PANEL_FOLDER, name), 'utf8')
    for (const [, target] of code.matchAll(/(?:from|import)\s*["']\.\/([\w.-]+\.js)["']/g))
      found.add(`assets/${target}`)
  }
  return [...found]
}

test('the styles of the entry stay below 48 KB', async () => {
  expect(await transferred(entry.filter(name => name.endsWith('.css')))).toBeLessThan(48 * KB)
})

test('the entry has no catalogue of the sentences of the service', async () => {
  for (const name of await closure(entry.filter(file => file.endsWith('.js')))) {
    const code = await readFile(join(PANEL_FOLDER, name), 'utf8')
    expect(code.includes(english['dns.check_repeated']), name).toBe(false)
    expect(code.includes(chinese.texts['dns.check_repeated']), name).toBe(false)
  }
})

test('the document has no inline script and a place for every nonce', async () => {
  const index = await readFile(join(PANEL_FOLDER, 'index.html'), 'utf8')
  expect(index).not.toMatch(/<script(?![^>]*\ssrc=)[^>]*>/)
  expect(index).toContain('nonce="__CSP_NONCE__"')
})

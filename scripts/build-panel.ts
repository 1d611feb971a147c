/** Builds the web app and compresses every text file with Brotli and gzip, so that the service compresses nothing. */
import { createHash } from 'node:crypto'
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { extname, join } from 'node:path'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import { build } from 'vite'

const PANEL = join(import.meta.dirname, '../services/panel')
const DIST = join(PANEL, 'dist')
const TEXT = new Set(['.js', '.css', '.svg', '.json'])

/** One built file, sizes in bytes. */
export interface BuiltFile {
  /** Relative to `dist`, as in `assets/index-x.js`. */
  name: string
  size: number
  gzip: number
}

/** Builds into `services/panel/dist`; resolves to the text files with their sizes. Throws the errors of the bundler. */
export async function buildPanel(): Promise<BuiltFile[]> {
  // Tests run with NODE_ENV=test, for which the bundler would use the development build of React.
  const environment = process.env.NODE_ENV
  process.env.NODE_ENV = 'production'
  try {
    await build({ configFile: join(PANEL, 'vite.config.ts'), mode: 'production', logLevel: 'warn' })
  } finally {
    if (environment === undefined) delete process.env.NODE_ENV
    else process.env.NODE_ENV = environment
  }
  return compressFolder(DIST)
}

/** Writes `.br` and `.gz` next to each text file below the folder. */
export async function compressFolder(folder: string): Promise<BuiltFile[]> {
  const names = await readdir(folder, { recursive: true })
  const texts = names.filter(name => TEXT.has(extname(name)))
  return Promise.all(
    texts.map(async name => {
      const content = await readFile(join(folder, name))
      const [br, gz] = await Promise.all([
        promisify(brotliCompress)(content, { params: { [constants.BROTLI_PARAM_SIZE_HINT]: content.length } }),
        promisify(gzip)(content, { level: 9 }),
      ])
      await Promise.all([writeFile(join(folder, `${name}.br`), br), writeFile(join(folder, `${name}.gz`), gz)])
      return { name, size: content.length, gzip: gz.length }
    }),
  )
}

/** SHA-256 over the inputs of the build; it is stored next to the result, to detect an outdated one. */
async function fingerprint(): Promise<string> {
  const hash = createHash('sha256')
  const root = join(PANEL, '../..')
  const contracts = (await readdir(join(root, 'services'), { recursive: true })).filter(name =>
    /(^|[/-])contract\.ts$/.test(name),
  )
  const sources = (await readdir(PANEL, { recursive: true, withFileTypes: true }))
    .filter(entry => entry.isFile() && !entry.parentPath.startsWith(DIST))
    .map(entry => join(entry.parentPath, entry.name))
  const files = [...sources, ...contracts.map(name => join(root, 'services', name)), join(root, 'package-lock.json')]
  for (const file of files.toSorted()) hash.update(file.slice(root.length)).update(await readFile(file))
  return hash.digest('hex')
}

/** Builds only if the sources changed since the last build. */
export async function buildPanelIfChanged(): Promise<void> {
  const stamp = join(DIST, '.sources')
  const current = await fingerprint()
  if ((await readFile(stamp, 'utf8').catch(() => '')) === current) return
  console.error('postwright: building the panel (some seconds, once)')
  await buildPanel()
  await writeFile(stamp, current)
}

if (import.meta.main) await buildPanelIfChanged()

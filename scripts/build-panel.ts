/** Builds the web app and lays a Brotli and a gzip twin beside every text file, so that the service compresses nothing. */
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { extname, join } from 'node:path'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import { build } from 'vite'

const PANEL = join(import.meta.dirname, '../services/panel')
const TEXT = new Set(['.js', '.css', '.svg', '.json'])

/** One built file, sizes in bytes. */
export interface BuiltFile {
  /** Relative to `dist`, as in `assets/index-x.js`. */
  name: string
  size: number
  gzip: number
}

/** Builds into `services/panel/dist`; resolves to the text files with their sizes. Throws what the bundler reports. */
export async function buildPanel(): Promise<BuiltFile[]> {
  await build({ configFile: join(PANEL, 'vite.config.ts'), logLevel: 'warn' })
  return compressFolder(join(PANEL, 'dist'))
}

/** Writes `.br` and `.gz` beside each text file below the folder. */
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

if (import.meta.main) {
  const files = await buildPanel()
  for (const file of files) console.log(`${file.name}  ${file.size} B, gzip ${file.gzip} B`)
}

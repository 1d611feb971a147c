/**
 * Replaces the types of all TypeScript below some folders or in some files by spaces, in place: `strip-types.ts PATH…`. For
 * the image, whose processes then need not do it at each start (services/platform/process/load-stripped.mjs).
 */
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { stripTypeScriptTypes } from 'node:module'
import { join } from 'node:path'

/** The last line of a file without types, by which load-stripped.mjs knows it; that module has it, too. */
const STRIPPED = '//# types removed\n'

/** Strips the types; answers the number of files. Lines and columns stay, so that stack traces name the source. */
export function stripTypes(paths: readonly string[]): number {
  const files = paths.flatMap(path =>
    statSync(path).isDirectory()
      ? readdirSync(path, { recursive: true, encoding: 'utf8' }).map(name => join(path, name))
      : [path],
  )
  const sources = files.filter(file => file.endsWith('.ts') && !file.endsWith('.d.ts'))
  for (const file of sources) {
    const source = readFileSync(file, 'utf8')
    if (!source.endsWith(STRIPPED)) writeFileSync(file, `${stripTypeScriptTypes(source)}\n${STRIPPED}`)
  }
  return sources.length
}

if (import.meta.main) process.stdout.write(`types stripped: ${stripTypes(process.argv.slice(2))} files\n`)

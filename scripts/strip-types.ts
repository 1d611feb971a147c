/**
 * Replaces the types of all TypeScript below some folders or in some files by spaces, in place: `strip-types.ts PATH…`. For
 * the image, whose processes then need not do it at each start (services/platform/process/load-stripped.mjs).
 */
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { stripTypeScriptTypes } from 'node:module'
import { join } from 'node:path'

/** Strips the types; answers the number of files. Lines and columns stay, so that stack traces name the source. */
export function stripTypes(paths: readonly string[]): number {
  const files = paths.flatMap(path =>
    statSync(path).isDirectory()
      ? readdirSync(path, { recursive: true, encoding: 'utf8' }).map(name => join(path, name))
      : [path],
  )
  const sources = files.filter(file => file.endsWith('.ts') && !file.endsWith('.d.ts'))
  for (const file of sources) writeFileSync(file, stripTypeScriptTypes(readFileSync(file, 'utf8')))
  return sources.length
}

if (import.meta.main) process.stdout.write(`types stripped: ${stripTypes(process.argv.slice(2))} files\n`)

/** Writes generated files, or compares them with `--check`. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'

/** Writes each file; with `--check` on the command line only reports outdated ones and sets exit code 1. */
export function writeGenerated(files: Record<string, string>): void {
  for (const [path, text] of Object.entries(files)) {
    if (read(path) === text) continue
    if (process.argv.includes('--check')) {
      process.stderr.write(`${path} is out of date; run "npm run docs"\n`)
      process.exitCode = 1
    } else {
      mkdirSync(dirname(path), { recursive: true })
      writeFileSync(path, text)
    }
  }
}

function read(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return undefined
  }
}

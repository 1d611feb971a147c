/** Programs that use the official SDKs of other services: built once into the cache, again when their sources change. */
import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { access, copyFile, cp, mkdir, mkdtemp, readdir, readFile, rename, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { cacheFolder } from '../../../services/platform/mongod/find-mongod.ts'
import { MissingProgram } from './missing-program.ts'
import { compiler } from './programs.ts'

const run = promisify(execFile)

/** How a language builds a program in the folder with its sources. */
const LANGUAGES = {
  go: {
    tool: 'go',
    args: ['build', '-trimpath', '-o', 'resend-sdk', '.'],
    built: 'resend-sdk',
  },
  rust: {
    tool: 'cargo',
    args: ['build', '--quiet', '--locked', '--target-dir', 'target'],
    built: 'target/debug/resend-sdk',
  },
} as const

/** A language whose SDK is tried. */
export type SdkLanguage = keyof typeof LANGUAGES

/** Builds the program in `sources` if it is not in the cache; resolves to its path. Rejects with {@link MissingProgram}. */
export async function buildSdkProgram(language: SdkLanguage, sources: string): Promise<string> {
  const { tool, args, built } = LANGUAGES[language]
  const cache = join(cacheFolder(process.env.XDG_CACHE_HOME), 'sdk-programs')
  const program = join(cache, `${language}-${await digestOf(sources)}`)
  if (await exists(program)) return program
  const path = await compiler(tool)
  process.stderr.write(`tests: building the program with the SDK for ${language} (a minute at most, once)\n`)
  await mkdir(cache, { recursive: true })
  // Not in the tree: the compilers write beside the sources, and hundreds of megabytes.
  const work = await mkdtemp(join(tmpdir(), 'pw-sdk-'))
  try {
    await cp(sources, work, { recursive: true })
    await run(path, args, { cwd: work, timeout: 900_000, maxBuffer: 1 << 26 })
    await copyFile(join(work, built), `${program}.new`)
    await rename(`${program}.new`, program)
    return program
  } catch (error) {
    const { stderr = '' } = error as { stderr?: string }
    // Only what cannot be fetched is missing; sources that do not compile are an error of the test.
    if (!/proxyconnect|dial tcp|failed to (?:download|get|fetch)|network failure|resolve host/i.test(stderr))
      throw error
    throw new MissingProgram(
      `the SDK for ${language} could not be fetched: ${stderr.split('\n')[0]}`,
      'make the registry of its packages reachable',
    )
  } finally {
    await rm(work, { recursive: true, force: true })
  }
}

async function digestOf(sources: string): Promise<string> {
  const hash = createHash('sha256')
  const entries = await readdir(sources, { recursive: true, withFileTypes: true })
  const files = entries.filter(entry => entry.isFile()).map(entry => join(entry.parentPath, entry.name))
  for (const file of files.toSorted()) hash.update(file.slice(sources.length)).update(await readFile(file))
  return hash.digest('hex').slice(0, 16)
}

function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  )
}

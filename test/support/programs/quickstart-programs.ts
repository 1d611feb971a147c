/** What the quickstarts need besides their text: packages of npm, a jar of Maven, a compiled crate. In the cache, made once. */
import { execFile } from 'node:child_process'
import { copyFile, mkdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { cacheFolder } from '../../../services/platform/mongod/find-mongod.ts'
import { cachedFolder } from './cached-folder.ts'
import { MissingProgram } from './missing-program.ts'
import { compiler, everyProgram } from './programs.ts'

const run = promisify(execFile)
const PROJECTS = join(import.meta.dirname, '../../system/quickstarts')
const BUILD_MS = 600_000

/** Folder with the `node_modules` of `quickstarts/node`. Rejects with {@link MissingProgram} if npm cannot install them. */
export async function nodeProject(): Promise<string> {
  const sources = join(PROJECTS, 'node')
  const lock = await readFile(join(sources, 'package-lock.json'), 'utf8')
  return cachedFolder('quickstart-node', lock, async folder => {
    for (const name of ['package.json', 'package-lock.json']) await copyFile(join(sources, name), join(folder, name))
    const npm = join(dirname(process.execPath), 'npm')
    const [path = npm] = everyProgram('npm')
    await fetched('the npm packages of the quickstarts', () =>
      run(path, ['ci', '--ignore-scripts', '--no-audit', '--no-fund'], { cwd: folder, timeout: BUILD_MS }),
    )
  })
}

/** Folder with the jars of `quickstarts/java/pom.xml`. */
export async function javaLibraries(): Promise<string> {
  const [maven] = everyProgram('mvn')
  const [java] = everyProgram('java')
  if (!maven || !java) throw new MissingProgram('java or mvn is not on PATH', 'install a JDK 17 or newer and Maven')
  const pom = join(PROJECTS, 'java/pom.xml')
  return cachedFolder('quickstart-java', await readFile(pom, 'utf8'), folder => {
    const goal = 'org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy-dependencies'
    return fetched('the Java libraries of the quickstarts', () =>
      run(maven, ['-q', '-B', '-f', pom, goal, `-DoutputDirectory=${folder}`], { timeout: BUILD_MS }),
    )
  })
}

/** Compiles a program with these dependencies in the format of Cargo; resolves to its path. Crates are compiled once. */
export async function buildWithCargo(folder: string, program: string, dependencies: string): Promise<string> {
  const cargo = await compiler('cargo')
  await mkdir(join(folder, 'src'))
  await writeFile(join(folder, 'src/main.rs'), program)
  const head = '[package]\nname = "quickstart"\nversion = "0.1.0"\nedition = "2021"\n[profile.dev]\ndebug = 0\n'
  await writeFile(join(folder, 'Cargo.toml'), head + dependencies)
  await copyFile(join(PROJECTS, 'rust/Cargo.lock'), join(folder, 'Cargo.lock'))
  const target = join(cacheFolder(process.env.XDG_CACHE_HOME), 'quickstart-rust')
  await fetched('the crates of the quickstarts', () =>
    run(cargo, ['build', '--quiet', '--locked', '--target-dir', target], { cwd: folder, timeout: BUILD_MS }),
  )
  return join(target, 'debug/quickstart')
}

/** Only what a registry does not give is missing; what does not compile is an error of the test. */
async function fetched(what: string, build: () => Promise<unknown>): Promise<void> {
  process.stderr.write(`tests: preparing ${what} (a minute at most, once)\n`)
  await build().catch((error: Error & { stdout?: string; stderr?: string }) => {
    const output = `${error.stdout ?? ''}${error.stderr ?? ''}`
    const unreachable =
      /ENOTFOUND|ECONNREFUSED|ETIMEDOUT|EAI_AGAIN|network|Could not (?:transfer|resolve)|failed to (?:download|get|fetch)|resolve host/i
    if (!unreachable.test(output)) throw new Error(`${what}: ${output || error.message}`)
    throw new MissingProgram(`${what} could not be fetched`, 'make the registry of these packages reachable')
  })
}

/** The client as its users get it: packed by npm, and installed into an empty project. */
import { execFile } from 'node:child_process'
import { cp, mkdir, mkdtemp, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)
const ROOT = join(import.meta.dirname, '../../..')
const PACKAGE = join(ROOT, 'clients/typescript')
/** npm finds the Node that runs the tests, and asks no registry. */
const ENV = { ...process.env, PATH: `${dirname(process.execPath)}:${process.env.PATH}`, npm_config_offline: 'true' }

/** Files of the tarball, and a project that has it as its dependency. */
export interface PackedClient {
  files: string[]
  project: string
}

/** Builds, packs and installs the client. A copy is built, so that tests in parallel do not share `dist`. */
export async function packClient(): Promise<PackedClient> {
  const folder = await mkdtemp(join(tmpdir(), 'pw-packed-client-'))
  const source = join(folder, 'repository/clients/typescript')
  await mkdir(dirname(source), { recursive: true })
  await cp(PACKAGE, source, { recursive: true, filter: path => !path.endsWith('/dist') })
  await cp(join(ROOT, 'tsconfig.json'), join(folder, 'repository/tsconfig.json'))
  await run('ln', ['-s', join(ROOT, 'node_modules'), join(folder, 'repository/node_modules')])
  const { stdout } = await run('npm', ['pack', '--json', '--pack-destination', folder], { cwd: source, env: ENV })
  const [packed] = JSON.parse(stdout.slice(stdout.indexOf('[\n'))) as [{ filename: string; files: { path: string }[] }]
  const project = join(folder, 'project')
  await mkdir(project)
  await writeFile(join(project, 'package.json'), JSON.stringify({ name: 'consumer', private: true, type: 'module' }))
  await run('npm', ['install', '--no-audit', '--no-fund', join(folder, packed.filename)], { cwd: project, env: ENV })
  return { files: packed.files.map(({ path }) => path), project }
}

/** Compiles a program of the project under `strict`, without the types of Node unless `types` names them. */
export async function compileConsumer(project: string, program: string, types: readonly string[] = []): Promise<void> {
  const options = [
    '--strict',
    '--target',
    'es2022',
    '--module',
    'nodenext',
    '--lib',
    'es2022,dom,dom.iterable,dom.asynciterable',
  ]
  const named = types.length === 0 ? [] : ['--types', types.join(',')]
  const roots = ['--typeRoots', join(ROOT, 'node_modules/@types'), ...named]
  const compiler = join(ROOT, 'node_modules/typescript/bin/tsc')
  const compiled = run(process.execPath, [compiler, ...options, ...roots, program], { cwd: project })
  await compiled.catch((error: { stdout: string }) => {
    throw new Error(`the program does not compile:\n${error.stdout}`)
  })
}

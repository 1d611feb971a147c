/** Programs and libraries from PyPI for tests: installed once with pip into the cache, at the versions of a file. */
import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { delimiter, join, relative } from 'node:path'
import { promisify } from 'node:util'
import { cachedFolder } from './cached-folder.ts'
import { aptInstall, MissingProgram } from './missing-program.ts'
import { everyProgram } from './programs.ts'

const run = promisify(execFile)

/** Files with the packages of one purpose each. */
const FILES = { tools: 'python-tools.txt', sdks: 'python-sdks.txt' } as const

type Purpose = keyof typeof FILES

/** A Python with the packages. */
export interface PythonTools {
  /** Runs `python ARGS`. Rejects with its output if it fails. */
  run(args: readonly string[], options?: { cwd?: string; env?: Record<string, string> }): Promise<string>
}

/** Finds or installs the packages of a purpose. Rejects with {@link MissingProgram}. */
export async function findPythonTools(purpose: Purpose = 'tools'): Promise<PythonTools> {
  const requirements = join(import.meta.dirname, FILES[purpose])
  const python = await findPython()
  if (!python) throw new MissingProgram('there is no Python 3.10 or newer with pip', aptInstall('python3 python3-pip'))
  try {
    return toolsOf(python.path, await install(python, purpose, requirements))
  } catch (error) {
    throw new MissingProgram(
      `pip could not install the Python packages of ${FILES[purpose]}: ${lastLine(error)}`,
      `python3 -m pip install --target FOLDER -r ${relative('.', requirements)} must work`,
    )
  }
}

interface Python {
  path: string
  /** As in 3.11: compiled packages fit one version only. */
  version: string
}

async function findPython(): Promise<Python | undefined> {
  for (const path of everyProgram('python3')) {
    const script = 'import pip, sys; print("%d.%d" % sys.version_info[:2])'
    const version = await run(path, ['-c', script]).then(
      ({ stdout }) => stdout.trim(),
      () => '',
    )
    const [major, minor = 0] = version.split('.').map(Number)
    if (major === 3 && minor >= 10) return { path, version }
  }
  return undefined
}

async function install({ path, version }: Python, purpose: Purpose, requirements: string): Promise<string> {
  return cachedFolder(`python${version}-${purpose}`, await readFile(requirements, 'utf8'), async folder => {
    process.stderr.write(`tests: installing the Python packages of ${FILES[purpose]} with pip (half a minute, once)\n`)
    const options = ['--quiet', '--disable-pip-version-check', '--only-binary', ':all:', '--target', folder]
    await run(path, ['-m', 'pip', 'install', ...options, '-r', requirements], { timeout: 600_000 })
  })
}

function toolsOf(python: string, folder: string): PythonTools {
  const path = [join(folder, 'bin'), process.env.PATH ?? ''].join(delimiter)
  return {
    async run(args, { cwd, env = {} } = {}) {
      const paths = [folder, env.PYTHONPATH].filter(Boolean).join(delimiter)
      const all = { ...process.env, ...env, PATH: path, PYTHONPATH: paths, PYTHONDONTWRITEBYTECODE: '1' }
      try {
        return (await run(python, args, { cwd, env: all, maxBuffer: 1 << 28 })).stdout
      } catch (error) {
        const { stdout, stderr } = error as { stdout?: string; stderr?: string }
        throw new Error(`python ${args.join(' ')} failed:\n${stdout ?? ''}\n${stderr ?? error}`)
      }
    },
  }
}

function lastLine(error: unknown): string {
  const text = (error as { stderr?: string }).stderr?.trim() || String(error)
  return text.split('\n').at(-1) ?? ''
}

/** Runs the health script for Argo CD in gopher-lua, the interpreter that Argo CD embeds. */
import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { findGlua, pathOf } from '../programs/programs.ts'

const run = promisify(execFile)

/** Folder of the script and its cases, in the layout of Argo CD's repository. */
export const CUSTOMIZATIONS = 'docs/gitops/argo-cd/resource_customizations/postwright.dev/_'

/** What the script returns. */
export interface Health {
  status: string
  message: string
}

/** Evaluates objects in one run of the interpreter. Throws `MissingProgram` where it cannot be built. */
export async function argoHealth(objects: readonly object[]): Promise<Health[]> {
  const program = pathOf(await findGlua())
  const script = await readFile(join(CUSTOMIZATIONS, 'health.lua'), 'utf8')
  const runs = objects.map(
    object => `do local obj = ${lua(object)}; local h = health(obj); print(h.status .. "\\t" .. h.message) end`,
  )
  const folder = await mkdtemp(join(tmpdir(), 'pw-lua-'))
  try {
    const file = join(folder, 'run.lua')
    await writeFile(file, `local function health(obj)\n${script}\nend\n${runs.join('\n')}\n`)
    const { stdout } = await run(program, [file], { timeout: 30_000 })
    const lines = stdout.trimEnd().split('\n')
    return lines.map(line => {
      const [status = '', message = ''] = line.split('\t')
      return { status, message }
    })
  } finally {
    await rm(folder, { recursive: true })
  }
}

/** A JSON value as a Lua literal. */
function lua(value: unknown): string {
  if (value === null || value === undefined) return 'nil'
  if (Array.isArray(value)) return `{${value.map(lua).join(', ')}}`
  if (typeof value === 'object') {
    const fields = Object.entries(value).map(([key, field]) => `[${lua(key)}] = ${lua(field)}`)
    return `{${fields.join(', ')}}`
  }
  // Lua 5.1 knows no \u: bytes beyond ASCII are written as they are.
  if (typeof value === 'string') return `"${value.replace(/["\\]/g, '\\$&').replaceAll('\n', '\\n')}"`
  return String(value)
}

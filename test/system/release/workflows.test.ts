/** The workflows of GitHub: valid by actionlint, and bound to what they run. */
import { execFile } from 'node:child_process'
import { readdir, readFile } from 'node:fs/promises'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { findReleaseProgram, pathOf } from '../../support/programs/programs.ts'

interface Workflow {
  permissions: object
  jobs: Record<
    string,
    { uses?: string; needs?: string | string[]; permissions?: object; outputs?: object; steps?: Step[] }
  >
}
interface Step {
  uses?: string
  run?: string
  with?: Record<string, unknown>
  env?: Record<string, string>
}

const FOLDER = '.github/workflows'
const files = (await readdir(FOLDER)).map(name => `${FOLDER}/${name}`)
const read = async (file: string) => parse(await readFile(file, 'utf8')) as Workflow
/** As workflows write it. */
const expression = (path: string) => `$${`{{ ${path} }}`}`
const steps = ({ jobs }: Workflow) => Object.values(jobs).flatMap(job => job.steps ?? [])

test('actionlint finds nothing', async () => {
  const program = pathOf(await findReleaseProgram('actionlint'))
  await promisify(execFile)(program, ['-no-color', ...files]).catch((error: { stdout: string }) => {
    throw new Error(error.stdout)
  })
}, 300_000)

test.each(files)('%s: actions are pinned by commit, keep no credentials, and get no rights by default', async file => {
  const workflow = await read(file)
  const used = steps(workflow).flatMap(({ uses }) => uses ?? [])
  expect(used.length).toBeGreaterThan(0)
  for (const action of used) expect(action).toMatch(/^actions\/[\w-]+@[0-9a-f]{40}$/)
  for (const { uses, with: settings } of steps(workflow))
    if (uses?.startsWith('actions/checkout@')) expect(settings).toMatchObject({ 'persist-credentials': false })
  expect(Object.values(workflow.permissions)).not.toContain('write')
})

test('one commit of an action is used everywhere', async () => {
  const used = (await Promise.all(files.map(read))).flatMap(steps).flatMap(({ uses }) => uses ?? [])
  const names = new Set(used.map(action => action.split('@')[0]))
  expect(new Set(used).size).toBe(names.size)
})

test('a release is published after all tests, and announced after everything else', async () => {
  const { jobs } = await read(`${FOLDER}/release.yml`)
  expect(jobs.test?.uses).toBe('./.github/workflows/ci.yml')
  const before = (job: string): string[] => {
    const needs = [jobs[job]?.needs ?? []].flat()
    return [...needs, ...needs.flatMap(before)]
  }
  for (const job of Object.keys(jobs).filter(name => !['check', 'test'].includes(name)))
    expect(before(job), job).toEqual(expect.arrayContaining(['check', 'test']))
  expect(new Set(before('github'))).toEqual(new Set(Object.keys(jobs).filter(name => name !== 'github')))
})

test('what was pushed is verified and announced by its digests on the other machine, too', async () => {
  const { jobs } = await read(`${FOLDER}/release.yml`)
  expect(jobs.registry?.outputs).toEqual({ digests: expression('steps.digests.outputs.line') })
  const used = jobs.github?.steps?.filter(({ run = '' }) => /release -- (verify|github)/.test(run)) ?? []
  expect(used.map(({ env }) => env?.RELEASE_DIGESTS)).toEqual(
    ['verify', 'github'].map(() => expression('needs.registry.outputs.digests')),
  )
})

test('each job has only the rights that it needs', async () => {
  const { jobs } = await read(`${FOLDER}/release.yml`)
  const rights = Object.fromEntries(Object.entries(jobs).map(([name, { permissions }]) => [name, permissions]))
  expect(rights).toEqual({
    check: { contents: 'read' },
    test: { contents: 'read' },
    registry: { contents: 'read', packages: 'write', 'id-token': 'write' },
    npm: { contents: 'read', 'id-token': 'write' },
    github: { contents: 'write', packages: 'read' },
  })
})

test('the release runs commands that exist, and takes nothing from a cache', async () => {
  const workflow = await read(`${FOLDER}/release.yml`)
  const source = await readFile('scripts/release.ts', 'utf8')
  const commands = steps(workflow).flatMap(({ run = '' }) =>
    [...run.matchAll(/npm run (?:--silent )?release -- (\w+)/g)].map(([, command]) => command ?? ''),
  )
  expect(new Set(commands)).toEqual(
    new Set([
      'check',
      'notes',
      'programs',
      'image',
      'chart',
      'sign',
      'verify',
      'digests',
      'artifacthub',
      'npm',
      'github',
    ]),
  )
  for (const command of commands) expect(source).toContain(`npm run release -- ${command} `)
  expect(steps(workflow).filter(({ uses = '' }) => /cache/.test(uses))).toEqual([])
})

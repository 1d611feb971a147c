/** The launcher of npm scripts on a machine with an outdated Node and a cached one. */
import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { access, chmod, cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import downloads from '../services/platform/downloads.json' with { type: 'json' }

const KIND = `${process.platform}-${process.arch}`
const OLD_NODE = "Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '18.0.0' } })"

async function script(path: string, text: string) {
  await mkdir(dirname(path), { recursive: true })
  await writeFile(path, `#!/bin/sh\n${text}\n`)
  await chmod(path, 0o755)
}

/** A copy of the launcher with a cached Node that records its runs; npm fails. `sha256`: expected hash of the cached Node. */
async function launcher(sha256?: string) {
  const root = await mkdtemp(join(tmpdir(), 'pw-launch-'))
  onTestFinished(() => rm(root, { recursive: true, force: true }))
  const cached = join(root, `cache/postwright/node-${downloads.node.version}/node_modules/node-${KIND}/bin/node`)
  await script(cached, `echo run >> ${root}/runs`)
  await script(join(root, 'bin/npm'), 'exit 1')
  await cp('bin/launch.cjs', join(root, 'bin/launch.cjs'))
  await writeFile(join(root, 'old.cjs'), OLD_NODE)
  await writeFile(join(root, 'package-lock.json'), '{}')
  await mkdir(join(root, 'node_modules'))
  await writeFile(join(root, 'node_modules/.postwright-lock'), createHash('sha256').update('{}').digest('hex'))
  const program = {
    [KIND]:
      sha256 ??
      createHash('sha256')
        .update(await readFile(cached))
        .digest('hex'),
  }
  await mkdir(join(root, 'services/platform'), { recursive: true })
  const file = join(root, 'services/platform/downloads.json')
  await writeFile(file, JSON.stringify({ node: { ...downloads.node, program } }))
  const env = { PATH: `${join(root, 'bin')}:/usr/bin:/bin`, XDG_CACHE_HOME: join(root, 'cache') }
  const start = () =>
    new Promise<string>(resolve => {
      const args = ['-r', join(root, 'old.cjs'), join(root, 'bin/launch.cjs'), 'docs']
      execFile(process.execPath, args, { env }, (_, __, stderr) => resolve(stderr))
    })
  const runs = async () => (await readFile(join(root, 'runs'), 'utf8').catch(() => '')).split('\n').length - 1
  return { cached, start, runs }
}

test('does not run a cached Node with another hash, but installs it again', async () => {
  const { cached, start, runs } = await launcher('0'.repeat(64))
  expect(await start()).toMatch(/its SHA-256 is another one[\s\S]*installing Node .*[\s\S]*"npm ci .* failed/)
  expect(await runs()).toBe(0)
  await expect(access(`${cached}.verified`)).rejects.toThrow()
})

test('hashes a cached Node once, and again when it has changed', async () => {
  const { cached, start, runs } = await launcher()
  expect(await start()).toBe('')
  expect(await runs()).toBe(5) // the five programs of the command
  const marker = await readFile(`${cached}.verified`, 'utf8')
  expect(marker).toMatch(/^[0-9a-f]{64} \d+ [\d.]+\n$/)
  expect(await start()).toBe('')
  expect(await readFile(`${cached}.verified`, 'utf8')).toBe(marker)
  await writeFile(cached, '#!/bin/sh\n')
  expect(await start()).toContain('its SHA-256 is another one')
  expect(await runs()).toBe(10)
})

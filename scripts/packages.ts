/** Installs the system packages of `test/packages` that are missing: as root, where apt is. Says so and shows progress. */
import { spawnSync } from 'node:child_process'
import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs'

const POLICY = '/usr/sbin/policy-rc.d'
const say = (text: string) => void process.stderr.write(`tests: ${text}\n`)

/** Installs what is missing; false when apt failed. Without root or apt it only says what tests will be skipped for. */
export function installPackages(): boolean {
  if (!existsSync('/usr/bin/apt-get')) return true
  const missing = wanted().filter(name => !isInstalled(name))
  if (missing.length === 0) return true
  const command = `apt-get install --no-install-recommends ${missing.join(' ')}`
  if (process.getuid?.() !== 0) {
    say(`tests that need these packages are skipped: ${missing.join(', ')}. To run them, as root: ${command}`)
    return true
  }
  say(`installing the system packages that tests need (some minutes, once): ${missing.join(', ')}`)
  // Packages must not start their daemons: the tests bring up what they need themselves.
  if (!existsSync(POLICY)) {
    writeFileSync(POLICY, '#!/bin/sh\nexit 101\n')
    chmodSync(POLICY, 0o755)
  }
  return apt('update', '-qq') && apt('install', '-y', '-q', '--no-install-recommends', ...missing)
}

function wanted(): string[] {
  const lines = readFileSync('test/packages', 'utf8').split('\n')
  return lines.map(line => line.replace(/#.*/, '').trim()).filter(Boolean)
}

function isInstalled(name: string): boolean {
  // biome-ignore lint/suspicious/noTemplateCurlyInString: a field of dpkg-query
  const { stdout } = spawnSync('dpkg-query', ['-W', '-f', '${db:Status-Status}', name], { encoding: 'utf8' })
  return stdout === 'installed'
}

function apt(...args: string[]): boolean {
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }
  const { status } = spawnSync('apt-get', args, { env, stdio: ['ignore', 'inherit', 'inherit'] })
  if (status !== 0) say(`"apt-get ${args[0]}" failed; its message is above`)
  return status === 0
}

if (import.meta.main) process.exit(installPackages() ? 0 : 1)

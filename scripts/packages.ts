/** Installs the missing system packages of `test/packages` as root with apt, and prints its progress. */
import { spawnSync } from 'node:child_process'
import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs'

const POLICY = '/usr/sbin/policy-rc.d'
const print = (text: string) => void process.stderr.write(`tests: ${text}\n`)

/** Installs missing packages; false if apt failed. Without root or apt it only prints which tests will be skipped. */
export function installPackages(): boolean {
  if (!existsSync('/usr/bin/apt-get')) return true
  const missing = wanted().filter(name => !isInstalled(name))
  if (missing.length === 0) return true
  const command = `apt-get install --no-install-recommends ${missing.join(' ')}`
  if (process.getuid?.() !== 0) {
    print(`tests that need these packages are skipped: ${missing.join(', ')}. To run them, as root: ${command}`)
    return true
  }
  print(`installing the system packages that tests need (some minutes, once): ${missing.join(', ')}`)
  // Packages must not start their daemons: the tests start what they need.
  if (!existsSync(POLICY)) {
    writeFileSync(POLICY, '#!/bin/sh\nexit 101\n')
    chmodSync(POLICY, 0o755)
  }
  if (!apt('update', '-qq')) return false
  // Ubuntu lacks some of them, and apt installs none if it does not know one.
  const known = missing.filter(isKnown)
  const unknown = missing.filter(name => !known.includes(name))
  if (unknown.length > 0) print(`this system has no package ${unknown.join(', ')}: tests that need them are skipped`)
  return known.length === 0 || apt('install', '-y', '-q', '--no-install-recommends', ...known)
}

/** Whether apt could install it. */
function isKnown(name: string): boolean {
  const { stdout } = spawnSync('apt-cache', ['policy', name], {
    encoding: 'utf8',
    env: { ...process.env, LC_ALL: 'C' },
  })
  return /^ {2}Candidate: (?!\(none\))/m.test(stdout)
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
  if (status !== 0) print(`"apt-get ${args[0]}" failed; its message is above`)
  return status === 0
}

if (import.meta.main) process.exit(installPackages() ? 0 : 1)

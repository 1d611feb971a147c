#!/usr/bin/env node
/**
 * The entry point of every npm script, in plain JavaScript for Node 18 and up: brings Node 24 where the machine's is older,
 * installs the locked dependencies where they are missing or stale, and then runs the command.
 */
'use strict'
const { spawn, spawnSync } = require('node:child_process')
const { createHash } = require('node:crypto')
const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')

const WANTED_MAJOR = 24
const root = path.dirname(__dirname)
/** Versions and hashes of everything that is downloaded are in one file. */
const NODE = require(path.join(root, 'services', 'platform', 'downloads.json')).node
const cache = path.join(process.env.XDG_CACHE_HOME || path.join(os.homedir(), '.cache'), 'postwright')

/** What each script runs: programs one after the other; the command's arguments go to the last. */
const COMMANDS = {
  start: ['scripts/build-panel.ts', 'services/all.ts'],
  dev: ['scripts/dev.ts'],
  test: ['scripts/test.ts'],
  packages: ['scripts/packages.ts'],
  check: ['scripts/check.ts'],
  format: ['scripts/format.ts'],
  admin: ['scripts/admin.ts'],
  docs: ['scripts/docs.ts', 'scripts/crds.ts', 'scripts/chart.ts', 'scripts/kustomize.ts', 'scripts/client.ts'],
  bench: ['scripts/bench.ts'],
  release: ['scripts/release.ts'],
}

module.exports = { COMMANDS }
if (require.main === module) main(process.argv[2], process.argv.slice(3))

function main(command, args) {
  const programs = COMMANDS[command]
  if (!programs) fail(`unknown command "${command}"; there are: ${Object.keys(COMMANDS).join(', ')}`)
  const node = findNode()
  const env = { ...process.env, PATH: `${path.dirname(node)}${path.delimiter}${process.env.PATH || ''}` }
  installDependencies(env)
  for (const program of programs.slice(0, -1)) {
    const { status } = spawnSync(node, [program], { cwd: root, env, stdio: 'inherit' })
    if (status !== 0) process.exit(status === null ? 1 : status)
  }
  const child = spawn(node, [...programs.slice(-1), ...args], { cwd: root, env, stdio: 'inherit' })
  // A terminal sends Ctrl-C to the whole group; the service takes a doubled signal for one.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal))
  child.on('exit', (code, signal) => process.exit(code === null ? 128 + (os.constants.signals[signal] || 0) : code))
}

/** This Node where it is new enough, else the one in the cache, else one that npm installs there. */
function findNode() {
  if (Number(process.versions.node.split('.')[0]) >= WANTED_MAJOR) return process.execPath
  const kind = `${process.platform}-${process.arch}`
  if (kind !== 'linux-x64' && kind !== 'linux-arm64') {
    fail(
      `Postwright needs Node ${WANTED_MAJOR}; this is ${process.version}. On macOS: "brew install node@24"; elsewhere see nodejs.org.`,
    )
  }
  const folder = path.join(cache, `node-${NODE.version}`)
  const node = path.join(folder, 'node_modules', `node-${kind}`, 'bin', 'node')
  if (!isVerified(node, NODE.program[kind])) {
    say(`Node ${WANTED_MAJOR} is needed and this is ${process.version}: installing Node ${NODE.version} into ${folder}`)
    installNode(`node-${kind}`, NODE.integrity[kind], folder)
  }
  return node
}

/**
 * Whether this file is there with this SHA-256: releases before left a Node in the cache without checking a hash. It is read
 * once; `<path>.verified` keeps the hash with size and time of the file.
 */
function isVerified(file, sha256) {
  const { size, mtimeMs } = fs.statSync(file, { throwIfNoEntry: false }) || {}
  if (size === undefined) return false
  const mark = `${sha256} ${size} ${mtimeMs}\n`
  const marker = `${file}.verified`
  if (fs.existsSync(marker) && fs.readFileSync(marker, 'utf8') === mark) return true
  if (createHash('sha256').update(fs.readFileSync(file)).digest('hex') !== sha256) {
    say(`${file} is not the Node that was published: its SHA-256 is another one`)
    return false
  }
  try {
    fs.writeFileSync(marker, mark)
  } catch {} // a cache that cannot be written costs the same work at the next start
  return true
}

/** Lets npm install the package of a Node. The lock file holds the hash that npm compares the package with. */
function installNode(name, integrity, folder) {
  const work = `${folder}.new-${process.pid}`
  const dependencies = { [name]: NODE.version }
  const packages = { '': { dependencies }, [`node_modules/${name}`]: { version: NODE.version, integrity } }
  fs.mkdirSync(work, { recursive: true })
  process.on('exit', () => fs.rmSync(work, { recursive: true, force: true }))
  fs.writeFileSync(path.join(work, 'package.json'), JSON.stringify({ private: true, dependencies }))
  fs.writeFileSync(path.join(work, 'package-lock.json'), JSON.stringify({ lockfileVersion: 3, packages }))
  npm(['ci', '--no-audit', '--no-fund', '--loglevel=error'], process.env, work)
  fs.rmSync(folder, { recursive: true, force: true })
  fs.renameSync(work, folder)
}

/** `npm ci` when the lock file is another one than that of the last complete installation. */
function installDependencies(env) {
  const lock = createHash('sha256')
    .update(fs.readFileSync(path.join(root, 'package-lock.json')))
    .digest('hex')
  const stamp = path.join(root, 'node_modules', '.postwright-lock')
  if (fs.existsSync(stamp) && fs.readFileSync(stamp, 'utf8') === lock) return
  say('installing the locked dependencies (about a minute, once)')
  npm(['ci', '--no-audit', '--no-fund', '--loglevel=error'], env, root)
  fs.writeFileSync(stamp, lock)
}

function npm(args, env, cwd) {
  const result = spawnSync('npm', args, { cwd, env, stdio: ['ignore', 'inherit', 'inherit'] })
  if (result.error) fail(`npm cannot be run: ${result.error.message}`)
  if (result.status !== 0)
    fail(`"npm ${args.join(' ')}" failed; see its message above. Is the package registry reachable?`)
}

function say(text) {
  process.stderr.write(`postwright: ${text}\n`)
}

function fail(text) {
  say(text)
  process.exit(1)
}

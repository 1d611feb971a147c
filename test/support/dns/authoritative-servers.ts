/** Real authoritative servers for tests: Knot and BIND on loopback, with signed updates, in temporary folders. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { TYPE } from '../../../services/mail/dns/dns-message.ts'
import { ask } from '../../../services/mail/dns/dns-transport.ts'
import { freePort } from '../database/test-mongod.ts'
import { program } from '../programs/programs.ts'
import { until } from '../time/until.ts'

/** A zone as a server starts with it: lines of a zone file without SOA, NS and the server's address. */
export interface ServedZone {
  name: string
  lines?: readonly string[]
}

/** A running server. The key may update and transfer every zone, the stranger's may only transfer. */
export interface DnsServer {
  kind: 'knot' | 'bind'
  ip: '127.0.0.1'
  port: number
  key: { name: string; algorithm: 'hmac-sha256'; secret: string }
  strangerKey: { name: string; algorithm: 'hmac-sha256'; secret: string }
  /** What `kdig` prints for a question, for people and transcripts. */
  dig(name: string, type: string): string
  /** The complete zone by transfer, one line per record, without SOA and signatures. */
  transfer(zone: string): string[]
  stop(): Promise<void>
}

const KEY = {
  name: 'upd-key',
  algorithm: 'hmac-sha256',
  secret: Buffer.from('a shared key of the tests, 32 byte').toString('base64'),
} as const
const STRANGER = {
  name: 'other-key',
  algorithm: 'hmac-sha256',
  secret: Buffer.from('a key that may not update anything').toString('base64'),
} as const

/** Starts a server with the zones and waits until it answers for the first of them. */
export async function startDnsServer(kind: DnsServer['kind'], zones: readonly ServedZone[]): Promise<DnsServer> {
  const binary = program(kind === 'knot' ? 'knotd' : 'named')
  const folder = await mkdtemp(join(tmpdir(), `pw-${kind}-`))
  for (const sub of ['run', 'db', 'zones']) await mkdir(join(folder, sub))
  for (const zone of zones) await writeFile(join(folder, 'zones', `${zone.name}.zone`), zoneText(zone))
  const port = await freePort()
  const config = join(folder, `${kind}.conf`)
  await writeFile(config, kind === 'knot' ? knotConfig(folder, port, zones) : bindConfig(folder, port, zones))
  const child = spawn(binary, kind === 'knot' ? ['-c', config] : ['-g', '-c', config], {
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  let log = ''
  child.stderr?.on('data', chunk => {
    log += String(chunk)
  })
  const [first] = zones
  try {
    await until(async () => {
      if (child.exitCode !== null) throw new Error(`${kind} ended: ${log.slice(-2000)}`)
      const answer = await ask({ ip: '127.0.0.1', port }, first?.name ?? '', TYPE.SOA, {
        recursion: false,
        timeoutMs: 500,
        tries: 1,
      }).catch(() => undefined)
      return answer?.aa === true
    })
  } catch (error) {
    await end(child, folder)
    throw error
  }
  const at = ['@127.0.0.1', '-p', String(port)]
  return {
    kind,
    ip: '127.0.0.1',
    port,
    key: KEY,
    strangerKey: STRANGER,
    dig: (name, type) =>
      execFileSync(program('kdig'), [...at, name, type, '+noall', '+answer', '+header'], { encoding: 'utf8' }).trim(),
    transfer: zone => transfer(at, zone),
    stop: () => end(child, folder),
  }
}

async function end(child: ChildProcess, folder: string): Promise<void> {
  const ended = new Promise<void>(resolve =>
    child.exitCode === null ? child.once('exit', () => resolve()) : resolve(),
  )
  child.kill('SIGTERM')
  const late = setTimeout(() => child.kill('SIGKILL'), 5_000)
  await ended
  clearTimeout(late)
  await rm(folder, { recursive: true, force: true })
}

function transfer(at: readonly string[], zone: string): string[] {
  const key = `${KEY.algorithm}:${KEY.name}:${KEY.secret}`
  const text = execFileSync(program('kdig'), [...at, '-y', key, zone, 'AXFR', '+noall', '+answer'], {
    encoding: 'utf8',
  })
  return text
    .split('\n')
    .map(line => line.replace(/\s+/g, ' ').trim())
    .filter(line => line !== '' && !line.startsWith(';') && !/ (SOA|TSIG) /.test(line))
    .toSorted()
}

function zoneText({ name, lines = [] }: ServedZone): string {
  return [
    `$ORIGIN ${name}.`,
    '$TTL 300',
    `@ IN SOA ns1.${name}. hostmaster.${name}. 1 3600 600 86400 60`,
    `@ IN NS ns1.${name}.`,
    'ns1 IN A 127.0.0.1',
    ...lines,
    '',
  ].join('\n')
}

function knotConfig(folder: string, port: number, zones: readonly ServedZone[]): string {
  const key = ({ name, secret }: { name: string; secret: string }) =>
    `  - id: ${name}.\n    algorithm: hmac-sha256\n    secret: ${secret}`
  return `server:
    rundir: "${folder}/run"
    listen: 127.0.0.1@${port}
    udp-workers: 1
    tcp-workers: 1
    background-workers: 1
log:
  - target: stderr
    any: warning
database:
    storage: "${folder}/db"
key:
${key(KEY)}
${key(STRANGER)}
acl:
  - id: upd
    address: 127.0.0.0/8
    key: ${KEY.name}.
    action: [update, transfer]
  - id: read
    address: 127.0.0.0/8
    key: ${STRANGER.name}.
    action: [transfer]
template:
  - id: default
    storage: "${folder}/zones"
    file: "%s.zone"
    zonefile-sync: -1
    zonefile-load: difference-no-serial
    journal-content: all
    acl: [upd, read]
zone:
${zones.map(({ name }) => `  - domain: ${name}`).join('\n')}
`
}

function bindConfig(folder: string, port: number, zones: readonly ServedZone[]): string {
  const key = ({ name, secret }: { name: string; secret: string }) =>
    `key "${name}." { algorithm hmac-sha256; secret "${secret}"; };`
  const blocks = zones.map(
    ({ name }) =>
      `zone "${name}" { type primary; file "zones/${name}.zone"; allow-transfer { key ${KEY.name}.; };
  update-policy { grant ${KEY.name}. zonesub A AAAA TXT CNAME MX; }; };`,
  )
  return `options { directory "${folder}"; listen-on port ${port} { 127.0.0.1; }; listen-on-v6 { none; }; recursion no;
  notify no; dnssec-validation no; pid-file "${folder}/named.pid"; session-keyfile "${folder}/session.key";
  managed-keys-directory "${folder}"; };
controls { };
${key(KEY)}
${key(STRANGER)}
${blocks.join('\n')}
`
}

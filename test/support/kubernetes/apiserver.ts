/** A real kube-apiserver with etcd in a temporary folder: RBAC, static tokens, no controllers. */
import { type ChildProcess, spawn } from 'node:child_process'
import { generateKeyPairSync, randomBytes } from 'node:crypto'
import { mkdtemp, open, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Agent, fetch } from 'undici'
import { freePort } from '../database/test-mongod.ts'
import { apiserverBinaries, type Progress } from './apiserver-binaries.ts'

/** How to connect to the server. Plain data, because it is sent to the test workers. */
export interface ApiServerAccess {
  url: string
  /** PEM of the certificate that signs the server's. */
  ca: string
  /** Token of a member of system:masters. */
  admin: string
  /** Tokens of {@link USERS}, by user name. */
  tokens: Record<string, string>
}

/** Users without permissions until a test binds a role. The first is the operator's service account. */
const USERS = {
  'system:serviceaccount:postwright:operator': ['system:serviceaccounts', 'system:serviceaccounts:postwright'],
  // Gets rights only in the tests of rights: other tests bind roles to the operator's concurrently.
  'system:serviceaccount:postwright:rights': ['system:serviceaccounts', 'system:serviceaccounts:postwright'],
  'tenant-a': ['tenants'],
  'tenant-b': ['tenants'],
} as const

/** A running server. */
export interface ApiServer extends ApiServerAccess {
  etcdUrl: string
  /** Kills the API server and restarts it with the same data. */
  restart(): Promise<void>
  /** Kills the API server only. */
  kill(): Promise<void>
  stop(): Promise<void>
}

/** Starts both programs; resolves when `/readyz` succeeds. */
export async function startApiServer(report: Progress, extraFlags: readonly string[] = []): Promise<ApiServer> {
  const bin = await apiserverBinaries(process.env, report)
  const folder = await mkdtemp(join(tmpdir(), 'pw-apiserver-'))
  const [port, etcdPort, peerPort] = [await freePort(), await freePort(), await freePort()]
  const admin = randomBytes(16).toString('hex')
  const tokens = Object.fromEntries(Object.keys(USERS).map(user => [user, randomBytes(16).toString('hex')]))
  await writeFiles(folder, { admin, tokens })
  const etcdUrl = `http://127.0.0.1:${etcdPort}`
  const children: ChildProcess[] = []
  const start = async (name: string, flags: string[]) => {
    const log = await open(join(folder, `${name}.log`), 'a')
    const child = spawn(join(bin, name), flags, { stdio: ['ignore', log.fd, log.fd] })
    child.once('exit', () => void log.close())
    children.push(child)
    return child
  }
  await start('etcd', etcdFlags(folder, etcdUrl, `http://127.0.0.1:${peerPort}`))
  const flags = [...serverFlags(folder, port, etcdUrl), ...extraFlags]
  let server = await start('kube-apiserver', flags)
  // The server creates its certificate at its first start.
  const access = { url: `https://127.0.0.1:${port}`, ca: '', admin, tokens }
  const ready = () => untilReady(access, server, join(folder, 'kube-apiserver.log'))
  const stop = async () => {
    await Promise.all(children.map(ended))
    await rm(folder, { recursive: true, force: true })
  }
  try {
    access.ca = await appearing(join(folder, 'apiserver.crt'))
    await ready()
  } catch (error) {
    await stop()
    throw error
  }
  return {
    ...access,
    etcdUrl,
    kill: () => ended(server),
    async restart() {
      await ended(server)
      server = await start('kube-apiserver', flags)
      await ready()
    },
    stop,
  }
}

interface Logins {
  admin: string
  tokens: Record<string, string>
}

async function writeFiles(folder: string, { admin, tokens }: Logins) {
  const account = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const lines = Object.entries(USERS).map(
    ([user, groups], index) => `${tokens[user]},${user},u${index},"${groups.join(',')}"`,
  )
  const files = {
    'sa.key': account.privateKey.export({ type: 'pkcs8', format: 'pem' }),
    'sa.pub': account.publicKey.export({ type: 'spki', format: 'pem' }),
    'tokens.csv': `${admin},admin,admin,system:masters\n${lines.join('\n')}\n`,
  }
  await Promise.all(Object.entries(files).map(([name, text]) => writeFile(join(folder, name), text, { mode: 0o600 })))
}

function etcdFlags(folder: string, url: string, peer: string): string[] {
  return [
    `--data-dir=${join(folder, 'etcd')}`,
    `--listen-client-urls=${url}`,
    `--advertise-client-urls=${url}`,
    `--listen-peer-urls=${peer}`,
    `--initial-advertise-peer-urls=${peer}`,
    `--initial-cluster=default=${peer}`,
    '--unsafe-no-fsync',
    '--log-level=error',
  ]
}

function serverFlags(folder: string, port: number, etcdUrl: string): string[] {
  const file = (name: string) => join(folder, name)
  return [
    `--etcd-servers=${etcdUrl}`,
    '--bind-address=127.0.0.1',
    '--advertise-address=192.0.2.1',
    `--secure-port=${port}`,
    `--cert-dir=${folder}`,
    `--token-auth-file=${file('tokens.csv')}`,
    '--authorization-mode=RBAC',
    '--service-account-issuer=https://kubernetes.default.svc',
    `--service-account-key-file=${file('sa.pub')}`,
    `--service-account-signing-key-file=${file('sa.key')}`,
    '--service-cluster-ip-range=127.96.0.0/16',
    '--disable-admission-plugins=ServiceAccount',
    '--watch-cache=true',
    '--etcd-compaction-interval=0s',
    '-v=0',
  ]
}

/** A dispatcher that trusts the server, for requests without the operator's client. */
function dispatcherFor(access: Pick<ApiServerAccess, 'ca'>): Agent {
  return new Agent({ connect: { ca: access.ca } })
}

async function untilReady(access: ApiServerAccess, child: ChildProcess, log: string) {
  const dispatcher = dispatcherFor(access)
  const deadline = Date.now() + 150_000
  try {
    while (Date.now() < deadline && child.exitCode === null) {
      const init = { headers: { authorization: `Bearer ${access.admin}` }, dispatcher }
      const answer = await fetch(`${access.url}/readyz`, init).catch(() => undefined)
      await answer?.arrayBuffer()
      if (answer?.ok) return
      await sleep(100)
    }
  } finally {
    await dispatcher.close()
  }
  const tail = (await readFile(log, 'utf8')).split('\n').slice(-6).join('\n')
  throw new Error(`kube-apiserver did not become ready:\n${tail}`)
}

async function appearing(file: string): Promise<string> {
  for (const deadline = Date.now() + 90_000; ; await sleep(50)) {
    const text = await readFile(file, 'utf8').catch(() => '')
    if (text.includes('-----END CERTIFICATE-----')) return text
    if (Date.now() > deadline) throw new Error(`${file} did not appear`)
  }
}

function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return Promise.resolve()
  return new Promise(resolve => {
    child.once('exit', () => resolve())
    child.kill('SIGKILL')
  })
}

/**
 * external-dns: its providers over its webhook protocol, in memory or for a name server with updates (RFC 2136), and the program
 * itself.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { ApiServerAccess } from '../kubernetes/apiserver.ts'
import { findExternalDns, pathOf } from '../programs/programs.ts'
import type { DnsServer } from './authoritative-servers.ts'

/** A running provider. */
export interface ExternalDns {
  url: string
  /** What the provider returns, for comparisons. */
  records(): Promise<ExternalDnsEndpoint[]>
  /** Changes records as another program does. */
  apply(changes: object): Promise<void>
  stop(): Promise<void>
}

/** The fields that tests look at. */
export interface ExternalDnsEndpoint {
  dnsName: string
  recordType: string
  targets: string[]
  recordTTL?: number
}

/** Starts a provider with the zones; with `server` it writes to that name server. */
export async function startExternalDns(zones: readonly string[], server?: DnsServer): Promise<ExternalDns> {
  const options = server
    ? [
        '-provider',
        'rfc2136',
        '-port',
        String(server.port),
        '-key-name',
        server.key.name,
        '-key-secret',
        server.key.secret,
      ]
    : ['-provider', 'inmemory']
  const child = spawn(pathOf(await findExternalDns()), ['-zones', zones.join(','), ...options], {
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  const ended = once(child, 'exit')
  const started = once(createInterface({ input: child.stdout }), 'line') as Promise<[string]>
  const [url] = await Promise.race([started, ended.then(() => Promise.reject(new Error('external-dns ended')))])
  return {
    url,
    async records() {
      return ((await (await fetch(`${url}/records`)).json()) ?? []) as ExternalDnsEndpoint[]
    },
    async apply(changes) {
      const { status } = await fetch(`${url}/records`, { method: 'POST', body: JSON.stringify(changes) })
      if (status !== 204) throw new Error(`external-dns answered ${status}`)
    },
    async stop() {
      child.kill()
      await ended
    },
  }
}

/** Where {@link startExternalDnsProgram} reads and writes. */
export interface ExternalDnsTarget {
  server: ApiServerAccess
  namespace: string
  zone: string
  knot: DnsServer
}

/**
 * Starts external-dns as its users do: it reads the DNSEndpoint objects of a namespace each second and writes to the name server
 * by RFC 2136, with its registry of TXT records. Returns how to stop it.
 */
export async function startExternalDnsProgram(
  program: string,
  { server, namespace, zone, knot }: ExternalDnsTarget,
): Promise<() => Promise<void>> {
  const folder = await mkdtemp(join(tmpdir(), 'pw-external-dns-'))
  const kubeconfig = join(folder, 'kubeconfig')
  await writeFile(kubeconfig, JSON.stringify(kubeconfigOf(server)))
  const flags = {
    source: 'crd',
    namespace,
    kubeconfig,
    provider: 'rfc2136',
    'rfc2136-host': '127.0.0.1',
    'rfc2136-port': String(knot.port),
    'rfc2136-zone': zone,
    'rfc2136-tsig-secret': knot.key.secret,
    'rfc2136-tsig-secret-alg': knot.key.algorithm,
    'rfc2136-tsig-keyname': knot.key.name,
    'rfc2136-tsig-axfr': '',
    'domain-filter': zone,
    registry: 'txt',
    'txt-owner-id': 'team',
    'txt-prefix': 'edns-%{record_type}-',
    policy: 'upsert-only',
    interval: '1s',
    'metrics-address': '127.0.0.1:0',
  }
  const all = Object.entries(flags).map(([name, value]) => (value === '' ? `--${name}` : `--${name}=${value}`))
  const types = ['TXT', 'CNAME', 'MX'].map(type => `--managed-record-types=${type}`)
  const child = spawn(program, [...all, ...types], { stdio: 'ignore' })
  const ended = once(child, 'exit')
  return async () => {
    child.kill()
    await ended
    await rm(folder, { recursive: true, force: true })
  }
}

function kubeconfigOf({ url, ca, admin }: ApiServerAccess): object {
  return {
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'test',
    contexts: [{ name: 'test', context: { cluster: 'test', user: 'test' } }],
    clusters: [
      { name: 'test', cluster: { server: url, 'certificate-authority-data': Buffer.from(ca).toString('base64') } },
    ],
    users: [{ name: 'test', user: { token: admin } }],
  }
}

/**
 * Postfix instead of Postwright: the same queues to the same receivers. It queries DNS on port 53 only, so it runs in
 * network and mount namespaces of its own. It does not sign, which saves most of what a message costs Postwright.
 */
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { appendFile, chmod, chown, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { QUEUE_MANAGER, QUEUE_SERVICES } from '../../support/mail/postfix.ts'
import { domainName, type SiteClass } from './site-class.ts'
import { note, type Row } from './table.ts'
import { type Internet, startInternet } from './testbed.ts'
import { arrivals, createMix, rates } from './throughput.ts'

const run = promisify(execFile)
const SUBMISSION_PORT = 2525
const CONNECTIONS = 20
const SERVICES = `127.0.0.1:${SUBMISSION_PORT} inet n - n - - smtpd
smtp unix - - n - - smtp
discard unix - - n - - discard
scache unix - - n - 1 scache
${QUEUE_SERVICES}`

/** 40 healthy sites, then 2,000 domains of all behaviours. Runs itself again in namespaces first. */
export async function postfix(count = 20_000, seconds = 90): Promise<Row[]> {
  if (process.env.BENCH_DNS_PORT !== '53') {
    await inNamespaces(count, seconds)
    return []
  }
  const forty: SiteClass = { name: 'fine', domains: 40 }
  const { classes, draw } = createMix(2_000)
  return [
    await deliver('forty', [forty], count, seconds, n => domainName('fine', n % 40)),
    await deliver('mixed', classes, count, seconds, draw),
  ]
}

async function inNamespaces(count: number, seconds: number): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'pw-bench-'))
  const resolver = join(folder, 'resolv.conf')
  await writeFile(resolver, 'nameserver 127.0.0.1\n')
  const script = 'ip link set lo up && mount --bind "$1" /etc/resolv.conf && shift && exec "$@"'
  const again = [process.execPath, process.argv[1] ?? '', 'postfix', String(count), String(seconds)]
  try {
    const child = spawn('unshare', ['--net', '--mount', 'sh', '-c', script, 'sh', resolver, ...again], {
      stdio: 'inherit',
      env: { ...process.env, BENCH_DNS_PORT: '53' },
    })
    const [code] = (await once(child, 'exit')) as [number | null]
    if (code !== 0) throw new Error('Postfix could not be measured: this needs root, unshare, ip and Postfix')
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

async function deliver(
  title: string,
  classes: readonly SiteClass[],
  count: number,
  seconds: number,
  domainOf: (n: number) => string,
): Promise<Row> {
  const internet = await startInternet(classes)
  const server = await startPostfix(internet)
  try {
    note(`postfix: ${title}: ${count} messages into the queue`)
    await Promise.all(Array.from({ length: CONNECTIONS }, (_, first) => submit(first, count, domainOf)))
    await server.startDelivery()
    note(`postfix: ${title}: delivery`)
    const times = await arrivals({ internet }, 'm', count, seconds * 1_000)
    return { scenario: title, messages: count, ...rates(times, count) }
  } finally {
    await server.stop()
    internet.stop()
  }
}

/** Every {@link CONNECTIONS}th message from `first` on, each in one transaction, over one connection. */
async function submit(first: number, count: number, domainOf: (n: number) => string): Promise<void> {
  const socket = connect(SUBMISSION_PORT, '127.0.0.1').setEncoding('latin1')
  await once(socket, 'connect')
  let read = ''
  const reply = async (mark: RegExp) => {
    while (!mark.test(read)) read += (await once(socket, 'data'))[0]
    if (/^[45]\d\d /m.test(read)) throw new Error(`Postfix refused: ${read}`)
    read = ''
  }
  const body = `${'x'.repeat(70)}\r\n`.repeat(14)
  await reply(/^220 .*\r\n$/m)
  socket.write('EHLO bench\r\n')
  await reply(/^250 .*\r\n$/m)
  for (let n = first; n < count; n += CONNECTIONS) {
    const to = `m.${n}@${domainOf(n)}`
    socket.write(`MAIL FROM:<a@a.example>\r\nRCPT TO:<${to}>\r\nDATA\r\n`)
    await reply(/^354 .*\r\n$/m)
    socket.write(`From: a@a.example\r\nTo: ${to}\r\nSubject: message ${n}\r\n\r\n${body}.\r\n`)
    await reply(/^250 2\.0\.0 .*\r\n$/m)
  }
  socket.end('QUIT\r\n')
}

/** Postfix that accepts mail into its queue; `startDelivery` adds the queue manager. */
async function startPostfix({ smtpPort }: Internet) {
  const folder = await mkdtemp(join(tmpdir(), 'pw-bench-postfix-'))
  await chmod(folder, 0o755)
  for (const name of ['etc', 'spool', 'data']) await mkdir(join(folder, name))
  const etc = join(folder, 'etc')
  await writeFile(join(etc, 'master.cf'), SERVICES)
  await writeFile(
    join(etc, 'main.cf'),
    `
compatibility_level = 3.6
queue_directory = ${folder}/spool
data_directory = ${folder}/data
maillog_file = ${folder}/maillog
maillog_file_prefixes = ${folder}
myhostname = mail.bench.example
mydestination =
# Without its queue manager Postfix would take one message a second of each connection.
in_flow_delay = 0
mynetworks = 127.0.0.0/8
inet_interfaces = 127.0.0.1
inet_protocols = ipv4
smtp_tcp_port = ${smtpPort}
smtp_tls_security_level = none
smtpd_peername_lookup = no
alias_maps =
local_recipient_maps =
`,
  )
  const { stdout: uid } = await run('id', ['-u', 'postfix'])
  await chown(join(folder, 'data'), Number(uid), 0)
  const control = (verb: string) => run('/usr/sbin/postfix', ['-c', etc, verb])
  await control('start')
  return {
    async startDelivery() {
      await appendFile(join(etc, 'master.cf'), QUEUE_MANAGER)
      await control('reload')
    },
    async stop() {
      await control('abort')
      await rm(folder, { recursive: true, force: true })
    },
  }
}

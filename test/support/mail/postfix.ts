/** A real Postfix on loopback as the receiving server, with its own configuration, queue and mailboxes in a temporary folder. */
import { execFile } from 'node:child_process'
import { chmod, chown, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { makeCertificate } from '../../../services/platform/security/self-signed-certificate.ts'
import { freePort } from '../database/test-mongod.ts'
import { MissingProgram } from '../programs/missing-program.ts'
import { program } from '../programs/programs.ts'

const run = promisify(execFile)

/** A running Postfix that accepts mail for `domain`; every local part has a mailbox. */
export interface Postfix {
  port: number
  /** Raw messages in its mailboxes, as its delivery agent wrote them. */
  mail(): Promise<string[]>
  stop(): Promise<void>
}

/** Path of `postfix`. Throws {@link MissingProgram} if it is not installed or cannot be started. */
function postfixProgram(): string {
  const path = program('postfix')
  if (process.getuid?.() !== 0) throw new MissingProgram('Postfix starts only as root', 'sudo npm test')
  return path
}

/** The services in master.cf that every Postfix needs to accept mail into its queue; `n` in the fifth column: no chroot. */
export const QUEUE_SERVICES = `
cleanup unix n - n - 0 cleanup
tlsmgr unix - - n 1000? 1 tlsmgr
rewrite unix - - n - - trivial-rewrite
bounce unix - - n - 0 bounce
defer unix - - n - 0 bounce
trace unix - - n - 0 bounce
proxymap unix - - n - - proxymap
error unix - - n - - error
retry unix - - n - - error
anvil unix - - n - 1 anvil
postlog unix-dgram n - n - 1 postlogd
`

/** The queue manager, without which nothing is delivered. */
export const QUEUE_MANAGER = 'qmgr unix n - n 300 1 qmgr\n'

/** The additional services for receiving. */
const MASTER = `127.0.0.1:PORT inet n - n - - smtpd
virtual unix - n n - - virtual
smtp unix - - n - - smtp
${QUEUE_MANAGER}${QUEUE_SERVICES}`

/** Starts Postfix, with STARTTLS. `settings`: further lines of its main.cf. */
export async function startPostfix(domain: string, settings = ''): Promise<Postfix> {
  const postfix = postfixProgram()
  const folder = await mkdtemp(join(tmpdir(), 'pw-postfix-'))
  const port = await freePort()
  const { cert, key } = await makeCertificate([`mx.${domain}`], 30, new Date())
  await chmod(folder, 0o755)
  for (const name of ['etc', 'spool', 'data', 'mail']) await mkdir(join(folder, name))
  await writeFile(join(folder, 'tls.pem'), `${key}\n${cert}`, { mode: 0o600 })
  await writeFile(join(folder, 'etc/master.cf'), MASTER.replace('PORT', String(port)))
  await writeFile(join(folder, 'etc/main.cf'), `${mainCf(folder, domain)}${settings}\n`)
  const { stdout: uid } = await run('id', ['-u', 'postfix'])
  await chown(join(folder, 'data'), Number(uid), 0)
  await chown(join(folder, 'mail'), 65_534, 65_534)
  const control = (verb: string) => run(postfix, ['-c', join(folder, 'etc'), verb])
  await control('start')
  return {
    port,
    async mail() {
      const names = await readdir(join(folder, 'mail'), { recursive: true })
      return Promise.all(
        names.filter(name => /\/new\/./.test(name)).map(name => readFile(join(folder, 'mail', name), 'utf8')),
      )
    },
    async stop() {
      await control('abort')
      await rm(folder, { recursive: true, force: true })
    },
  }
}

/** A Postfix that sends everything to a relay, as servers do with their own mail. */
export interface NullClient {
  /** Submits a message as programs on the server do. */
  sendmail(args: readonly string[], message: string): Promise<void>
  /** The queue as printed by `postqueue -j`, and the end of the log, for error messages. */
  describe(): Promise<string>
  stop(): Promise<void>
}

/** Starts a null client. `settings`: its main.cf as documented; `passwords`: its password file for the relay. */
export async function startNullClient(settings: string, passwords: string): Promise<NullClient> {
  const postfix = postfixProgram()
  const folder = await mkdtemp(join(tmpdir(), 'pw-null-client-'))
  await chmod(folder, 0o755)
  for (const name of ['etc', 'spool', 'data']) await mkdir(join(folder, name))
  const own = `
compatibility_level = 3.6
queue_directory = ${folder}/spool
data_directory = ${folder}/data
command_directory = /usr/sbin
daemon_directory = /usr/lib/postfix/sbin
maillog_file = ${folder}/maillog
maillog_file_prefixes = ${folder}
myhostname = web1.internal
inet_protocols = ipv4
smtp_host_lookup = native
`
  await writeFile(join(folder, 'sasl_passwd'), passwords, { mode: 0o600 })
  const documented = settings.replaceAll('/etc/postfix/sasl_passwd', join(folder, 'sasl_passwd'))
  await writeFile(join(folder, 'etc/main.cf'), own + documented)
  const services = MASTER.replace(/^127.*\n/m, '').replace(/^virtual .*\n/m, '')
  await writeFile(join(folder, 'etc/master.cf'), `${services}pickup unix n - n 60 1 pickup\nsmtp unix - - n - - smtp\n`)
  const { stdout: uid } = await run('id', ['-u', 'postfix'])
  await chown(join(folder, 'data'), Number(uid), 0)
  const env = { ...process.env, MAIL_CONFIG: join(folder, 'etc') }
  await run(postfix, ['-c', join(folder, 'etc'), 'start'])
  return {
    sendmail: (args, message) =>
      new Promise((resolve, reject) => {
        const child = execFile(join(dirname(postfix), 'sendmail'), [...args], { env }, error =>
          error ? reject(error) : resolve(),
        )
        child.stdin?.end(message)
      }),
    async describe() {
      const { stdout } = await run(join(dirname(postfix), 'postqueue'), ['-j'], { env })
      return `${stdout}\n${(await readFile(join(folder, 'maillog'), 'utf8')).slice(-3_000)}`
    },
    async stop() {
      await run(postfix, ['-c', join(folder, 'etc'), 'abort'])
      await rm(folder, { recursive: true, force: true })
    },
  }
}

function mainCf(folder: string, domain: string): string {
  return `
compatibility_level = 3.6
queue_directory = ${folder}/spool
data_directory = ${folder}/data
command_directory = /usr/sbin
daemon_directory = /usr/lib/postfix/sbin
maillog_file = ${folder}/maillog
maillog_file_prefixes = ${folder}
myhostname = mx.${domain}
mydestination =
inet_interfaces = 127.0.0.1
inet_protocols = ipv4
virtual_mailbox_domains = ${domain}
virtual_mailbox_base = ${folder}/mail
virtual_mailbox_maps = static:all/
virtual_uid_maps = static:65534
virtual_gid_maps = static:65534
smtpd_tls_security_level = may
smtpd_tls_chain_files = ${folder}/tls.pem
`
}

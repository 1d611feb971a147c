/** The operator's effect on the other processes, and what a leader that lost its lease may not do. */
import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, expect, onTestFinished, test } from 'vitest'
import { rbacObjects } from '../../operator/rbac.ts'
import { verifyDomain } from '../../services/mail/domains/store/domains.ts'
import { connectMongo } from '../../services/platform/database/mongo.ts'
import { silentLog } from '../../services/platform/observability/log.ts'
import { sharedMongoUri } from '../support/database/test-database.ts'
import { freePort } from '../support/database/test-mongod.ts'
import { startCloudflare } from '../support/dns/fake-cloudflare.ts'
import { createFakeStore, startAnswerer } from '../support/dns/fake-provider-zones.ts'
import type { ApiServerAccess } from '../support/kubernetes/apiserver.ts'
import { onApiServer, sharedApiServer } from '../support/kubernetes/apiserver-shared.ts'
import { adminClient, applyRbac, ensureNamespace, newNamespace } from '../support/kubernetes/clients-and-crds.ts'
import { writeKubeconfig } from '../support/kubernetes/kubeconfig.ts'
import { operatorUnderTest, type Seen } from '../support/kubernetes/operator-under-test.ts'
import { openSender } from '../support/mail/load-sender.ts'
import { certificateFiles } from '../support/mail/submission-listener.ts'
import { type ServiceProcess, startProgram, startService } from '../support/processes/service-process.ts'
import { kubectlProgram } from '../support/programs/programs.ts'
import { until } from '../support/time/until.ts'

const run = promisify(execFile)
const SECRET = 'a master secret of more than thirty-two bytes'
/** Upper bound until a change of a resource takes effect in every process (milliseconds). */
const EFFECT_MS = 5_000

onApiServer('the operator and the other processes', () => {
  const folders: string[] = []
  afterAll(() => Promise.all(folders.map(folder => rm(folder, { recursive: true, force: true }))))
  const newFolder = async () => {
    const folder = await mkdtemp(join(tmpdir(), 'pw-operator-'))
    folders.push(folder)
    return folder
  }
  /** The database of a test, as a process connects to it. */
  const uriOf = (database: string) => sharedMongoUri().replace(/\/(\?|$)/, `/${database}$1`)
  /** An attempt that begins later than {@link EFFECT_MS} after the change must find its effect, however long attempts take. */
  const until5s = async (what: string, holds: () => Promise<boolean>) => {
    const changed = performance.now()
    const attempt = async () => {
      const begun = performance.now() - changed
      if (await holds()) return true
      expect(begun, what).toBeLessThan(EFFECT_MS)
      return false
    }
    // Without a pause, the service refuses the connections of so busy a client.
    await until(attempt, 60_000, 50)
  }

  test('the SMTP and send processes apply a suspension, senders, networks and limits within 5 s', async () => {
    const operator = await operatorUnderTest({ server: sharedApiServer(), mongoUri: sharedMongoUri() })
    const { cert, key } = await certificateFiles()
    const [smtpPort, apiPort] = [await freePort(), await freePort()]
    const env = {
      MAIL_HOSTNAME: 'mail.postwright.test',
      SESSION_SECRET: SECRET,
      MONGODB_URI: uriOf(operator.mongo.db.databaseName),
      METRICS_PORT: '0',
    }
    const smtp = startService('smtp', {
      ...env,
      SUBMISSION_LISTEN: `${smtpPort}:tls`,
      SUBMISSION_TLS_CERT: cert,
      SUBMISSION_TLS_KEY: key,
    })
    const api = startService('send', { ...env, APP_PORT: String(apiPort) })
    onTestFinished(async () => {
      for (const service of [smtp, api]) {
        service.kill('SIGKILL')
        await service.exited
      }
    })
    await Promise.all([smtp.line('ready'), api.line('ready')])

    /** Declares a change, and waits for the operator: it and its API server are delayed by all other tests. */
    const declare = async (kind: string, name: string, spec: object) => {
      await operator.apply(kind, name, spec)
      await operator.condition(kind, name, 'Accepted', 'True')
    }
    const domain = (more: object = {}) => declare('MailDomain', 'shop', { domainName: 'shop.example', ...more })
    const login = (more: object = {}) => declare('SMTPCredential', 'web', { domainRef: { name: 'shop' }, ...more })
    await domain()
    const { status } = await operator.condition('MailDomain', 'shop', 'Accepted', 'True')
    await verifyDomain(operator.mongo.db, String(status?.domainId), 'dns', operator.clock.now())
    await login()
    await operator.apply('APIToken', 'ci', { domainRef: { name: 'shop' } })
    await operator.condition('SMTPCredential', 'web', 'Ready', 'True')
    await operator.condition('APIToken', 'ci', 'Ready', 'True')
    const { username = '', password = '' } = (await operator.secret('web-smtp')) ?? {}
    const { token = '' } = (await operator.secret('ci-token')) ?? {}

    const overSmtp = async (from: string) => {
      const sender = await openSender(smtpPort, username, password).catch((error: Error) => error.message)
      if (typeof sender === 'string') return sender
      const envelope = `MAIL FROM:<${from}>\r\nRCPT TO:<to@example.net>\r\nDATA\r\n`
      const reply = await sender.send(envelope, `From: ${from}\r\nTo: to@example.net\r\nSubject: s\r\n\r\nhi\r\n.\r\n`)
      sender.close()
      return reply
    }
    const overHttp = async (from: string) => {
      const answer = await fetch(`http://127.0.0.1:${apiPort}/api/send`, {
        method: 'POST',
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        body: JSON.stringify({ from, to: 'to@example.net', subject: 's', text: 'hi' }),
      })
      await answer.text()
      return answer.status
    }
    await until(async () => (await overSmtp('a@shop.example')).startsWith('250'))
    await until(async () => (await overHttp('a@shop.example')) < 300)

    await login({ allowedSenders: ['news@shop.example'] })
    await until5s('senders', async () => (await overSmtp('a@shop.example')).startsWith('5'))
    expect(await overSmtp('news@shop.example')).toMatch(/^250/)

    await login({ allowedCIDRs: ['10.0.0.0/8'] })
    await until5s('networks', async () => (await overSmtp('news@shop.example')).startsWith('535'))
    await login({ allowedCIDRs: ['127.0.0.0/8'] })
    await until5s('networks again', async () => (await overSmtp('news@shop.example')).startsWith('250'))

    await login({ messagesPerHour: 1 })
    await until5s('limit', async () => (await overSmtp('news@shop.example')).startsWith('4'))
    await login()
    await until5s('no limit', async () => (await overSmtp('news@shop.example')).startsWith('250'))
    await login({ sendingLimits: { recipientsPerDay: 1 } })
    await until5s('limit of a day', async () => (await overSmtp('news@shop.example')).startsWith('451 4.7.1'))
    await login({ sendingLimits: {} })
    await until5s('no limit of a day', async () => (await overSmtp('news@shop.example')).startsWith('250'))

    await domain({ suspended: true })
    await until5s('suspended, SMTP', async () => (await overSmtp('news@shop.example')).startsWith('5'))
    await until5s('suspended, HTTP', async () => (await overHttp('news@shop.example')) >= 400)
    await domain()
    await until5s('open, SMTP', async () => (await overSmtp('news@shop.example')).startsWith('250'))
    await until5s('open, HTTP', async () => (await overHttp('news@shop.example')) < 300)
  }, 240_000)

  /** An operator in a process of its own, with the rights of the chart. */
  const startOperator = async (server: ApiServerAccess, env: Record<string, string>): Promise<ServiceProcess> => {
    const token = server.tokens['system:serviceaccount:postwright:operator'] ?? ''
    const KUBECONFIG = await writeKubeconfig(await newFolder(), server, token)
    const child = startProgram('operator/main.ts', {
      ...env,
      KUBECONFIG,
      OPERATOR_IDENTITY: randomBytes(3).toString('hex'),
    })
    onTestFinished(async () => {
      child.kill('SIGCONT')
      child.kill('SIGKILL')
      await child.exited
    })
    return child
  }

  test('a leader that was paused beyond its lease writes nothing more at the provider and exits', async () => {
    const server = sharedApiServer()
    const admin = adminClient(server)
    const namespace = await newNamespace(admin)
    const own = `${namespace}-operator`
    await ensureNamespace(admin, own)
    const withdraw = await applyRbac(
      admin,
      rbacObjects({
        namespace: own,
        serviceAccount: 'operator',
        name: `op-${namespace}`,
        watchNamespaces: [namespace],
      }).map(
        object =>
          JSON.parse(
            JSON.stringify(object).replaceAll(
              `"namespace":"${own}","name":"operator"`,
              '"namespace":"postwright","name":"operator"',
            ),
          ) as object,
      ),
    )
    const store = createFakeStore(['zone.test'], 60)
    const cloud = await startCloudflare(store)
    const answerer = await startAnswerer(store)
    const database = `o_${randomBytes(8).toString('hex')}`
    onTestFinished(async () => {
      await withdraw()
      await answerer.stop()
      await cloud.stop()
      const mongo = await connectMongo(sharedMongoUri(), silentLog, { dbName: database })
      await mongo.db.dropDatabase()
      await mongo.stop()
      await admin.close()
    })
    const env = {
      MAIL_HOSTNAME: 'mail.postwright.test',
      SENDING_IP: '192.0.2.25',
      SESSION_SECRET: SECRET,
      MONGODB_URI: uriOf(database),
      METRICS_PORT: '0',
      OPERATOR_NAMESPACE: own,
      WATCH_NAMESPACES: namespace,
      CLOUDFLARE_API_URL: cloud.url,
      DNS_SERVERS: `127.0.0.1:${answerer.port}`,
      DNS_PORT: String(answerer.port),
      DNS_ALLOW_PRIVATE: 'true',
    }
    const first = await startOperator(server, env)
    await first.line('elected')
    const second = await startOperator(server, env)
    await second.line('ready')
    const post = (plural: string, body: object) =>
      admin.request({ method: 'POST', path: `/apis/postwright.dev/v1beta1/namespaces/${namespace}/${plural}`, body })
    await admin.request({
      method: 'POST',
      path: `/api/v1/namespaces/${namespace}/secrets`,
      body: { metadata: { name: 'dns' }, stringData: { api_token: 'good-token' } },
    })
    const apiVersion = 'postwright.dev/v1beta1'
    await post('dnsproviders', {
      apiVersion,
      kind: 'DNSProvider',
      metadata: { name: 'cloud' },
      spec: { type: 'cloudflare', secretRef: { name: 'dns' } },
    })
    await until(async () => {
      const path = `/apis/postwright.dev/v1beta1/namespaces/${namespace}/dnsproviders/cloud`
      const { status } = await admin.request<Seen>({ method: 'GET', path })
      return status?.conditions?.some(({ type, status: is }) => type === 'Ready' && is === 'True') ?? false
    }, 60_000)
    // The process is paused during its work: after the read, before the write.
    const writes = () => cloud.calls.filter(call => call.startsWith('POST')).length
    cloud.before = operation => {
      if (operation !== 'GET /zones/:zone/dns_records' || writes() > 0) return
      cloud.before = undefined
      first.kill('SIGSTOP')
    }
    const dns = { managementPolicy: 'Manage', providerRef: { name: 'cloud' } }
    await post('maildomains', {
      apiVersion,
      kind: 'MailDomain',
      metadata: { name: 'zone' },
      spec: { domainName: 'zone.test', dns },
    })
    await until(() => cloud.before === undefined, 60_000)
    const stopped = performance.now()
    await second.line('elected')
    // The lease of 15 s, and 5 s until the second one has noticed the last renewal and the end; the rest is for a busy machine.
    expect(performance.now() - stopped).toBeLessThan(30_000)
    await until(() => store.zone('zone.test').records.length === 4, 60_000)
    const before = writes()
    first.kill('SIGCONT')
    expect(await first.exited).toBe(1)
    expect(writes()).toBe(before)
    expect(store.zone('zone.test').records).toHaveLength(4)
  }, 240_000)

  test('the command of the runbook removes stuck resources only', async () => {
    const operator = await operatorUnderTest({ server: sharedApiServer(), mongoUri: sharedMongoUri() })
    for (const name of ['going', 'staying']) {
      await operator.apply('MailDomain', name, { domainName: `${name}.example` })
      await operator.condition('MailDomain', name, 'Accepted', 'True')
    }
    await operator.running.stop()
    await operator.remove('MailDomain', 'going')
    expect((await operator.get('MailDomain', 'going'))?.metadata.deletionTimestamp).toBeDefined()
    const text = await readFile(join(import.meta.dirname, '../../docs/runbooks/DeletionStuck.md'), 'utf8')
    const script = /```sh\n([\s\S]+?)```/.exec(text)?.[1] ?? ''
    // Other tests share this cluster; their resources must not be touched.
    const here = script.replace(' -A ', ` -n ${operator.namespace} `)
    expect(here).not.toBe(script)
    const PATH = [dirname(kubectlProgram()), process.env.PATH].join(delimiter)
    const folder = await newFolder()
    const KUBECONFIG = await writeKubeconfig(folder, sharedApiServer(), sharedApiServer().admin, operator.namespace)
    const { stdout } = await run('bash', ['-euc', here], { env: { ...process.env, PATH, KUBECONFIG, HOME: folder } })
    expect(stdout).toBe('maildomain.postwright.dev/going patched\n')
    expect(await operator.get('MailDomain', 'going')).toBeUndefined()
    expect((await operator.get('MailDomain', 'staying'))?.metadata.finalizers).toEqual(['postwright.dev/cleanup'])
  })
})

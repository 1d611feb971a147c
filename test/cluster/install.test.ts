/**
 * The chart on a real node: installation, a first message to a real Postfix, and mail during every kind of disruption.
 * Each disruption ends with the same counts: accepted, delivered, lost, twice.
 */
import { X509Certificate } from 'node:crypto'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { kinds } from '../../operator/resources/kinds.ts'
import { MIGRATIONS } from '../../services/platform/database/migrations.ts'
import { until } from '../support/time/until.ts'
import { apply, cluster, inside, kubectl, noCluster, startInside, tryInside } from './cluster.ts'
import { diagnose } from './diagnose.ts'
import { buildAndLoad, IMAGE, NEXT_IMAGE } from './images.ts'
import type { LoadOptions, LoadResult } from './load.ts'

const RELEASE = 'postwright'
const NAMESPACE = 'mail'
const TSIG = Buffer.from('a secret of the test zone, 32 b!').toString('base64')
const MINUTE = 60_000
/** Pause between two checks of the cluster: each is a separate process. */
const POLL_MS = 1_000
/** Schema of the data of the release under test; the next one adds a step (next-release/). */
const SCHEMA = MIGRATIONS.length
const NEXT_VERSION = '0.2.0'
const COMPONENTS = ['panel', 'send', 'admin', 'worker', 'smtp', 'operator']
const [repository = '', tag = ''] = IMAGE.split(':')
/** What a busy machine may need for a step of a few seconds; waiting ends as soon as it is done. */
const PATIENCE_MS = 5 * MINUTE
const PATIENCE = `--timeout=${PATIENCE_MS / 1_000}s`

/** Where load is sent to. */
interface Servers {
  smtp: { host: string; port: number }
  /** Base URL of the send API. */
  url: string
}

/** One line of the table of disruptions. */
interface Row extends Pick<LoadResult, 'longestPauseMs' | 'refusals'> {
  action: string
  accepted: number
  delivered: number
  lost: number
  twice: number
}

describe.skipIf(noCluster)(`on a cluster${noCluster ? ` (skipped: ${noCluster})` : ''}`, () => {
  let dnsIp: string
  let balancer: string
  let login: { username: string; password: string }
  let token: string
  let installed: boolean | undefined
  const rows: Row[] = []

  const manifest = async (name: string) =>
    (await readFile(`test/cluster/manifests/${name}.yaml`, 'utf8')).replaceAll('TSIG_SECRET', TSIG)
  const serviceIp = (namespace: string, name: string) =>
    kubectl('-n', namespace, 'get', 'service', name, '-o', 'jsonpath={.spec.clusterIP}')
  const secret = async (namespace: string, name: string, key: string) =>
    Buffer.from(
      await kubectl('-n', namespace, 'get', 'secret', name, '-o', `jsonpath={.data.${key.replaceAll('.', '\\.')}}`),
      'base64',
    ).toString()
  const workload = (component: string) =>
    `${['smtp', 'mongodb'].includes(component) ? 'statefulset' : 'deployment'}/postwright-${component}`
  const rollout = (component: string) => kubectl('-n', NAMESPACE, 'rollout', 'status', workload(component), PATIENCE)
  const podsOf = async (component: string) =>
    (
      await kubectl('-n', NAMESPACE, 'get', 'pods', '-l', `app.kubernetes.io/component=${component}`, '-o', 'name')
    ).match(/\S+/g) ?? []
  const podIp = async (component: string) =>
    kubectl('-n', NAMESPACE, 'get', ...(await podsOf(component)), '-o', 'jsonpath={.status.podIP}')

  beforeAll(async () => {
    // Not again where it runs, as in CI: a program need not accept that.
    if ((await tryInside('kubectl', ['get', 'nodes', '--request-timeout=10s'])).code !== 0) await cluster('up')
    await buildAndLoad()
    await removeEverything()
    const environment = await manifest('environment')
    // A pod without a controller is rejected until its namespace has its service account.
    await until(
      async () => (await tryInside('kubectl', ['apply', '-f', '-'], environment)).code === 0,
      PATIENCE_MS,
      POLL_MS,
    )
    dnsIp = await serviceIp('environment', 'dns')
    const mxIp = await serviceIp('environment', 'mx')
    await apply((await manifest('dns')).replaceAll('DNS_IP', dnsIp).replaceAll('MX_IP', mxIp))
    await kubectl('-n', 'environment', 'rollout', 'status', 'deployment/dns', PATIENCE)
    await kubectl('-n', 'environment', 'rollout', 'status', 'deployment/mx', PATIENCE)
    await kubectl('-n', 'environment', 'wait', '--for=condition=Ready', 'pod/client', PATIENCE)
  }, 20 * MINUTE)

  afterAll(() => process.stdout.write(table(rows)))

  beforeEach(({ onTestFailed, skip }) => {
    skip(installed === false, 'the installation failed')
    onTestFailed(() => diagnose(NAMESPACE), 2 * MINUTE)
  })

  /** Removes what an earlier run left: resources first, while an operator may still remove their finalizers. */
  async function removeEverything() {
    const gone = ['--ignore-not-found', PATIENCE]
    await tryInside('kubectl', ['delete', 'namespace', 'team-a', ...gone])
    await tryInside('helm', ['uninstall', RELEASE, '-n', NAMESPACE, '--wait'])
    await tryInside('kubectl', ['delete', 'namespace', NAMESPACE, 'environment', ...gone])
    await tryInside('kubectl', ['delete', 'crd', '-l', 'app.kubernetes.io/part-of=postwright', ...gone])
  }

  /** The values for a small cluster, and what differs here. */
  const settings = (...more: string[]) => [
    ...['-f', 'charts/postwright/values-small.yaml'],
    ...[
      `image.repository=${repository}`,
      `image.tag=${tag}`,
      'mailHostname=mail.postwright.example',
      'sendingIp=192.0.2.25',
      'mongodb.trial.storage=1Gi',
      // The release that the cluster has as a local image.
      'mongodb.trial.image=docker.io/library/mongo:6.0',
      'operator.watchNamespaces={team-a}',
      'config.DELIVERY_ALLOW_PRIVATE=true',
      'config.DNS_ALLOW_PRIVATE=true',
      `config.DNS_SERVERS=${dnsIp}`,
      ...more,
    ].flatMap(pair => ['--set', pair]),
  ]
  const helm = (verb: 'install' | 'upgrade', chart: string, ...more: string[]) =>
    inside('helm', [
      ...[verb, RELEASE, chart, '-n', NAMESPACE, '--create-namespace', '--wait', '--timeout', '8m'],
      ...more,
    ])
  /** Waits until the HTTP addresses accept connections: the node's proxy notices a ready pod a moment after helm. */
  const untilHttpAnswers = async () => {
    for (const component of ['panel', 'send', 'admin']) {
      const url = `http://${await serviceIp(NAMESPACE, `postwright-${component}`)}`
      await until(
        async () => (await tryInside('curl', ['-sS', '-o', '/dev/null', url])).code === 0,
        PATIENCE_MS,
        POLL_MS,
      )
    }
  }
  const install = async () => {
    await helm('install', 'charts/postwright', ...settings())
    await untilHttpAnswers()
    const address = 'jsonpath={.status.loadBalancer.ingress[0].ip}'
    await until(
      async () => {
        balancer = await kubectl('-n', NAMESPACE, 'get', 'service', 'postwright-smtp', '-o', address)
        return balancer !== ''
      },
      PATIENCE_MS,
      POLL_MS,
    )
  }

  test(
    'helm install --wait starts every pod',
    async () => {
      installed = false
      await kubectl('create', 'namespace', 'team-a')
      // Kubernetes' strictest Pod Security level validates every pod.
      await kubectl('create', 'namespace', NAMESPACE)
      await kubectl('label', 'namespace', NAMESPACE, 'pod-security.kubernetes.io/enforce=restricted')
      await install()
      const pods = await kubectl('-n', NAMESPACE, 'get', 'pods', '--field-selector=status.phase=Running', '-o', 'name')
      expect(pods.trim().split('\n')).toHaveLength(COMPONENTS.length + 1)
      installed = true
    },
    10 * MINUTE,
  )

  test(
    'helm test passes: every API answers, and no port relays',
    async () => {
      expect(await inside('helm', ['test', RELEASE, '-n', NAMESPACE, '--timeout', '5m'])).toContain('Succeeded')
    },
    6 * MINUTE,
  )

  test(
    'rejects a second installation that would take over the definitions, before it creates anything',
    async () => {
      const args = ['install', 'second', 'charts/postwright', '-n', 'second', '--create-namespace', ...settings()]
      const { code, stderr } = await tryInside('helm', args)
      expect(code).not.toBe(0)
      expect(stderr).toMatch(/CustomResourceDefinition "\S+\.postwright\.dev".*cannot be imported/)
      expect(await kubectl('-n', 'second', 'get', 'pods,services,secrets,jobs', '-o', 'name')).toBe('')
      await kubectl('delete', 'namespace', 'second', '--ignore-not-found', PATIENCE)
    },
    7 * MINUTE,
  )

  test.each(COMPONENTS)(
    '%s runs without root on a read-only file system',
    async component => {
      const script = `
        const fs = require('node:fs')
        const attempt = path => { try { fs.writeFileSync(path, ''); return 'written' } catch (error) { return error.code } }
        const { CapEff } = Object.fromEntries(fs.readFileSync('/proc/self/status', 'utf8').split('\\n').map(l => l.split(':\\t')))
        console.log(JSON.stringify([process.getuid(), process.getgid(), CapEff, ...['/app/x', '/etc/x', '/tmp/x'].map(attempt)]))`
      const printed = await kubectl('-n', NAMESPACE, 'exec', workload(component), '--', 'node', '-e', script)
      expect(JSON.parse(printed)).toEqual([10001, 10001, '0000000000000000', 'EROFS', 'EROFS', 'written'])
    },
    3 * MINUTE,
  )

  test(
    'a domain, its DNS account, its logins and an app become ready from resources alone',
    async () => {
      await apply(await manifest('resources'))
      const kinds = ['dnsprovider', 'maildomain', 'smtpcredential', 'apitoken', 'app', 'subscriptionplan']
      await kubectl(
        ...['-n', 'team-a', 'wait', '--for=condition=Ready', PATIENCE],
        ...[...kinds, 'featureswitch'].map(kind => `${kind}/example`),
      )
      const selector = await kubectl(
        ...['-n', 'team-a', 'get', 'maildomain', 'example', '-o', 'jsonpath={.status.activeSelector}'],
      )
      const dig = (type: string, name: string) =>
        kubectl('-n', 'environment', 'exec', 'client', '--', 'kdig', `@${dnsIp}`, '+short', type, name)
      expect(await dig('TXT', 'sender.example')).toContain('v=spf1 ip4:192.0.2.25')
      expect(await dig('TXT', `${selector}._domainkey.sender.example`)).toContain('p=')
      expect(await dig('A', 'www.sender.example')).toBe('192.0.2.80\n')
    },
    8 * MINUTE,
  )

  test(
    'a pod with mounted Secrets sends through the Service names and verifies the certificate',
    async () => {
      await kubectl('-n', 'team-a', 'wait', '--for=condition=Ready', 'pod/app', PATIENCE)
      const inPod = (script: string) => kubectl('-n', 'team-a', 'exec', 'app', '--', 'sh', '-c', script)
      const smtp = await inPod(
        'cd /smtp; swaks --server $(cat host) --port $(cat port) --tls --tls-verify --tls-ca-path ca.crt --auth PLAIN --auth-user $(cat username) --auth-password $(cat password) --from app@sender.example --to you@inbox.example --header "Subject: from a pod"',
      )
      expect(smtp).toMatch(/250 2\.0\.0 /)
      expect(await inPod('cat /smtp/host')).toBe('postwright-smtp.mail.svc')
      const body = { from: 'app@sender.example', to: ['you@inbox.example'], subject: 'over HTTP', text: 'Hello' }
      const http = await inPod(
        `curl -sS -H "authorization: Bearer $(cat /token/token)" -H 'content-type: application/json' -d '${JSON.stringify(body)}' http://postwright-send.mail.svc/api/v1/emails`,
      )
      expect(JSON.parse(http)).toMatchObject({ object: 'email', status: 'queued' })
      await arrived(subjects => ['from a pod', 'over HTTP'].every(subject => subjects.includes(subject)))
    },
    12 * MINUTE,
  )

  interface Answer {
    status: number
    body: Record<string, unknown>
    cookie: string
  }

  async function api(method: string, path: string, body?: object, cookie = ''): Promise<Answer> {
    const ip = await serviceIp(NAMESPACE, 'postwright-panel')
    const output = await inside('curl', [
      ...['-sS', '-i', '-X', method, `http://${ip}${path}`],
      ...['-H', 'content-type: application/json', '-H', 'x-csrf: 1'],
      ...(cookie ? ['-H', `cookie: ${cookie}`] : []),
      ...(body ? ['-d', JSON.stringify(body)] : []),
    ])
    const [head = '', text = ''] = output.split('\r\n\r\n')
    return {
      status: Number(/^HTTP\S+ (\d+)/.exec(head)?.[1]),
      body: text ? (JSON.parse(text) as Record<string, unknown>) : {},
      cookie: /set-cookie: ([^;]+)/i.exec(head)?.[1] ?? '',
    }
  }

  const logIn = async () =>
    api('POST', '/api/v1/session', {
      username: await secret(NAMESPACE, 'postwright-secrets', 'ADMIN_USERNAME'),
      password: await secret(NAMESPACE, 'postwright-secrets', 'ADMIN_PASSWORD'),
    })

  test(
    'the admin in the generated Secret logs in and creates a domain, an SMTP login and a token',
    async () => {
      const { status, cookie } = await logIn()
      expect(status).toBe(200)
      const domain = await api('POST', '/api/v1/domains', { name: 'admin.example' }, cookie)
      expect(domain.status).toBe(201)
      expect((await api('POST', `/api/v1/admin/domains/${domain.body.id}/verify`, {}, cookie)).status).toBe(200)
      login = { username: 'load', password: 'a password of the load test' }
      expect((await api('POST', '/api/v1/smtp-credentials', login, cookie)).status).toBe(201)
      const made = await api('POST', '/api/v1/tokens', { name: 'load' }, cookie)
      expect(made.status).toBe(201)
      token = String(made.body.token)
    },
    3 * MINUTE,
  )

  test(
    'a client sends through the LoadBalancer address, verifies the certificate, and Postfix gets the message',
    async () => {
      const certificate = await secret(NAMESPACE, 'postwright-tls', 'tls.crt')
      expect(new X509Certificate(certificate).checkHost('postwright-smtp.mail.svc')).toBeTruthy()
      const file = join(tmpdir(), 'postwright-cluster-ca.crt')
      await writeFile(file, certificate)
      for (const [port, tls] of [
        ['25', '--tls'],
        ['587', '--tls'],
        ['2525', '--tls'],
        ['465', '--tls-on-connect'],
      ] as const) {
        await inside('swaks', [
          ...['--server', balancer, '--port', port, tls, '--tls-verify', '--tls-ca-path', file],
          ...['--auth', 'PLAIN', '--auth-user', login.username, '--auth-password', login.password],
          ...['--from', 'hello@admin.example', '--to', `port-${port}@inbox.example`],
          ...['--header', `Subject: port ${port}`],
        ])
      }
      await arrived(subjects => subjects.filter(subject => subject.startsWith('port ')).length === 4)
    },
    7 * MINUTE,
  )

  /** Subjects of all messages in the receiver's mailbox. */
  async function delivered(): Promise<string[]> {
    const grep = "grep -rhi '^Subject:' /var/mail/virtual || true"
    const { stdout } = await tryInside('kubectl', ['-n', 'environment', 'exec', 'deploy/mx', '--', 'sh', '-c', grep])
    return stdout.split('\n').flatMap(line => (line ? [line.replace(/^Subject: /i, '').trim()] : []))
  }

  const arrived = (condition: (subjects: string[]) => boolean) =>
    until(async () => condition(await delivered()), PATIENCE_MS, POLL_MS)

  test(
    'every delivered message has a DKIM signature of its domain',
    async () => {
      const signed = "grep -rlE '^DKIM-Signature:.*' /var/mail/virtual | wc -l"
      const count = await kubectl('-n', 'environment', 'exec', 'deploy/mx', '--', 'sh', '-c', signed)
      expect(Number(count)).toBe((await delivered()).length)
    },
    3 * MINUTE,
  )

  /** The servers as a client in the cluster reaches them. */
  const services = async (): Promise<Servers> => ({
    smtp: { host: balancer, port: 587 },
    url: `http://${await serviceIp(NAMESPACE, 'postwright-send')}`,
  })

  /** The same processes without the Services. */
  const pods = async (): Promise<Servers> => ({
    smtp: { host: await podIp('smtp'), port: 2587 },
    url: `http://${await podIp('send')}:3025`,
  })

  /** Load before, during and after a disruption; then everything accepted must arrive exactly once. */
  async function disrupt(action: string, work: () => Promise<unknown>, servers?: Servers): Promise<Row> {
    const { smtp, url } = servers ?? (await services())
    const options: LoadOptions = {
      prefix: action,
      from: 'load@admin.example',
      to: 'load@inbox.example',
      smtp: { ...smtp, user: login.username, pass: login.password },
      http: { url, token },
    }
    const load = startInside('node', ['test/cluster/load.ts', JSON.stringify(options)])
    const mine = (subjects: string[]) => subjects.filter(subject => subject.startsWith(`${action}-`))
    let before = 0
    try {
      await arrived(subjects => mine(subjects).length > 50)
      await work()
      before = mine(await delivered()).length
      await arrived(subjects => mine(subjects).length > before + 50)
    } finally {
      const { accepted, refusals, longestPauseMs } = JSON.parse(await load.end()) as LoadResult
      let there = new Set<string>()
      let copies = 0
      await arrived(subjects => {
        copies = mine(subjects).length
        there = new Set(mine(subjects))
        return accepted.every(subject => there.has(subject))
      }).catch(() => undefined)
      rows.push({
        action,
        accepted: accepted.length,
        delivered: there.size,
        lost: accepted.filter(subject => !there.has(subject)).length,
        twice: copies - there.size,
        longestPauseMs,
        refusals,
      })
      process.stdout.write(`${JSON.stringify(rows.at(-1))}\n`)
    }
    const row = rows.at(-1) as Row
    expect(row).toMatchObject({ lost: 0, delivered: row.accepted })
    return row
  }

  const scaled = (component: string) => async () => {
    await kubectl('-n', NAMESPACE, 'scale', workload(component), '--replicas=3')
    await rollout(component)
    await kubectl('-n', NAMESPACE, 'scale', workload(component), '--replicas=1')
    await until(async () => (await podsOf(component)).length === 1, PATIENCE_MS, POLL_MS)
  }
  const killed = (component: string) => async () => {
    // A pod that is terminating may be gone already.
    const gone = ['--ignore-not-found', '--grace-period=0', '--force']
    await kubectl('-n', NAMESPACE, 'delete', ...gone, ...(await podsOf(component)))
    await rollout(component)
  }

  /** Images of the pods that run our code permanently, and the schema in the database. */
  const stateOfUpgrade = async () => {
    const ours = '-l app.kubernetes.io/part-of=postwright,app.kubernetes.io/component!=mongodb'.split(' ')
    const { items } = JSON.parse(await kubectl('-n', NAMESPACE, 'get', 'pods', ...ours, '-o', 'json')) as {
      items: { metadata: { name: string; deletionTimestamp?: string }; spec: { containers: { image: string }[] } }[]
    }
    const staying = items.filter(({ metadata }) => !metadata.deletionTimestamp)
    const panel = staying.find(({ metadata }) => metadata.name.startsWith('postwright-panel-'))?.metadata.name ?? ''
    const script = `
      import { connectMongo } from '/app/services/platform/database/mongo.ts'
      const { db, stop } = await connectMongo(process.env.MONGODB_URI, console)
      const { schema, minReader } = await db.collection('meta').findOne({ _id: 'schema' })
      const indexes = await db.collection('messages').indexes()
      const filled = await db.collection('messages').countDocuments({ upgraded: true })
      console.log(JSON.stringify({ schema, minReader, filled, indexed: indexes.some(({ key }) => key.upgraded === 1) }))
      await stop()`
    const printed = await kubectl('-n', NAMESPACE, 'exec', panel, '--', 'node', '--input-type=module', '-e', script)
    return {
      images: [...new Set(staying.flatMap(({ spec }) => spec.containers.map(({ image }) => image)))],
      ...(JSON.parse(printed) as { schema: number; minReader: number; filled: number; indexed: boolean }),
    }
  }

  /** Upgrades to the next release: chart, image and data. Its migration runs while pods of both releases serve. */
  async function upgraded() {
    const folder = await mkdtemp(join(tmpdir(), 'postwright-chart-'))
    onTestFinished(() => rm(folder, { recursive: true }))
    const { schema, minReader } = await stateOfUpgrade()
    expect(schema).toBe(SCHEMA)
    const versions = ['--version', NEXT_VERSION, '--app-version', NEXT_VERSION]
    await inside('helm', ['package', 'charts/postwright', '--destination', folder, ...versions])
    await helm(
      'upgrade',
      join(folder, `postwright-${NEXT_VERSION}.tgz`),
      ...settings(`image.tag=${NEXT_IMAGE.split(':')[1]}`),
    )
    const state = await stateOfUpgrade()
    expect(state).toMatchObject({ images: [NEXT_IMAGE], schema: schema + 1, minReader, indexed: true })
    expect(state.filled).toBeGreaterThan(0)
  }

  test.each([
    ['scale smtp 1-3-1', scaled('smtp')],
    ['scale workers 1-3-1', scaled('worker')],
    ...[...COMPONENTS, 'mongodb'].map(component => [`kill ${component}`, killed(component)] as const),
    [
      'restart mongodb',
      async () => {
        await kubectl('-n', NAMESPACE, 'delete', 'pod', 'postwright-mongodb-0')
        await rollout('mongodb')
      },
    ],
    [
      'drain',
      async () => {
        const node = (await kubectl('get', 'nodes', '-o', 'name')).trim().split('\n')[0]?.replace('node/', '') ?? ''
        try {
          await kubectl(
            ...['drain', node, '--ignore-daemonsets', '--delete-emptydir-data', PATIENCE],
            '--pod-selector=app.kubernetes.io/part-of=postwright',
          )
        } finally {
          // Otherwise no later test would find capacity.
          await kubectl('uncordon', node)
        }
        for (const component of ['mongodb', ...COMPONENTS]) await rollout(component)
      },
    ],
    ['upgrade', upgraded],
    [
      'roll back',
      async () => {
        await inside('helm', ['rollback', RELEASE, '-n', NAMESPACE, '--wait', '--timeout', '8m'])
        // The previous release continues with the data of the next one.
        expect(await stateOfUpgrade()).toMatchObject({ images: [IMAGE], schema: SCHEMA + 1 })
      },
    ],
  ] as const)(
    '%s under load loses nothing',
    async (action, work) => {
      await disrupt(action.replaceAll(' ', '-'), work)
    },
    30 * MINUTE,
  )

  test(
    'while the database is unavailable, clients get temporary errors and keep their connections',
    async () => {
      const each =
        '{range .items[*]}{.metadata.name} {.metadata.uid} {.status.containerStatuses[*].restartCount}{"\\n"}{end}'
      const restarts = async () =>
        (await kubectl('-n', NAMESPACE, 'get', 'pods', '-o', `jsonpath=${each}`)).split('\n').filter(Boolean)
      // Pods that the rollback replaced may still be terminating, and would close connections.
      for (const component of COMPONENTS) await rollout(component)
      await until(async () => (await restarts()).length === COMPONENTS.length + 1, PATIENCE_MS, POLL_MS)
      await untilHttpAnswers()
      const before = await restarts()
      const { cookie } = await logIn()
      const direct = await pods()
      const work = async () => {
        await kubectl('-n', NAMESPACE, 'scale', 'statefulset/postwright-mongodb', '--replicas=0')
        await until(async () => (await podsOf('mongodb')).length === 0, PATIENCE_MS, POLL_MS)
        const refused = await tryInside('swaks', [
          ...['--server', direct.smtp.host, '--port', String(direct.smtp.port), '--tls', '--timeout', '60'],
          ...['--from', 'hello@admin.example', '--to', 'you@inbox.example'],
          ...['--auth', 'PLAIN', '--auth-user', login.username, '--auth-password', login.password],
        ])
        expect(refused.stdout).toMatch(/<\S+\s+4(51|54|21) /)
        expect((await api('GET', '/api/v1/domains', undefined, cookie)).status).toBe(503)
        await kubectl('-n', NAMESPACE, 'scale', 'statefulset/postwright-mongodb', '--replicas=1')
        await rollout('mongodb')
      }
      // While the rules of the node's proxy change, a connection to the address of a Service may reach no pod.
      const row = await disrupt('mongodb-away', work, direct)
      expect(Object.keys(row.refusals).filter(reply => !/ (4\d\d|503)\b/.test(reply))).toEqual([])
      // The database has a new pod; no other pod was restarted or replaced.
      const others = (await restarts()).filter(pod => !pod.startsWith('postwright-mongodb-'))
      expect(others).toHaveLength(COMPONENTS.length)
      expect(before).toEqual(expect.arrayContaining(others))
    },
    30 * MINUTE,
  )

  test(
    'helm uninstall keeps the definitions, the secrets and the data, and a new installation uses them',
    async () => {
      await inside('helm', ['uninstall', RELEASE, '-n', NAMESPACE, '--wait'])
      expect((await kubectl('get', 'crd', '-o', 'name')).match(/\S+postwright\.dev\b/g)).toHaveLength(kinds.length)
      expect(await kubectl('-n', 'team-a', 'get', 'maildomain', '-o', 'name')).toContain('example')
      const kept = await kubectl('-n', NAMESPACE, 'get', 'secret,pvc', '-o', 'name')
      expect(kept.trim().split('\n').sort()).toEqual([
        'persistentvolumeclaim/data-postwright-mongodb-0',
        'secret/postwright-secrets',
        'secret/postwright-tls',
      ])
      await install()
      const { status, cookie } = await logIn()
      expect(status).toBe(200)
      const domains = (await api('GET', '/api/v1/domains', undefined, cookie)).body.data as { name: string }[]
      expect(domains.map(({ name }) => name)).toContain('admin.example')
      await disrupt('installed-again', async () => undefined)
    },
    30 * MINUTE,
  )

  test(
    'deleting the namespace of a team removes its DNS records and all of its resources',
    async () => {
      await kubectl('delete', 'namespace', 'team-a', PATIENCE)
      const dig = ['-n', 'environment', 'exec', 'client', '--', 'kdig', `@${dnsIp}`, '+short']
      expect(await kubectl(...dig, 'TXT', 'sender.example')).not.toContain('v=spf1')
      expect(await kubectl(...dig, 'A', 'www.sender.example')).toBe('192.0.2.80\n')
    },
    7 * MINUTE,
  )

  test(
    'the documented commands undo every resource and remove the installation with its definitions',
    async () => {
      await kubectl('create', 'namespace', 'team-a')
      await apply(await manifest('resources'))
      const ready = [
        '-n',
        'team-a',
        'get',
        'app/example',
        '-o',
        'jsonpath={.status.conditions[?(@.type=="Ready")].reason}',
      ]
      // The Role of the operator was deleted together with the namespace.
      await until(async () => (await kubectl(...ready)) === 'Forbidden', PATIENCE_MS, POLL_MS)
      await helm('upgrade', 'charts/postwright', ...settings())
      await kubectl('-n', 'team-a', 'wait', '--for=condition=Ready', PATIENCE, 'maildomain/example', 'app/example')
      const guide = await readFile('docs/install.md', 'utf8')
      const commands = /^## Uninstalling$.*?```sh\n(.*?)```/ms.exec(guide)?.[1] ?? ''
      expect(commands).toContain('kubectl delete crd')
      await inside('bash', ['-euc', commands.replaceAll('--namespace postwright', `--namespace ${NAMESPACE}`)])
      expect(await kubectl('get', 'crd', '-o', 'name')).not.toContain('postwright.dev')
      expect(await kubectl('-n', NAMESPACE, 'get', 'deployments,statefulsets,jobs', '-o', 'name')).toBe('')
      const dig = ['-n', 'environment', 'exec', 'client', '--', 'kdig', `@${dnsIp}`, '+short']
      expect(await kubectl(...dig, 'TXT', 'sender.example')).not.toContain('v=spf1')
    },
    12 * MINUTE,
  )

  test(
    'resources and definitions of 0.1.0 work after the installation of this release',
    async () => {
      await kubectl('apply', '-f', 'test/operator/fixtures/crds-0.1.0')
      const manifests = (await manifest('resources')).split('\n---\n')
      const before = manifests.filter(text => !text.includes('postwright.dev/v1beta1'))
      expect(before).toHaveLength(manifests.length - 2)
      await kubectl('wait', '--for=condition=Established', PATIENCE, 'crd/maildomains.postwright.dev')
      await apply(before.join('\n---\n'))
      await helm('install', 'charts/postwright', '--take-ownership', '--force-conflicts', ...settings())
      await kubectl(
        ...['-n', 'team-a', 'wait', '--for=condition=Ready', PATIENCE],
        ...['dnsprovider', 'maildomain', 'smtpcredential', 'apitoken', 'app', 'subscriptionplan', 'featureswitch'].map(
          kind => `${kind}/example`,
        ),
      )
      for (const version of ['v1alpha1', 'v1beta1']) {
        const read = ['-n', 'team-a', 'get', `maildomains.${version}.postwright.dev`, 'example', '-o']
        expect(await kubectl(...read, 'jsonpath={.apiVersion} {.spec.domainName}')).toBe(
          `postwright.dev/${version} sender.example`,
        )
      }
      expect(await kubectl('get', 'crd', 'maildomains.postwright.dev', '-o', 'jsonpath={.status.storedVersions}')).toBe(
        '["v1alpha1","v1beta1"]',
      )
    },
    12 * MINUTE,
  )
})

/** The rows as a Markdown table. */
function table(rows: readonly Row[]): string {
  const cell = (value: unknown) =>
    typeof value === 'object' && value !== null
      ? Object.entries(value)
          .map(([key, one]) => `${key}: ${one}`)
          .join(', ')
      : String(value)
  const [first] = rows
  if (!first) return ''
  const lines = [
    Object.keys(first),
    Object.keys(first).map(() => '---'),
    ...rows.map(row => Object.values(row).map(cell)),
  ]
  return `\n${lines.map(line => `| ${line.join(' | ')} |`).join('\n')}\n`
}

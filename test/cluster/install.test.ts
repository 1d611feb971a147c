/**
 * The chart on a real node: install, first message into a real Postfix, and mail under every disruption that a cluster
 * knows. Each disruption ends with the same count: accepted, delivered, lost, twice.
 */
import { X509Certificate } from 'node:crypto'
import { existsSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { until } from '../support/until.ts'
import { apply, cluster, inside, kubectl, noCluster, tryInside } from './cluster.ts'
import { buildAndLoad, IMAGE } from './images.ts'

const RELEASE = 'postwright'
const NAMESPACE = 'mail'
const TSIG = Buffer.from('a secret of the test zone, 32 b!').toString('base64')
const MINUTE = 60_000
const withOperator = existsSync('operator/main.ts')
const [repository = '', tag = ''] = IMAGE.split(':')

describe.skipIf(noCluster)(`on a cluster${noCluster ? ` (skipped: ${noCluster})` : ''}`, () => {
  let dnsIp: string
  let balancer: string
  let login: { username: string; password: string }
  const rows: Record<string, unknown>[] = []

  const manifest = async (name: string) =>
    (await readFile(`test/cluster/manifests/${name}.yaml`, 'utf8')).replaceAll('TSIG_SECRET', TSIG)
  const serviceIp = (namespace: string, name: string) =>
    kubectl('-n', namespace, 'get', 'service', name, '-o', 'jsonpath={.spec.clusterIP}')
  const secret = async (name: string, key: string) =>
    Buffer.from(
      await kubectl('-n', NAMESPACE, 'get', 'secret', name, '-o', `jsonpath={.data.${key.replaceAll('.', '\\.')}}`),
      'base64',
    ).toString()
  const rollout = (kind: string, name: string) =>
    kubectl('-n', NAMESPACE, 'rollout', 'status', `${kind}/${name}`, '--timeout=240s')

  beforeAll(async () => {
    await cluster('up')
    await buildAndLoad()
    await tryInside('helm', ['uninstall', RELEASE, '-n', NAMESPACE, '--wait'])
    await tryInside('kubectl', [
      'delete',
      'namespace',
      NAMESPACE,
      'world',
      'team-a',
      '--ignore-not-found',
      '--timeout=180s',
    ])
    await apply(await manifest('world'))
    dnsIp = await serviceIp('world', 'dns')
    const mxIp = await serviceIp('world', 'mx')
    await apply((await manifest('dns')).replaceAll('DNS_IP', dnsIp).replaceAll('MX_IP', mxIp))
    await kubectl(
      '-n',
      'world',
      'wait',
      '--for=condition=available',
      'deployment/dns',
      'deployment/mx',
      '--timeout=180s',
    )
  }, 20 * MINUTE)

  afterAll(() => {
    if (rows.length > 0) process.stdout.write(`${rows.map(row => JSON.stringify(row)).join('\n')}\n`)
  })

  const settings = (...more: string[]) =>
    [
      `image.repository=${repository}`,
      `image.tag=${tag}`,
      'mailHostname=mail.postwright.example',
      'sendingIp=192.0.2.25',
      'mongodb.mode=trial',
      'mongodb.trial.storage=1Gi',
      ...['panel', 'send', 'admin', 'worker', 'smtp', 'operator'].map(part => `${part}.replicas=1`),
      `operator.enabled=${withOperator}`,
      'operator.watchNamespaces={team-a}',
      'config.DELIVERY_ALLOW_PRIVATE=true',
      'config.DNS_ALLOW_PRIVATE=true',
      `config.DNS_SERVERS=${dnsIp}`,
      ...more,
    ].flatMap(pair => ['--set', pair])

  test(
    'helm install --wait brings everything up',
    async () => {
      await kubectl('create', 'namespace', 'team-a')
      await inside('helm', [
        'install',
        RELEASE,
        'charts/postwright',
        '-n',
        NAMESPACE,
        '--create-namespace',
        '--wait',
        '--timeout',
        '8m',
        ...settings(),
      ])
      const pods = await kubectl('-n', NAMESPACE, 'get', 'pods', '--field-selector=status.phase=Running', '-o', 'name')
      expect(pods.trim().split('\n').length).toBeGreaterThanOrEqual(6)
    },
    10 * MINUTE,
  )

  test(
    'helm test: every API answers, no port relays',
    async () => {
      expect(await inside('helm', ['test', RELEASE, '-n', NAMESPACE, '--timeout', '3m'])).toContain('Succeeded')
    },
    4 * MINUTE,
  )

  test.runIf(withOperator)(
    'a domain, its DNS account and its login become true from resources alone',
    async () => {
      await apply(await manifest('resources'))
      await kubectl(
        '-n',
        'team-a',
        'wait',
        '--for=condition=Ready',
        'dnsprovider/knot',
        'maildomain/sender',
        'smtpcredential/app',
        '--timeout=240s',
      )
      const selector = await kubectl(
        '-n',
        'team-a',
        'get',
        'maildomain',
        'sender',
        '-o',
        'jsonpath={.status.activeSelector}',
      )
      const dig = (type: string, name: string) =>
        kubectl('-n', 'world', 'exec', 'client', '--', 'kdig', `@${dnsIp}`, '+short', type, name)
      expect(await dig('TXT', 'sender.example')).toContain('v=spf1 ip4:192.0.2.25')
      expect(await dig('TXT', `${selector}._domainkey.sender.example`)).toContain('p=')
      expect(await dig('A', 'www.sender.example')).toBe('192.0.2.80\n')
    },
    6 * MINUTE,
  )

  test.runIf(withOperator)(
    'a pod that mounts the Secret sends by the Service name, with the certificate verified',
    async () => {
      await kubectl('-n', 'team-a', 'wait', '--for=condition=Ready', 'pod/app', '--timeout=120s')
      const script =
        'cd /smtp; swaks --server $(cat host) --port $(cat port) --tls --tls-verify --tls-ca-path ca.crt --auth PLAIN --auth-user $(cat username) --auth-password $(cat password) --from app@sender.example --to you@inbox.example --header "Subject: from a pod"'
      expect(await kubectl('-n', 'team-a', 'exec', 'app', '--', 'sh', '-c', script)).toMatch(/250 2\.0\.0 /)
      await until(async () => (await subjects()).includes('from a pod'), MINUTE)
    },
    4 * MINUTE,
  )

  async function api(
    method: string,
    path: string,
    body?: object,
    cookie = '',
  ): Promise<{ status: number; body: Record<string, unknown>; cookie: string }> {
    const ip = await serviceIp(NAMESPACE, 'postwright-panel')
    const output = await inside('curl', [
      '-sS',
      '-i',
      '-X',
      method,
      `http://${ip}${path}`,
      '-H',
      'content-type: application/json',
      '-H',
      'x-csrf: 1',
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

  test(
    'the admin of the made Secret logs in, adds a domain and an SMTP login',
    async () => {
      const [username, password] = await Promise.all([
        secret('postwright-secrets', 'ADMIN_USERNAME'),
        secret('postwright-secrets', 'ADMIN_PASSWORD'),
      ])
      const { status, cookie } = await api('POST', '/api/v1/session', { username, password })
      expect(status).toBe(200)
      const domain = await api('POST', '/api/v1/domains', { name: 'admin.example' }, cookie)
      expect(domain.status).toBe(201)
      expect((await api('POST', `/api/v1/admin/domains/${domain.body.id}/verify`, {}, cookie)).status).toBe(200)
      login = { username: 'load', password: 'a password of the load test' }
      expect((await api('POST', '/api/v1/smtp-credentials', login, cookie)).status).toBe(201)
    },
    MINUTE,
  )

  test(
    'a client reaches the LoadBalancer address with the certificate of the Secret and its message lands in Postfix',
    async () => {
      await until(async () => {
        balancer = await kubectl(
          '-n',
          NAMESPACE,
          'get',
          'service',
          'postwright-smtp',
          '-o',
          'jsonpath={.status.loadBalancer.ingress[0].ip}',
        )
        return balancer !== ''
      }, MINUTE)
      const certificate = await secret('postwright-tls', 'tls.crt')
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
          '--server',
          balancer,
          '--port',
          port,
          tls,
          '--tls-verify',
          '--tls-ca-path',
          file,
          '--auth',
          'PLAIN',
          '--auth-user',
          login.username,
          '--auth-password',
          login.password,
          '--from',
          'hello@admin.example',
          '--to',
          `port-${port}@inbox.example`,
          '--header',
          `Subject: port ${port}`,
        ])
      }
      await until(async () => (await subjects()).filter(subject => subject.startsWith('port ')).length === 4, MINUTE)
    },
    3 * MINUTE,
  )

  /** Subjects of all messages in the receiver's mailbox. */
  async function subjects(): Promise<string[]> {
    const { stdout } = await tryInside('kubectl', [
      '-n',
      'world',
      'exec',
      'deploy/mx',
      '--',
      'sh',
      '-c',
      "grep -rhi '^Subject:' /var/mail/virtual || true",
    ])
    return stdout.split('\n').flatMap(line => (line ? [line.replace(/^Subject: /i, '').trim()] : []))
  }

  test(
    'every delivered message carries a DKIM signature of its domain',
    async () => {
      const signed = await inside('kubectl', [
        '-n',
        'world',
        'exec',
        'deploy/mx',
        '--',
        'sh',
        '-c',
        "grep -rlE '^DKIM-Signature:.*' /var/mail/virtual | wc -l",
      ])
      expect(Number(signed)).toBe((await subjects()).length)
    },
    MINUTE,
  )

  /** Load before, during and after a disruption; then everything accepted must arrive, each once. */
  async function disrupt(name: string, count: number, action: () => Promise<unknown>): Promise<void> {
    const load = inside('node', [
      'test/cluster/load.ts',
      balancer,
      '587',
      login.username,
      login.password,
      'load@admin.example',
      'load@inbox.example',
      String(count),
      name,
    ])
    await until(async () => (await subjects()).some(subject => subject.startsWith(`${name}-`)), MINUTE)
    await action()
    const result = JSON.parse(await load) as { accepted: number; refusals: number; longestPauseMs: number }
    const mine = async () => (await subjects()).filter(subject => subject.startsWith(`${name}-`))
    await until(async () => new Set(await mine()).size >= result.accepted, 4 * MINUTE).catch(() => undefined)
    const arrived = await mine()
    const row = {
      action: name,
      ...result,
      delivered: new Set(arrived).size,
      twice: arrived.length - new Set(arrived).size,
      lost: result.accepted - new Set(arrived).size,
    }
    rows.push(row)
    expect(row).toMatchObject({ accepted: count, lost: 0 })
  }

  test.each([
    [
      'scale-smtp',
      1500,
      async () => {
        await kubectl('-n', NAMESPACE, 'scale', 'statefulset/postwright-smtp', '--replicas=3')
        await rollout('statefulset', 'postwright-smtp')
        await kubectl('-n', NAMESPACE, 'scale', 'statefulset/postwright-smtp', '--replicas=1')
      },
    ],
    [
      'scale-workers',
      1500,
      async () => {
        await kubectl('-n', NAMESPACE, 'scale', 'deployment/postwright-worker', '--replicas=3')
        await rollout('deployment', 'postwright-worker')
        await kubectl('-n', NAMESPACE, 'scale', 'deployment/postwright-worker', '--replicas=1')
      },
    ],
    [
      'kill-smtp',
      1000,
      () => kubectl('-n', NAMESPACE, 'delete', 'pod', 'postwright-smtp-0', '--grace-period=0', '--force'),
    ],
    [
      'kill-worker',
      1000,
      () =>
        kubectl(
          '-n',
          NAMESPACE,
          'delete',
          'pod',
          '-l',
          'app.kubernetes.io/component=worker',
          '--grace-period=0',
          '--force',
        ),
    ],
    [
      'restart-mongodb',
      1000,
      async () => {
        await kubectl('-n', NAMESPACE, 'delete', 'pod', 'postwright-mongodb-0')
        await rollout('statefulset', 'postwright-mongodb')
      },
    ],
    [
      'upgrade-and-roll-back',
      1500,
      async () => {
        await inside('helm', [
          'upgrade',
          RELEASE,
          'charts/postwright',
          '-n',
          NAMESPACE,
          '--wait',
          '--timeout',
          '6m',
          ...settings('podAnnotations.upgraded=yes'),
        ])
        await inside('helm', ['rollback', RELEASE, '-n', NAMESPACE, '--wait', '--timeout', '6m'])
      },
    ],
  ] as const)('%s under load loses nothing', (name, count, action) => disrupt(name, count, action), 12 * MINUTE)

  test(
    'while the database is away clients are told to try again, and nobody is cut off',
    async () => {
      await kubectl('-n', NAMESPACE, 'scale', 'statefulset/postwright-mongodb', '--replicas=0')
      await kubectl('-n', NAMESPACE, 'wait', '--for=delete', 'pod/postwright-mongodb-0', '--timeout=120s')
      const refused = await tryInside('swaks', [
        '--server',
        balancer,
        '--port',
        '587',
        '--tls',
        '--auth',
        'PLAIN',
        '--auth-user',
        login.username,
        '--auth-password',
        login.password,
        '--from',
        'hello@admin.example',
        '--to',
        'you@inbox.example',
      ])
      expect(refused.stdout).toMatch(/<\S+\s+4(51|54|21) /)
      expect((await api('GET', '/api/v1/domains', undefined, 'pw_session=x')).status).toBe(503)
      await kubectl('-n', NAMESPACE, 'scale', 'statefulset/postwright-mongodb', '--replicas=1')
      await rollout('statefulset', 'postwright-mongodb')
      await disrupt('after-the-database', 50, async () => undefined)
    },
    8 * MINUTE,
  )

  test(
    'helm uninstall keeps the definitions, the secrets and the data',
    async () => {
      await inside('helm', ['uninstall', RELEASE, '-n', NAMESPACE, '--wait'])
      expect(
        (await kubectl('get', 'crd', '-o', 'name')).split('\n').filter(name => name.endsWith('postwright.dev')),
      ).toHaveLength(7)
      expect(
        await kubectl('-n', NAMESPACE, 'get', 'secret', 'postwright-secrets', 'postwright-tls', '-o', 'name'),
      ).toContain('postwright-secrets')
      expect(await kubectl('-n', NAMESPACE, 'get', 'pvc', '-o', 'name')).toContain('data-postwright-mongodb-0')
    },
    4 * MINUTE,
  )
})

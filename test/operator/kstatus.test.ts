/** What GitOps tools see: the verdicts of kstatus (Flux, Helm 4) and of our script for Argo CD about real MailDomains. */
import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { parse } from 'yaml'
import { createDnsDeps } from '../../services/mail/dns/dns-context.ts'
import { checkDueDomains } from '../../services/mail/domains/checks/dns-check-job.ts'
import { dnsChecks } from '../../services/mail/domains/store/domain-model.ts'
import { ensureIndexes } from '../../services/platform/database/mongo.ts'
import { giveDomain, giveUser } from '../support/accounts/accounts-and-domains.ts'
import { sharedMongoUri } from '../support/database/test-database.ts'
import { type DnsServer, startDnsServer } from '../support/dns/authoritative-servers.ts'
import { type Recursor, startRecursor } from '../support/dns/recursor.ts'
import { onApiServer, sharedApiServer } from '../support/kubernetes/apiserver-shared.ts'
import { argoHealth, CUSTOMIZATIONS, type Health } from '../support/kubernetes/argo-health.ts'
import { extraNamespace } from '../support/kubernetes/clients-and-crds.ts'
import { type KStatus, kstatusOf } from '../support/kubernetes/kstatus.ts'
import { writeKubeconfig } from '../support/kubernetes/kubeconfig.ts'
import { type OperatorUnderTest, operatorUnderTest, type Seen } from '../support/kubernetes/operator-under-test.ts'
import { kubectlProgram } from '../support/programs/programs.ts'
import { until } from '../support/time/until.ts'

const run = promisify(execFile)
const ZONES = ['guide.test', 'ready.test', 'refused.test', 'waiting.test', 'changed.test']
const managed = (domainName: string) => ({
  domainName,
  dns: { managementPolicy: 'Manage', providerRef: { name: 'knot' } },
})

describe('kstatus', () => {
  const condition = (type: string, status: string) => ({
    type,
    status,
    reason: 'R',
    message: '',
    lastTransitionTime: '',
  })
  const seen = (status: object | undefined, metadata: object = {}) =>
    ({ metadata: { generation: 2, ...metadata }, ...(status ? { status } : {}) }) as unknown as Seen
  const at = (observedGeneration: number, ...conditions: object[]) => seen({ observedGeneration, conditions })
  test.each<[string, Seen, KStatus]>([
    ['without a status is current, which the default of the CRD prevents', seen(undefined), 'Current'],
    ['with the default of the CRD', seen({ observedGeneration: -1 }), 'InProgress'],
    ['of an older generation', at(1, condition('Ready', 'True')), 'InProgress'],
    ['that is ready', at(2, condition('Ready', 'True')), 'Current'],
    ['that is not ready', at(2, condition('Ready', 'False')), 'InProgress'],
    ['that is reconciling', at(2, condition('Ready', 'True'), condition('Reconciling', 'True')), 'InProgress'],
    ['that is stalled', at(2, condition('Ready', 'False'), condition('Stalled', 'True')), 'Failed'],
    ['that is not stalled', at(2, condition('Ready', 'True'), condition('Stalled', 'False')), 'Current'],
    ['that is deleted', seen(undefined, { deletionTimestamp: 'now' }), 'Terminating'],
  ])('of a resource %s', (_what, resource, verdict) => {
    expect(kstatusOf(resource)).toBe(verdict)
  })
})

describe('the script for Argo CD', () => {
  interface Case {
    healthStatus: Health
    inputPath: string
  }
  const read = async (path: string) => readFile(join(CUSTOMIZATIONS, path), 'utf8')

  test('gives the health that its test file lists', async () => {
    const { tests } = parse(await read('health_test.yaml')) as { tests: Case[] }
    const inputs = await Promise.all(tests.map(async ({ inputPath }) => parse(await read(inputPath)) as object))
    expect(await argoHealth(inputs)).toEqual(tests.map(({ healthStatus }) => healthStatus))
    expect(new Set(tests.map(({ healthStatus }) => healthStatus.status))).toEqual(
      new Set(['Progressing', 'Healthy', 'Degraded', 'Suspended']),
    )
  })

  test('is the one in the patch of argocd-cm', async () => {
    const patch = parse(await readFile('docs/gitops/argo-cd/argocd-cm.yaml', 'utf8')) as {
      data: Record<string, string>
    }
    expect(Object.keys(patch.data)).toEqual(['resource.customizations'])
    expect(parse(patch.data['resource.customizations'] ?? '')).toEqual({
      'postwright.dev/*': { 'health.lua': await read('health.lua') },
    })
  })
})

onApiServer('MailDomains in GitOps', () => {
  let knot: DnsServer
  let recursor: Recursor
  beforeAll(async () => {
    const mail = { name: 'postwright.test', lines: ['mail IN A 192.0.2.25'] }
    const zones = ZONES.map(name => ({
      name,
      lines: name === 'refused.test' ? ['_dmarc IN CNAME other.test.'] : ['www IN A 192.0.2.80'],
    }))
    knot = await startDnsServer('knot', [...zones, mail])
    recursor = await startRecursor([...ZONES, mail.name].map(name => ({ name, port: knot.port })))
  })
  afterAll(async () => {
    await recursor?.stop()
    await knot?.stop()
  })

  const start = async () => {
    const config = { DNS_SERVERS: recursor.address, DNS_PORT: String(knot.port), DNS_ALLOW_PRIVATE: 'true' }
    const operator = await operatorUnderTest({ server: sharedApiServer(), mongoUri: sharedMongoUri(), config })
    await ensureIndexes(operator.mongo.db, [dnsChecks])
    await operator.admin.request({
      method: 'POST',
      path: `/api/v1/namespaces/${operator.namespace}/secrets`,
      body: {
        apiVersion: 'v1',
        kind: 'Secret',
        metadata: { name: 'dns' },
        stringData: { key_secret: knot.key.secret },
      },
    })
    await operator.apply('DNSProvider', 'knot', {
      type: 'rfc2136',
      secretRef: { name: 'dns' },
      rfc2136: { server: `127.0.0.1:${knot.port}`, keyName: knot.key.name },
    })
    await operator.condition('DNSProvider', 'knot', 'Ready', 'True')
    return operator
  }
  /** Replaces the worker: checks the domains that are due, as its job does. */
  const work = (operator: OperatorUnderTest) =>
    checkDueDomains(createDnsDeps(operator.foundation), {
      signal: new AbortController().signal,
      touch: async () => undefined,
    })
  /** The resource once Ready has this reason for its current generation. */
  const withReason = async (operator: OperatorUnderTest, name: string, reason: string): Promise<Seen> => {
    let last: Seen | undefined
    await until(async () => {
      last = await operator.get('MailDomain', name)
      const ready = last?.status?.conditions?.find(({ type }) => type === 'Ready')
      return last?.status?.observedGeneration === last?.metadata.generation && ready?.reason === reason
    }, 20_000).catch(() => {
      throw new Error(`${name} has no reason ${reason}: ${JSON.stringify(last?.status, null, 1)}`)
    })
    if (!last) throw new Error(`${name} is gone`)
    return last
  }
  const applied = async (operator: OperatorUnderTest, name: string, spec: object, reason: string, metadata = {}) => {
    await operator.apply('MailDomain', name, spec, metadata)
    return withReason(operator, name, reason)
  }

  test('the commands of the guide wait for what they name', { timeout: 240_000 }, async () => {
    const operator = await start()
    await operator.apply('MailDomain', 'ready', managed('guide.test'))
    await operator.condition('MailDomain', 'ready', 'DNSSynced', 'True')
    await until(async () => {
      await work(operator)
      const ready = await operator.get('MailDomain', 'ready')
      return ready?.status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') ?? false
    }, 20_000)
    await applied(operator, 'refused', managed('refused.test'), 'Conflict')

    const guide = await readFile('docs/gitops/README.md', 'utf8')
    const lines = [...guide.matchAll(/^kubectl .*$/gm)].map(([line]) => line)
    const one = (pattern: RegExp) => {
      const found = lines.filter(line => pattern.test(line))
      if (found.length !== 1) throw new Error(`the guide has ${found.length} lines with ${pattern}`)
      return String(found[0])
    }
    const folder = await mkdtemp(join(tmpdir(), 'pw-guide-'))
    onTestFinished(() => rm(folder, { recursive: true, force: true }))
    await writeKubeconfig(folder, sharedApiServer(), sharedApiServer().admin)
    const shell = async (line: string, name: string) => {
      const command = line
        .replace('-n shop', `-n ${operator.namespace}`)
        .replace('maildomain/shop', `maildomain/${name}`)
        .replace('maildomain shop', `maildomain ${name}`)
      const path = `${dirname(kubectlProgram())}:${process.env.PATH}`
      const env = { ...process.env, KUBECONFIG: join(folder, 'kubeconfig'), KUBECACHEDIR: folder, PATH: path }
      return (await run('bash', ['-c', command], { env })).stdout
    }
    expect(await shell(one(/condition=Ready/), 'ready')).toContain('maildomain.postwright.dev/ready condition met')
    expect(await shell(one(/condition=Stalled/), 'refused')).toContain(
      'maildomain.postwright.dev/refused condition met',
    )
    const never = one(/condition=Stalled/).replace('--timeout=1m', '--timeout=1s')
    await expect(shell(never, 'ready')).rejects.toThrow('timed out waiting for the condition')
    expect(await shell(one(/get maildomain shop .*jsonpath/), 'refused')).toContain('_dmarc.refused.test is a CNAME')
    expect(await shell(one(/get postwright-all/), '')).toMatch(
      new RegExp(`${operator.namespace} +maildomain.postwright.dev/ready .*True`),
    )
    await shell(one(/reconcile=paused/), 'ready')
    await withReason(operator, 'ready', 'Paused')
    await shell(one(/reconcile-/), 'ready')
    await operator.condition('MailDomain', 'ready', 'Ready', 'True')
  })

  test('every state has the verdict that its users expect', async () => {
    const operator = await start()
    const { db } = operator.mongo
    const states: [string, Seen, KStatus, Health['status'] | undefined][] = []
    const add = (what: string, seen: Seen, verdict: KStatus, health?: Health['status']) =>
      void states.push([what, seen, verdict, health])

    const elsewhere = await extraNamespace(sharedApiServer())
    const unseen = await operator.apply('MailDomain', 'new', { domainName: 'new.test' }, {}, elsewhere)
    add('new, not seen by the operator', unseen, 'InProgress', 'Progressing')

    const observed = await applied(operator, 'waiting', { domainName: 'waiting.test' }, 'Progressing')
    add('not checked yet', observed, 'InProgress', 'Progressing')
    await db.collection('domains').updateMany({}, { $set: { next_check_at: operator.clock.now() } })
    await work(operator)
    add('waits for DNS', await withReason(operator, 'waiting', 'Guidance'), 'InProgress', 'Progressing')

    const noProvider = { managementPolicy: 'Manage', providerRef: { name: 'none' } }
    const dependent = await applied(
      operator,
      'dependent',
      { domainName: 'a.test', dns: noProvider },
      'DependencyNotReady',
    )
    add('waits for its DNSProvider', dependent, 'InProgress', 'Progressing')

    await operator.apply('MailDomain', 'ready', managed('ready.test'))
    await operator.condition('MailDomain', 'ready', 'DNSSynced', 'True')
    await until(async () => {
      await work(operator)
      const ready = await operator.get('MailDomain', 'ready')
      return ready?.status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') ?? false
    }, 20_000)
    add('verified', await operator.condition('MailDomain', 'ready', 'Ready', 'True'), 'Current', 'Healthy')

    const conflict = await applied(operator, 'refused', managed('refused.test'), 'Conflict')
    add('a record of another owner', conflict, 'Failed', 'Degraded')

    const other = await giveUser(db, { username: 'other' })
    await giveDomain(db, other._id, 'taken.test')
    const taken = await applied(
      operator,
      'taken',
      { domainName: 'taken.test', owner: { username: 'other' } },
      'OwnerNotAllowed',
    )
    add('another account that the Namespace does not list', taken, 'Failed', 'Degraded')

    const suspended = await applied(operator, 'suspended', { domainName: 'b.test', suspended: true }, 'Suspended')
    add('suspended', suspended, 'Failed', 'Suspended')

    for (const value of ['paused', 'disabled']) {
      const annotations = { 'postwright.dev/reconcile': value }
      const paused = await applied(operator, value, { domainName: `${value}.test` }, 'Paused', { annotations })
      add(`reconcile: ${value}`, paused, 'Failed', 'Suspended')
    }

    const changing = await applied(operator, 'changed', managed('changed.test'), 'Progressing')
    await operator.running.stop()
    const changed = await operator.apply('MailDomain', 'changed', { ...managed('changed.test'), suspended: true })
    expect(changed.metadata.generation).toBe((changing.metadata.generation ?? 0) + 1)
    add('changed while no operator runs', changed, 'InProgress', 'Progressing')

    await operator.remove('MailDomain', 'ready')
    const deleted = await operator.get('MailDomain', 'ready')
    if (!deleted) throw new Error('deleted without the operator')
    add('deleted, and not undone yet', deleted, 'Terminating')

    expect(states.map(([what, seen]) => [what, kstatusOf(seen)])).toEqual(
      states.map(([what, , verdict]) => [what, verdict]),
    )
    // Argo CD decides about deleted resources before it runs a script.
    const scripted = states.filter(([, , , health]) => health)
    const health = await argoHealth(scripted.map(([, seen]) => seen))
    expect(health.map(({ status }, index) => [scripted[index]?.[0], status])).toEqual(
      scripted.map(([what, , , status]) => [what, status]),
    )
    // What is present is True, and never both.
    for (const [what, { status }] of states) {
      const progress = (status?.conditions ?? []).filter(({ type }) => type === 'Reconciling' || type === 'Stalled')
      expect([what, progress.every(({ status: is }) => is === 'True')]).toEqual([what, true])
      expect([what, progress.length]).toEqual([what, progress.length > 1 ? 1 : progress.length])
    }
  })
})

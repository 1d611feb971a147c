/** The verdicts of kstatus (Flux, Helm 4) and of our script for Argo CD about waiting, refused and ready objects of each kind. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { secretsPath } from '../../operator/kube/object-paths.ts'
import { kinds } from '../../operator/resources/kinds.ts'
import { createApp } from '../../services/subscriptions/catalogue/manage-apps.ts'
import { createPlan } from '../../services/subscriptions/catalogue/manage-plans.ts'
import { mergePlan } from '../../services/subscriptions/catalogue/rules/plan.ts'
import { openSubscriptions, systemActor } from '../../services/subscriptions/context.ts'
import { sharedMongoUri } from '../support/database/test-database.ts'
import { type DnsServer, startDnsServer } from '../support/dns/authoritative-servers.ts'
import { type ApiServer, startApiServer } from '../support/kubernetes/apiserver.ts'
import { onApiServer } from '../support/kubernetes/apiserver-shared.ts'
import { argoHealth } from '../support/kubernetes/argo-health.ts'
import { adminClient, installCrds } from '../support/kubernetes/clients-and-crds.ts'
import { kstatusOf } from '../support/kubernetes/kstatus.ts'
import { type OperatorUnderTest, operatorUnderTest, type Seen } from '../support/kubernetes/operator-under-test.ts'
import { until } from '../support/time/until.ts'

/** Makes a spec; `own` is the namespace of the operator. */
type MakeSpec = (own: string) => object
/** A spec, and the reason of its first condition. */
type Case = [spec: MakeSpec, reason: string]

onApiServer('states of all kinds', () => {
  let server: ApiServer
  let knot: DnsServer
  beforeAll(async () => {
    // One of its own, because the operator watches all namespaces for the kinds of the cluster.
    server = await startApiServer(() => undefined)
    const admin = adminClient(server)
    await installCrds(admin)
    await admin.close()
    knot = await startDnsServer('knot', [{ name: 'kinds.test', lines: [] }])
  }, 300_000)
  afterAll(async () => {
    await knot?.stop()
    await server?.stop()
  })

  const giveSecret = (operator: OperatorUnderTest, namespace: string, name: string, key_secret: string) =>
    operator.admin.request({
      method: 'POST',
      path: secretsPath(namespace),
      body: { apiVersion: 'v1', kind: 'Secret', metadata: { name }, stringData: { key_secret } },
    })
  const providerSpec = (secret: string, more: object = {}) => ({
    type: 'rfc2136',
    secretRef: { name: secret },
    rfc2136: { server: `127.0.0.1:${knot.port}`, keyName: knot.key.name, zone: 'kinds.test' },
    ...more,
  })
  /** `namespace`: that of the operator, which has the Secrets of these. */
  const sharedProvider = (name: string, namespace: string) =>
    providerSpec(name, {
      secretRef: { name, namespace },
      allowedNamespaces: { names: ['shop'] },
      allowedDomains: ['kinds.test'],
    })
  const url = 'https://hooks.example.com/mail'
  const key = (name: string) => `${name}-${process.pid}`

  /** By kind: a spec that waits with its reason, one that is refused with its reason, and one that becomes ready. */
  const cases: Record<string, { waiting: Case; refused: Case; ready?: MakeSpec }> = {
    DNSProvider: {
      waiting: [() => providerSpec('absent'), 'SecretNotFound'],
      refused: [() => providerSpec('wrong-key'), 'AuthFailed'],
      ready: () => providerSpec('key'),
    },
    ClusterDNSProvider: {
      waiting: [own => sharedProvider('absent', own), 'SecretNotFound'],
      refused: [own => sharedProvider('wrong-key', own), 'AuthFailed'],
      ready: own => sharedProvider('key', own),
    },
    MailDomain: {
      waiting: [() => ({ domainName: 'waits.example' }), 'Progressing'],
      refused: [() => ({ domainName: 'b.example', owner: { username: 'stranger' } }), 'OwnerNotAllowed'],
      // Its ready states are in kstatus.test.ts.
    },
    SMTPCredential: {
      waiting: [() => ({ domainRef: { name: 'absent' } }), 'DependencyNotReady'],
      refused: [() => ({ domainRef: { name: 'mail' }, allowedSenders: ['a@other.example'] }), 'InvalidSpec'],
      ready: () => ({ domainRef: { name: 'mail' } }),
    },
    APIToken: {
      waiting: [() => ({ domainRef: { name: 'absent' } }), 'DependencyNotReady'],
      refused: [() => ({ domainRef: { name: 'mail' }, secret: { name: 'wrong-key' } }), 'Conflict'],
      ready: () => ({ domainRef: { name: 'mail' } }),
    },
    App: {
      waiting: [() => ({ appKey: key('waits'), appName: 'Waits', mailFrom: 'a@waits.example' }), 'DomainNotUsable'],
      refused: [() => ({ appKey: key('taken'), appName: 'Mine now' }), 'Conflict'],
      ready: () => ({ appKey: key('ready'), appName: 'Ready' }),
    },
    SubscriptionPlan: {
      waiting: [() => ({ appRef: { name: 'absent' }, name: 'Pro', price: '1', durationDays: 1 }), 'DependencyNotReady'],
      refused: [() => ({ appRef: { name: 'shop' }, name: 'Taken', price: '1', durationDays: 1 }), 'Conflict'],
      ready: () => ({ appRef: { name: 'shop' }, name: 'Pro', price: '1', durationDays: 1 }),
    },
    FeatureSwitch: {
      waiting: [() => ({ appRef: { name: 'absent' }, name: 'x', value: '1' }), 'DependencyNotReady'],
      refused: [() => ({ appRef: { name: 'shop' }, name: 'x', type: 'json', value: '{"a":[}' }), 'InvalidSpec'],
      ready: () => ({ appRef: { name: 'shop' }, name: 'y', value: '1' }),
    },
    Template: {
      waiting: [
        () => ({ subject: 'x', textFrom: { configMapKeyRef: { name: 'absent', key: 'text' } } }),
        'ConfigMapNotFound',
      ],
      refused: [() => ({ subject: 'Hello {{ name', text: 'x' }), 'InvalidSpec'],
      ready: () => ({ subject: 'x', text: 'x' }),
    },
    WebhookEndpoint: {
      waiting: [() => ({ url, domainRefs: [{ name: 'absent' }] }), 'DependencyNotReady'],
      refused: [() => ({ url, secret: { name: 'wrong-key' } }), 'Conflict'],
      ready: () => ({ url }),
    },
  }

  test('each kind has its cases', () => {
    expect(Object.keys(cases).toSorted()).toEqual(kinds.map(({ kind }) => kind).toSorted())
  })

  test('a waiting object is in progress, a refused one has failed, a ready one is current', async () => {
    const config = { DNS_ALLOW_PRIVATE: 'true' }
    const mongoUri = sharedMongoUri()
    const operator = await operatorUnderTest({ server, mongoUri, config, allNamespaces: true })
    const subscriptions = openSubscriptions(operator.foundation)
    // Secrets of a ClusterDNSProvider are in the namespace of the operator.
    const own = `${operator.namespace}-operator`
    for (const namespace of [operator.namespace, own]) {
      await giveSecret(operator, namespace, 'wrong-key', Buffer.from('another key').toString('base64'))
      await giveSecret(operator, namespace, 'key', knot.key.secret)
    }
    const taken = { app_name: key('Taken'), app_description: '', status: '1' as const }
    await createApp(subscriptions, systemActor, taken, { appKey: key('taken') })
    await operator.apply('MailDomain', 'mail', { domainName: 'mail.example' })
    await operator.condition('MailDomain', 'mail', 'Accepted', 'True')
    await operator.apply('App', 'shop', { appKey: key('shop'), appName: key('Shop') })
    await operator.condition('App', 'shop', 'Ready', 'True')
    const plan = mergePlan(undefined, { name: 'Taken', price: 1, duration: 30 })
    await createPlan(subscriptions, systemActor, key('shop'), plan)

    const withReason = async (kind: string, name: string, reason: string): Promise<Seen> => {
      let last: Seen | undefined
      await until(async () => {
        last = await operator.get(kind, name)
        return last?.status?.conditions?.[0]?.reason === reason
      }, 20_000).catch(() => {
        throw new Error(`${kind} ${name} has no reason ${reason}: ${JSON.stringify(last?.status, null, 1)}`)
      })
      return last as Seen
    }
    const seen: [what: string, resource: Seen][] = []
    for (const [kind, { waiting, refused, ready }] of Object.entries(cases)) {
      await operator.apply(kind, 'waiting', waiting[0](own))
      await operator.apply(kind, 'refused', refused[0](own))
      seen.push([`${kind} waiting`, await withReason(kind, 'waiting', waiting[1])])
      seen.push([`${kind} refused`, await withReason(kind, 'refused', refused[1])])
      if (!ready) continue
      await operator.apply(kind, 'ready', ready(own))
      seen.push([`${kind} ready`, await operator.condition(kind, 'ready', 'Ready', 'True')])
    }
    const health = await argoHealth(seen.map(([, resource]) => resource))
    const verdicts = seen.map(([what, resource], n) => `${what}: ${kstatusOf(resource)} ${health[n]?.status}`)
    expect(verdicts).toEqual(
      Object.entries(cases).flatMap(([kind, { ready }]) => [
        `${kind} waiting: InProgress Progressing`,
        `${kind} refused: Failed Degraded`,
        ...(ready ? [`${kind} ready: Current Healthy`] : []),
      ]),
    )
  }, 240_000)
})

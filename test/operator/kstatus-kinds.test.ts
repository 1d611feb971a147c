/** The verdicts of kstatus (Flux, Helm 4) and of our script for Argo CD about a waiting and a refused object of each kind. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createApp } from '../../services/subscriptions/catalogue/manage-apps.ts'
import { createPlan } from '../../services/subscriptions/catalogue/manage-plans.ts'
import { mergePlan } from '../../services/subscriptions/catalogue/rules/plan.ts'
import { openSubscriptions, systemActor } from '../../services/subscriptions/context.ts'
import { sharedMongoUri } from '../support/database/test-database.ts'
import { type DnsServer, startDnsServer } from '../support/dns/authoritative-servers.ts'
import { onApiServer, sharedApiServer } from '../support/kubernetes/apiserver-shared.ts'
import { argoHealth } from '../support/kubernetes/argo-health.ts'
import { kstatusOf } from '../support/kubernetes/kstatus.ts'
import { type OperatorUnderTest, operatorUnderTest, type Seen } from '../support/kubernetes/operator-under-test.ts'
import { until } from '../support/time/until.ts'

onApiServer('states of all kinds', () => {
  let knot: DnsServer
  beforeAll(async () => {
    knot = await startDnsServer('knot', [{ name: 'kinds.test', lines: [] }])
  })
  afterAll(() => knot?.stop())

  const giveSecret = (operator: OperatorUnderTest, name: string, key_secret: string) =>
    operator.admin.request({
      method: 'POST',
      path: `/api/v1/namespaces/${operator.namespace}/secrets`,
      body: { apiVersion: 'v1', kind: 'Secret', metadata: { name }, stringData: { key_secret } },
    })
  const providerSpec = (secret: string) => ({
    type: 'rfc2136',
    secretRef: { name: secret },
    rfc2136: { server: `127.0.0.1:${knot.port}`, keyName: knot.key.name, zone: 'kinds.test' },
  })
  const key = (name: string) => `${name}-${process.pid}`

  /** By kind: a spec that waits with its reason, and one that is refused with its reason. */
  const cases: Record<string, { waiting: [() => object, string]; refused: [() => object, string] }> = {
    DNSProvider: {
      waiting: [() => providerSpec('absent'), 'SecretNotFound'],
      refused: [() => providerSpec('wrong-key'), 'AuthFailed'],
    },
    MailDomain: {
      waiting: [() => ({ domainName: 'waits.example' }), 'Progressing'],
      refused: [() => ({ domainName: 'b.example', owner: { username: 'stranger' } }), 'OwnerNotAllowed'],
    },
    SMTPCredential: {
      waiting: [() => ({ domainRef: { name: 'absent' } }), 'DependencyNotReady'],
      refused: [() => ({ domainRef: { name: 'mail' }, allowedSenders: ['a@other.example'] }), 'InvalidSpec'],
    },
    APIToken: {
      waiting: [() => ({ domainRef: { name: 'absent' } }), 'DependencyNotReady'],
      refused: [() => ({ domainRef: { name: 'mail' }, secret: { name: 'wrong-key' } }), 'Conflict'],
    },
    App: {
      waiting: [() => ({ appKey: key('waits'), appName: 'Waits', mailFrom: 'a@waits.example' }), 'DomainNotUsable'],
      refused: [() => ({ appKey: key('taken'), appName: 'Mine now' }), 'Conflict'],
    },
    SubscriptionPlan: {
      waiting: [() => ({ appRef: { name: 'absent' }, name: 'Pro', price: '1', durationDays: 1 }), 'DependencyNotReady'],
      refused: [() => ({ appRef: { name: 'shop' }, name: 'Taken', price: '1', durationDays: 1 }), 'Conflict'],
    },
    FeatureSwitch: {
      waiting: [() => ({ appRef: { name: 'absent' }, name: 'x', value: '1' }), 'DependencyNotReady'],
      refused: [() => ({ appRef: { name: 'shop' }, name: 'x', type: 'json', value: '{"a":[}' }), 'InvalidSpec'],
    },
  }

  test('a waiting object is in progress, and a refused one has failed', { timeout: 120_000 }, async () => {
    const config = { DNS_ALLOW_PRIVATE: 'true' }
    const operator = await operatorUnderTest({ server: sharedApiServer(), mongoUri: sharedMongoUri(), config })
    const subscriptions = openSubscriptions(operator.foundation)
    await giveSecret(operator, 'wrong-key', Buffer.from('another key').toString('base64'))
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
    for (const [kind, { waiting, refused }] of Object.entries(cases)) {
      await operator.apply(kind, 'waiting', waiting[0]())
      await operator.apply(kind, 'refused', refused[0]())
      seen.push([`${kind} waiting`, await withReason(kind, 'waiting', waiting[1])])
      seen.push([`${kind} refused`, await withReason(kind, 'refused', refused[1])])
    }
    const health = await argoHealth(seen.map(([, resource]) => resource))
    const verdicts = seen.map(([what, resource], n) => `${what}: ${kstatusOf(resource)} ${health[n]?.status}`)
    expect(verdicts).toEqual(
      Object.keys(cases).flatMap(kind => [
        `${kind} waiting: InProgress Progressing`,
        `${kind} refused: Failed Degraded`,
      ]),
    )
  })
})

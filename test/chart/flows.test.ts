/**
 * Which process may connect to which. The table below is compared with the rendered NetworkPolicies for all pairs of ends
 * on every port: what it does not contain must be denied.
 */
import { expect, test } from 'vitest'
import { type End, isAllowed, type PolicyPod } from '../support/kubernetes/network-policy.ts'
import { LEAST, type Manifest, renderChart } from '../support/kubernetes/render-chart.ts'

/** The value sets under test: open to all namespaces with the trial database, and as restricted as possible. */
const OPEN = [
  ...LEAST,
  '--set',
  'secrets.existingSecret=',
  '--set',
  'bounceDomain=bounces.example.com',
  '--set',
  'compat.enabled=true',
]
const CLOSED = [
  ...['-f', 'charts/postwright/ci/production-values.yaml'],
  ...['--set', 'tls.mode=selfSigned', '--set', 'tls.certManager.issuerRef.name='],
]

const WEB = 3025
const ADMIN = 3026
const COMPAT = 3027
const METRICS = 9464
const SMTP = [2525, 2587, 2465]
const INBOUND = 2526
const MONGO = 27017
const DNS = 53
const API = [443, 6443]
/** Every port in the tables, and some that no policy may open. */
const PORTS = [WEB, ADMIN, COMPAT, METRICS, ...SMTP, INBOUND, MONGO, DNS, ...API, 22, 25, 80, 465, 587, 8080]

const outside: Record<string, End> = {
  internet: { address: '203.0.113.7' },
  'internet (IPv6)': { address: '2001:db8::7' },
  'database network': { address: '10.1.2.3' },
  'cloud metadata': { address: '169.254.169.254' },
  'cloud metadata (IPv6)': { address: 'fd00:ec2::254' },
  'ingress controller': { namespace: 'ingress-nginx', labels: { app: 'controller' }, ports: {} },
  prometheus: { namespace: 'monitoring', labels: { app: 'prometheus' }, ports: {} },
  'foreign pod': { namespace: 'team-a', labels: { app: 'stranger' }, ports: { http: WEB, mongodb: MONGO } },
  'pod in the same namespace': {
    namespace: 'mail',
    labels: { app: 'neighbour' },
    ports: { http: WEB, mongodb: MONGO },
  },
}
const OUTSIDE = Object.keys(outside)
const INTERNET = ['internet', 'internet (IPv6)', 'database network']
const OURS = ['panel', 'send', 'admin', 'compat', 'smtp', 'inbound', 'worker', 'operator']

type Rows = [from: string[], to: string[], ports: number[]][]
/** Sources, destinations and ports. DNS is in every set: resolvers and the servers of all domains. */
const names: Rows = [[[...OURS, 'mongodb', 'test', 'bootstrap'], OUTSIDE, [DNS]]]
const everywhere: Rows = [
  ...names,
  [['panel', 'worker', 'compat'], INTERNET, [443]],
  [['compat'], INTERNET, [80]],
  [['operator', 'bootstrap'], INTERNET, API],
  [['worker'], INTERNET, [25, 465, 587]],
]
const open: Rows = [
  ...everywhere,
  [OURS, ['mongodb'], [MONGO]],
  [['mongodb'], ['mongodb'], [MONGO]],
  [OUTSIDE, ['panel', 'send'], [WEB]],
  [OUTSIDE, ['admin'], [ADMIN]],
  [OUTSIDE, ['compat'], [COMPAT]],
  [OUTSIDE, ['smtp'], SMTP],
  [OUTSIDE, ['inbound'], [INBOUND]],
  [['test'], ['panel', 'send'], [WEB]],
  [['test'], ['admin'], [ADMIN]],
  [['test'], ['compat'], [COMPAT]],
  [['test'], ['smtp'], SMTP],
  [OUTSIDE, OURS, [METRICS]],
]
const closed: Rows = [
  ...everywhere,
  [OURS, ['database network'], [MONGO]],
  [['ingress controller', 'test'], ['panel', 'send'], [WEB]],
  [['ingress controller', 'test'], ['admin'], [ADMIN]],
  [['ingress controller', 'test'], ['compat'], [COMPAT]],
  [[...OUTSIDE, 'test'], ['smtp'], SMTP],
  [OUTSIDE, ['inbound'], [INBOUND]],
  [['prometheus'], OURS, [METRICS]],
]

test.each([
  ['open to all namespaces, trial database', OPEN, open],
  ['limited to namespaces, external database', CLOSED, closed],
])('%s: permits exactly the connections of the table', async (_, values, rows) => {
  const manifests = await renderChart(...values)
  const ends: Record<string, End> = { ...outside, ...podsOf(manifests) }
  expect(Object.keys(ends)).toEqual(expect.arrayContaining([...OURS, 'test', 'bootstrap']))
  const flows = Object.keys(ends).flatMap(from =>
    Object.keys(ends)
      // The policies do not concern connections between outside ends.
      .filter(to => !(from in outside && to in outside))
      .flatMap(to => PORTS.map(port => ({ from, to, port }))),
  )
  const passing = flows.filter(({ from, to, port }) =>
    isAllowed(manifests, { from: ends[from] as End, to: ends[to] as End, port }),
  )
  const wanted = flows.filter(flow =>
    rows.some(([from, to, ports]) => from.includes(flow.from) && to.includes(flow.to) && ports.includes(flow.port)),
  )
  const text = (list: typeof flows) => list.map(({ from, to, port }) => `${from} -> ${to} ${port}`).sort()
  expect(text(passing)).toEqual(text(wanted))
})

test('every pod has a policy for both directions', async () => {
  for (const values of [OPEN, CLOSED]) {
    const manifests = await renderChart(...values)
    for (const [name, pod] of Object.entries(podsOf(manifests))) {
      const policies = manifests.filter(
        ({ kind, spec }) =>
          kind === 'NetworkPolicy' &&
          Object.entries(spec.podSelector.matchLabels).every(([key, value]) => pod.labels[key] === value),
      )
      expect([name, policies.flatMap(({ spec }) => spec.policyTypes)]).toEqual([name, ['Ingress', 'Egress']])
    }
  }
})

test.each([
  [{ 'config.DELIVERY_PORT': 2626 }, 'worker', 2626],
  [{ 'config.DNS_PORT': 5353 }, 'panel', 5353],
  [{ 'config.DNS_SERVERS': '192.0.2.53:5354\\,192.0.2.54' }, 'send', 5354],
  [{ 'config.TRACKING_SCHEME': 'http' }, 'worker', 80],
  [{ 'config.TRACKING_SCHEME': 'http' }, 'panel', 80],
  [{ 'config.RELAY_URL': 'smtps://u:p@relay.example.net:8465' }, 'worker', 8465],
  ...['panel', 'worker', 'operator', 'compat'].map(
    component => [{ 'config.DNS_PRIVATE_WEBHOOKS': 'dns.team.svc:8888' }, component, 8888] as const,
  ),
  ...['panel', 'worker', 'operator', 'compat'].map(
    component => [{ 'config.DNS_WORKLOAD_IDENTITY_NAMESPACES': 'team' }, component, 988, '169.254.169.254'] as const,
  ),
] as [object, string, number, string?][])(
  'the policies follow the settings: %o',
  async (settings, component, port, address = '203.0.113.7') => {
    const args = Object.entries(settings).flatMap(([key, value]) => ['--set', `${key}=${value}`])
    const isOpen = async (...extra: string[]) => {
      const manifests = await renderChart(...LEAST, '--set', 'compat.enabled=true', ...extra)
      return isAllowed(manifests, {
        from: podsOf(manifests)[component] as PolicyPod,
        to: { address },
        port,
      })
    }
    expect([await isOpen(), await isOpen(...args)]).toEqual([false, true])
  },
)

test('the trial database is reachable with any port setting for external ones', async () => {
  const manifests = await renderChart(...LEAST, '--set', 'networkPolicy.mongodbPort=27018')
  const { send, mongodb } = podsOf(manifests)
  expect(isAllowed(manifests, { from: send as PolicyPod, to: mongodb as PolicyPod, port: MONGO })).toBe(true)
})

/** The pods that the chart renders, by component. */
function podsOf(manifests: readonly Manifest[]): Record<string, PolicyPod> {
  const pods = manifests.flatMap(({ kind, metadata, spec }) => {
    const pod = kind === 'Pod' ? { metadata, spec } : spec?.template
    if (!pod?.spec?.containers) return []
    const ports = pod.spec.containers.flatMap((container: { ports?: { name: string; containerPort: number }[] }) =>
      (container.ports ?? []).map(({ name, containerPort }) => [name, containerPort]),
    )
    const labels: Record<string, string> = pod.metadata.labels
    const component = labels['app.kubernetes.io/component'] ?? ''
    return [[component, { namespace: 'mail', labels, ports: Object.fromEntries(ports) }] as const]
  })
  return Object.fromEntries(pods)
}

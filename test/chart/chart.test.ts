/** The rendered chart: rejected values, restricted pods, rights and reproducible output. */
import { beforeAll, describe, expect, test } from 'vitest'
import { kinds } from '../../operator/resources/kinds.ts'
import { describeSettings, readConfig } from '../../services/platform/process/config.ts'
import { databaseForThisTest } from '../support/database/test-database.ts'
import {
  LEAST,
  lintChart,
  type Manifest,
  needHelm,
  renderChart,
  renderRelease,
  VALUE_SETS,
} from '../support/kubernetes/render-chart.ts'

const set = (...pairs: string[]) => pairs.flatMap(pair => ['--set', pair])
interface Container {
  name: string
  env: { name: string; value?: string }[]
}
const podOf = (manifest: Manifest) => (manifest.kind === 'Pod' ? manifest.spec : manifest.spec?.template?.spec)
const pods = (manifests: Manifest[]) => manifests.filter(manifest => podOf(manifest)?.containers)
const containers = (manifest: Manifest) => [...(podOf(manifest).initContainers ?? []), ...podOf(manifest).containers]

/** Settings that `config` may not contain. */
const RESERVED = [
  ...[
    'ADMIN_API_PORT',
    'COMPAT_PORT',
    'ADMIN_BASE_URL',
    'ADMIN_PASSWORD',
    'ADMIN_USERNAME',
    'APP_BASE_URL',
    'APP_HOST',
    'APP_PORT',
  ],
  ...[
    'MAIL_HOSTNAME',
    'METRICS_PORT',
    'MONGODB_URI',
    'OPERATOR_IDENTITY',
    'OPERATOR_NAMESPACE',
    'SENDING_IP',
    'BOUNCE_DOMAIN',
    'INBOUND_LISTEN',
  ],
  ...['SESSION_SECRET', 'SUBMISSION_CA_FILE', 'SUBMISSION_LISTEN', 'SUBMISSION_PORTS', 'SUBMISSION_PROXY_FROM'],
  ...['SUBMISSION_TLS_CERT', 'SUBMISSION_TLS_KEY', 'WATCH_NAMESPACES', 'DNS_ENDPOINTS'],
]

/** Values of settings without a default that do not take any text. */
const GIVEN: Record<string, string> = {
  RELAY_URL: 'smtp://relay.example.com:587',
  OIDC_ISSUER: 'https://login.example.com/realms/mail',
  TRUSTED_PROXIES: '10.0.0.0/8',
  SEND_CLUSTER_URL: 'http://send.example.com',
  API_TOKEN: 'x'.repeat(40),
  SESSION_SECRET_PREVIOUS: 'x'.repeat(40),
}

describe('the chart', () => {
  beforeAll(needHelm)
  test.each([
    ['no host name', set('mongodb.mode=trial'), /mailHostname is required/],
    ['no database', set('mailHostname=m.example.com'), /mongodb\.mode=external needs mongodb\.existingSecret/],
    ['an invalid host name', set('mailHostname=Mail_Server', 'mongodb.mode=trial'), /mailHostname/],
    [
      'an unknown database mode',
      [...LEAST, ...set('mongodb.mode=embedded')],
      /must be one of 'external', 'trial'|mongodb\.mode/,
    ],
    [
      'PROXY protocol without networks',
      [...LEAST, ...set('smtp.proxyProtocol.enabled=true')],
      /smtp\.proxyProtocol\.enabled needs smtp\.proxyProtocol\.trustedCIDRs/,
    ],
    ['cert-manager without issuer', [...LEAST, ...set('tls.mode=certManager')], /tls\.certManager\.issuerRef\.name/],
    [
      'existing certificate without its name',
      [...LEAST, ...set('tls.mode=existingSecret')],
      /tls\.existingSecret is required/,
    ],
    [
      'gateway without parents',
      [...LEAST, ...set('gateway.enabled=true', 'trustedProxies={private}')],
      /gateway\.enabled needs gateway\.parentRefs/,
    ],
    [
      'an ingress without trusted proxies',
      [...LEAST, ...set('ingress.enabled=true')],
      /trustedProxies is required with ingress\.enabled: .*--set 'trustedProxies=\{10\.244\.0\.0\/16\}'.*kubectl get pods/,
    ],
    [
      'a gateway without trusted proxies',
      [...LEAST, ...set('gateway.enabled=true', 'gateway.parentRefs[0].name=public')],
      /trustedProxies is required with gateway\.enabled/,
    ],
    ['a proxy that is not a network', [...LEAST, ...set('trustedProxies={ingress-nginx}')], /trustedProxies/],
    [
      'proxies in two places',
      [...LEAST, ...set('trustedProxies={private}', 'config.TRUSTED_PROXIES=10.0.0.0/8')],
      /trustedProxies and config\.TRUSTED_PROXIES exclude each other/,
    ],
    [
      'two autoscalers',
      [...LEAST, ...set('worker.keda.enabled=true', 'worker.autoscaling.enabled=true')],
      /exclude each other/,
    ],
    ['a value of the wrong type', [...LEAST, ...set('worker.replicas=many')], /worker|replicas/],
    ['an unknown value', [...LEAST, ...set('smtp.replica=3')], /replica/],
    ['a misspelt setting', [...LEAST, ...set('config.DELIVERYMODE=capture')], /DELIVERYMODE/],
    ['a setting in lower case', [...LEAST, ...set('config.delivery_mode=capture')], /delivery_mode/],
    ['a misspelt value of a setting', [...LEAST, ...set('config.DELIVERY_MODE=caputre')], /DELIVERY_MODE/],
    ['a setting beyond its bounds', [...LEAST, ...set('config.SLOTS=5000')], /SLOTS/],
    [
      'a setting that has a value of its own',
      [...LEAST, ...set('config.SESSION_SECRET=x')],
      /config\.SESSION_SECRET cannot be set: use secrets\.existingSecret/,
    ],
    [
      'a setting that the probes need as it is',
      [...LEAST, ...set('config.METRICS_PORT=1')],
      /config\.METRICS_PORT cannot be set: inside of the pods the chart decides it/,
    ],
    [
      'one identity for all operators',
      [...LEAST, ...set('config.OPERATOR_IDENTITY=one')],
      /config\.OPERATOR_IDENTITY cannot be set/,
    ],
    [
      'KEDA without a Secret to read the connection string from',
      [...set('mailHostname=m.example.com', 'mongodb.uri=mongodb://db/', 'worker.keda.enabled=true')],
      /worker\.keda\.enabled needs the connection string in a Secret: set mongodb\.existingSecret/,
    ],
    [
      'two connection strings',
      [...set('mailHostname=m.example.com', 'mongodb.uri=mongodb://db/', 'mongodb.existingSecret=db')],
      /mongodb\.uri and mongodb\.existingSecret exclude each other/,
    ],
    [
      'an external database with the trial database',
      [...LEAST, ...set('mongodb.existingSecret=db')],
      /mongodb\.mode=trial uses neither mongodb\.uri nor mongodb\.existingSecret/,
    ],
    [
      'a trial database without generated passwords',
      [...LEAST, ...set('secrets.existingSecret=mine')],
      /mongodb\.mode=trial needs the Secret that the Job makes: leave secrets\.existingSecret empty/,
    ],
    [
      'a certificate that no mode uses',
      [...LEAST, ...set('tls.existingSecret=mine')],
      /tls\.existingSecret is set, but tls\.mode is selfSigned: set tls\.mode=existingSecret/,
    ],
    [
      'an issuer that no mode uses',
      [...LEAST, ...set('tls.certManager.issuerRef.name=ca')],
      /tls\.certManager\.issuerRef\.name is set, but tls\.mode is selfSigned: set tls\.mode=certManager/,
    ],
    [
      'implicit TLS on another port than 465',
      [...LEAST, ...set('smtp.service.ports.submissions=4465')],
      /smtp\.service\.ports\.submissions must be 465/,
    ],
    [
      'STARTTLS on 465',
      [...LEAST, ...set('smtp.service.ports.submissions=null', 'smtp.service.ports.alternate=465')],
      /smtp\.service\.ports\.alternate cannot be 465/,
    ],
    ['one port twice', [...LEAST, ...set('smtp.service.ports.alternate=25')], /smtp\.service\.ports: 25 is used twice/],
    [
      'a missing submission port',
      [...LEAST, ...set('smtp.service.ports.submission=null')],
      /smtp\.service\.ports\.submission must be 587: the operator writes it into the Secrets/,
    ],
    ['an invalid setting name', [...LEAST, ...set('config.log-level=debug')], /config|log-level/],
  ])('rejects %s with a message that names the setting', async (_, args, expected) => {
    await expect(renderChart(...args)).rejects.toThrow(expected)
  })

  test.each(VALUE_SETS)('%s: passes helm lint', async values => {
    expect(await lintChart('-f', values)).toContain('0 chart(s) failed')
  })

  test.each(VALUE_SETS)('%s: renders reproducibly', async values => {
    const [first, second] = await Promise.all([renderChart('-f', values), renderChart('-f', values)])
    expect(first.length).toBeGreaterThan(20)
    expect(second).toEqual(first)
  })

  test.each(VALUE_SETS)(
    '%s: every pod runs under Pod Security "restricted" with limits, and has a token only if it needs one',
    async values => {
      for (const manifest of pods(await renderChart('-f', values))) {
        const { metadata } = manifest
        const pod = podOf(manifest)
        expect(pod.securityContext, metadata.name).toMatchObject({
          runAsNonRoot: true,
          seccompProfile: { type: 'RuntimeDefault' },
        })
        expect(pod.enableServiceLinks, metadata.name).toBe(false)
        expect(pod.automountServiceAccountToken === true, metadata.name).toBe(/operator|bootstrap/.test(metadata.name))
        expect([pod.hostNetwork, pod.hostPID, pod.hostIPC], metadata.name).toEqual([undefined, undefined, undefined])
        for (const container of containers(manifest)) {
          expect(container.securityContext, container.name).toMatchObject({
            allowPrivilegeEscalation: false,
            readOnlyRootFilesystem: true,
            runAsNonRoot: true,
            capabilities: { drop: ['ALL'] },
          })
          expect(container.resources?.requests?.cpu, container.name).toBeTruthy()
          expect(container.resources?.limits?.memory, container.name).toBeTruthy()
        }
      }
    },
  )

  test.each(VALUE_SETS)('%s: selectors match their pods, and Services use ports that exist', async values => {
    const manifests = await renderChart('-f', values)
    const templates = pods(manifests).filter(({ kind }) => kind !== 'Job')
    const labelsOf = (manifest: Manifest) =>
      manifest.kind === 'Pod' ? manifest.metadata.labels : manifest.spec.template.metadata.labels
    const matching = (selector: Record<string, string>) =>
      templates.filter(manifest => Object.entries(selector).every(([key, value]) => labelsOf(manifest)[key] === value))
    // The Service of a ServiceMonitor leads to every pod.
    const isOfOne = ({ kind, metadata }: Manifest) => kind === 'Service' && !metadata.name.endsWith('-metrics')
    for (const service of manifests.filter(isOfOne)) {
      const [target, ...others] = matching(service.spec.selector)
      expect([service.metadata.name, Boolean(target), others.length]).toEqual([service.metadata.name, true, 0])
      const names = containers(target as Manifest).flatMap(container =>
        (container.ports ?? []).map((port: { name: string }) => port.name),
      )
      for (const port of service.spec.ports) expect(names, service.metadata.name).toContain(port.targetPort)
    }
    for (const workload of manifests.filter(({ kind }) =>
      /^(Deployment|StatefulSet|PodDisruptionBudget)$/.test(kind),
    )) {
      expect(matching(workload.spec.selector.matchLabels), workload.metadata.name).toHaveLength(1)
    }
  })

  test('the Service maps the public ports onto the container ports', async () => {
    const service = (await renderChart(...LEAST)).find(
      ({ kind, metadata }) => kind === 'Service' && metadata.name === 'pw-postwright-smtp',
    )
    expect(
      service?.spec.ports.map(({ port, targetPort }: { port: number; targetPort: string }) => [port, targetPort]),
    ).toEqual(
      expect.arrayContaining([
        [25, 'starttls-2525'],
        [587, 'starttls-2587'],
        [465, 'tls-2465'],
        [2525, 'starttls-2525'],
      ]),
    )
    expect(service?.spec).toMatchObject({ type: 'LoadBalancer', externalTrafficPolicy: 'Local' })
  })

  test('without bounceDomain there is no inbound; with it, its Service leads to it and every process knows the name', async () => {
    const ofInbound = (manifests: readonly Manifest[]) =>
      manifests.filter(({ metadata }) => metadata.name === 'pw-postwright-inbound')
    expect(ofInbound(await renderChart(...LEAST))).toEqual([])
    const manifests = await renderChart(...LEAST, ...set('bounceDomain=bounces.example.com'))
    const kinds = ofInbound(manifests).map(({ kind }) => kind)
    expect(kinds.toSorted()).toEqual(['Deployment', 'NetworkPolicy', 'PodDisruptionBudget', 'Service'])
    const service = ofInbound(manifests).find(({ kind }) => kind === 'Service')
    expect(service?.spec).toMatchObject({
      type: 'LoadBalancer',
      externalTrafficPolicy: 'Local',
      ports: [{ port: 25, targetPort: 'starttls-2526' }],
    })
    for (const { kind, spec, metadata } of manifests)
      if (/^(Deployment|StatefulSet)$/.test(kind) && !metadata.name.endsWith('mongodb'))
        expect(spec.template.spec.containers[0].env, metadata.name).toContainEqual({
          name: 'BOUNCE_DOMAIN',
          value: 'bounces.example.com',
        })
  })

  test('helm test gets every public port and its TLS mode', async () => {
    const ports = async (...args: string[]) => {
      const pod = (await renderChart(...LEAST, ...args)).find(({ kind }) => kind === 'Pod')
      return pod?.spec.containers[0].env.find(({ name }: { name: string }) => name === 'SMTP_PORTS').value
    }
    expect(await ports()).toBe('2525:starttls,25:starttls,587:starttls,465:tls')
    expect(await ports('--set', 'smtp.service.ports.alternate=null')).toBe('25:starttls,587:starttls,465:tls')
  })

  test('the submission port may be closed without the operator', async () => {
    const args = [...LEAST, ...set('smtp.service.ports.submission=null', 'operator.enabled=false')]
    const service = (await renderChart(...args)).find(
      ({ kind, metadata }) => kind === 'Service' && metadata.name === 'pw-postwright-smtp',
    )
    expect(service?.spec.ports.map(({ port }: { port: number }) => port)).toEqual([2525, 25, 465])
  })

  test.each(RESERVED)('rejects config.%s, which the chart sets', async name => {
    await expect(renderChart(...LEAST, ...set(`config.${name}=x1`))).rejects.toThrow(`config.${name} cannot be set: `)
  })

  test('sets every other setting once in every container', async () => {
    const names = describeSettings().flatMap(({ name }) => (RESERVED.includes(name) ? [] : [name]))
    expect(names.length).toBeGreaterThan(30)
    const defaults = new Map(describeSettings().map(setting => [setting.name, setting.default]))
    const settingValue = (name: string) => GIVEN[name] ?? defaults.get(name) ?? 'x1'
    const pairs = names.map(name => `config.${name}=${settingValue(name).replaceAll(',', '\\,')}`)
    const containers = (await renderChart(...LEAST, ...set(...pairs)))
      .filter(({ kind, metadata }) => /^(Deployment|StatefulSet)$/.test(kind) && !metadata.name.endsWith('-mongodb'))
      .flatMap(manifest => podOf(manifest).containers as Container[])
    expect(containers).toHaveLength(6)
    for (const name of names) {
      const values = containers.map(({ env }) => env.filter(one => one.name === name).map(({ value }) => value))
      expect([name, values]).toEqual([name, Array(6).fill([settingValue(name)])])
    }
  })

  test.each([
    ['created by the Job', ['tls.mode=selfSigned'], 'pw-postwright-smtp.mail.svc'],
    // Public authorities sign no name that ends in .svc: a client that verifies the certificate needs the public name.
    ['of a public authority', ['tls.mode=certManager', 'tls.certManager.issuerRef.name=letsencrypt'], undefined],
    ['from the user', ['tls.mode=existingSecret', 'tls.existingSecret=mine'], undefined],
    [
      'from the user for the name of the Service',
      ['tls.mode=existingSecret', 'tls.existingSecret=mine', 'config.SUBMISSION_CLUSTER_HOST=smtp.mail.svc'],
      'smtp.mail.svc',
    ],
  ])('with a certificate %s, Secrets contain a host that it covers', async (_, pairs, host) => {
    const operator = (await renderChart(...LEAST, ...set(...pairs))).find(
      ({ kind, metadata }) => kind === 'Deployment' && metadata.name.endsWith('-operator'),
    )
    const { env } = podOf(operator as Manifest).containers[0] as Container
    expect(env.filter(({ name }) => name === 'SUBMISSION_CLUSTER_HOST').map(({ value }) => value)).toEqual(
      host ? [host] : [],
    )
  })

  test.each([
    ['trustedProxies={10.244.0.0/16,fd00::/8}', '10.244.0.0/16,fd00::/8'],
    ['trustedProxies={private}', 'private'],
    ['config.TRUSTED_PROXIES=10.0.0.0/8\\,192.0.2.1', '10.0.0.0/8,192.0.2.1'],
  ])('%s is set for every HTTP process in a valid form', async (pair, value) => {
    const manifests = await renderChart(...LEAST, ...set('ingress.enabled=true', 'compat.enabled=true', pair))
    for (const component of ['panel', 'send', 'admin', 'compat']) {
      const deployment = manifests.find(
        ({ kind, metadata }) => kind === 'Deployment' && metadata.name.endsWith(`-${component}`),
      )
      const { env } = podOf(deployment as Manifest).containers[0] as Container
      expect(env.filter(({ name }) => name === 'TRUSTED_PROXIES')).toEqual([{ name: 'TRUSTED_PROXIES', value }])
    }
    const config = { MAIL_HOSTNAME: 'mail.example.com', SESSION_SECRET: 'x'.repeat(32), TRUSTED_PROXIES: value }
    expect(readConfig(config).TRUSTED_PROXIES.length).toBeGreaterThan(0)
  })

  test('hosts of tracked links lead to the panel, for their path alone', async () => {
    const pairs = [
      'ingress.enabled=true',
      'ingress.tlsSecret=web',
      'gateway.enabled=true',
      'gateway.parentRefs[0].name=public',
    ]
    const hosts = ['links.example.com', 'links.example.org']
    const args = [...pairs, 'trustedProxies={private}', `trackingHosts={${hosts.join(',')}}`]
    const manifests = await renderChart(...LEAST, ...set(...args))
    const ingress = manifests.find(({ kind }) => kind === 'Ingress')?.spec
    for (const host of hosts) {
      const { paths } = ingress.rules.find((rule: { host: string }) => rule.host === host).http
      expect(paths).toMatchObject([{ path: '/t', pathType: 'Prefix' }])
      expect(paths[0].backend.service.name).toMatch(/-panel$/)
      expect(ingress.tls[0].hosts).toContain(host)
    }
    const route = manifests.find(({ kind, metadata }) => kind === 'HTTPRoute' && metadata.name.endsWith('-tracking'))
    expect(route?.spec).toMatchObject({ hostnames: hosts, rules: [{ matches: [{ path: { value: '/t' } }] }] })
  })

  test('requests that the send process serves lead to it, and all others to the panel', async () => {
    const pairs = ['ingress.enabled=true', 'gateway.enabled=true', 'gateway.parentRefs[0].name=public']
    const manifests = await renderChart(...LEAST, ...set(...pairs, 'trustedProxies={private}'))
    const [rule] = manifests.find(({ kind }) => kind === 'Ingress')?.spec.rules ?? []
    const backends: { path: string; backend: { service: { name: string } } }[] = rule.http.paths
    expect(backends.map(({ path, backend }) => [path, backend.service.name.replace(/^.*-/, '')])).toEqual([
      ['/api/send', 'send'],
      ['/api/v1/emails', 'send'],
      ['/mcp', 'send'],
      ['/', 'panel'],
    ])
    const route = manifests.find(({ kind }) => kind === 'HTTPRoute')?.spec
    const paths = route.rules[0].matches.map(({ path }: { path: { value: string } }) => path.value)
    expect(paths).toEqual(['/api/send', '/api/v1/emails', '/mcp'])
  })

  test.each([
    ['https://mail.example.com:8443', 'mail.example.com'],
    ['https://Mail.Example.com', 'mail.example.com'],
    ['', 'm.example.com'],
  ])('with appBaseUrl %o the routes have the host %s', async (appBaseUrl, host) => {
    const args = [
      'mailHostname=m.example.com',
      'mongodb.mode=trial',
      `appBaseUrl=${appBaseUrl}`,
      'ingress.enabled=true',
      'trustedProxies={private}',
    ]
    const manifests = await renderChart(...set(...args, 'gateway.enabled=true', 'gateway.parentRefs[0].name=public'))
    const specOf = (wanted: string) => manifests.find(({ kind }) => kind === wanted)?.spec
    expect(specOf('Ingress').rules.map((rule: { host: string }) => rule.host)).toEqual([host])
    expect(specOf('HTTPRoute').hostnames).toEqual([host])
  })

  test.each(['pw', 'postwright', 'a.b', 'r'.repeat(53), `${'r'.repeat(40)}-postwright`])(
    'release %s: has valid names, also for derived objects',
    async release => {
      for (const { kind, metadata } of await renderRelease(release, ...LEAST)) {
        // Names of pods are used in labels, those of a StatefulSet with the hash of its revision appended.
        const most = kind === 'StatefulSet' ? 52 : 63
        if (/^(Deployment|StatefulSet|Service|Job|Pod|ServiceAccount)$/.test(kind))
          expect([kind, metadata.name]).toEqual([kind, expect.stringMatching(/^[a-z]([-a-z0-9]*[a-z0-9])?$/)])
        expect([
          kind,
          metadata.name,
          metadata.name.length <= most || kind === 'CustomResourceDefinition' || /Role/.test(kind),
        ]).toEqual([kind, metadata.name, true])
      }
    },
  )

  test.each([
    ['external', 33, 33],
    ['external', 34, 34],
    ['external', 36, 36],
    ['external', 37, 33],
    ['trial', 34, 33],
    ['trial', 36, 33],
  ])('%s: of a release name with %i characters %i stay in the names', async (mode, length, stay) => {
    const release = 'r'.repeat(length)
    const database = mode === 'trial' ? set('mongodb.mode=trial') : set('mongodb.existingSecret=mine')
    const manifests = await renderRelease(release, ...set('mailHostname=mail.example.com'), ...database)
    const names = manifests.filter(({ kind }) => kind === 'StatefulSet').map(({ metadata }) => metadata.name)
    expect(names).toContain(`${'r'.repeat(stay)}-postwright-smtp`)
    for (const name of names) expect(name.length).toBeLessThanOrEqual(52)
  })

  test('KEDA counts the deliveries that are due, in the configured database', async () => {
    const keda = set('worker.keda.enabled=true', 'worker.keda.database=mine')
    const trigger = (await renderChart(...LEAST, ...keda)).find(({ kind }) => kind === 'ScaledObject')?.spec.triggers[0]
    expect(trigger.metadata).toMatchObject({ dbName: 'mine', collection: 'deliveries', queryValue: '2000' })
    const { db } = await databaseForThisTest()
    const hours = (count: number) => new Date(Date.now() + count * 3_600_000)
    const due = [-2, -1, 1].map((hour, _id) => ({ _id, due: hours(hour) }))
    await db.collection<{ _id: number }>('deliveries').insertMany(due)
    // The scaler parses the text as canonical extended JSON, without templates.
    expect(await db.collection('deliveries').countDocuments(JSON.parse(trigger.metadata.query))).toBe(2)
    expect(trigger.metadata.query).not.toContain('{{')
  })

  test('omits replica counts where an autoscaler sets them', async () => {
    const manifests = await renderChart('-f', 'charts/postwright/ci/production-values.yaml')
    for (const name of ['panel', 'send', 'admin', 'worker', 'smtp']) {
      const workload = manifests.find(
        ({ kind, metadata }) => /^(Deployment|StatefulSet)$/.test(kind) && metadata.name === `pw-postwright-${name}`,
      )
      expect(workload?.spec.replicas, name).toBeUndefined()
    }
  })

  test('grants DNSEndpoint objects only when they are turned on, and cluster-scoped kinds to an operator of all namespaces', async () => {
    const grants = async (resource: string, ...values: string[]) =>
      (await renderChart(...LEAST, ...set(...values)))
        .filter(({ rules }) => rules?.some(({ resources }) => resources.includes(resource)))
        .map(({ kind }) => kind)
    const turnedOn = ['operator.dnsEndpoints=true', 'operator.watchNamespaces={a,b}']
    expect(await grants('dnsendpoints')).toEqual([])
    expect(await grants('dnsendpoints', 'operator.dnsEndpoints=true')).toEqual(['ClusterRole'])
    expect(await grants('dnsendpoints', ...turnedOn)).toEqual(['Role', 'Role'])
    // Not part of the aggregated role `edit`.
    expect(await grants('clusterdnsproviders')).toEqual(['ClusterRole'])
    expect(await grants('clusterdnsproviders', ...turnedOn)).toEqual([])
    const text = JSON.stringify(await renderChart(...LEAST, ...set('operator.dnsEndpoints=true')))
    expect(text).toContain('{"name":"DNS_ENDPOINTS","value":"true"}')
  })

  test('grants access to Secrets by Roles for listed namespaces, and by a ClusterRole otherwise', async () => {
    const readsSecrets = (manifest: Manifest) =>
      manifest.rules?.some(({ apiGroups, resources }) => apiGroups.includes('') && resources.includes('secrets'))
    const listed = await renderChart('-f', 'charts/postwright/ci/production-values.yaml')
    expect(listed.filter(({ kind }) => kind === 'ClusterRole').some(readsSecrets)).toBe(false)
    expect(
      listed
        .filter(({ kind, metadata }) => kind === 'Role' && ['team-a', 'team-b'].includes(metadata.namespace ?? ''))
        .filter(readsSecrets),
    ).toHaveLength(2)
    const all = await renderChart(...LEAST)
    expect(all.filter(({ kind }) => kind === 'ClusterRole').filter(readsSecrets)).toHaveLength(1)
  })

  test('keeps the definitions on uninstall unless configured otherwise', async () => {
    const policies = async (...args: string[]) =>
      (await renderChart(...args))
        .filter(({ kind }) => kind === 'CustomResourceDefinition')
        .map(({ metadata }) => metadata.annotations?.['helm.sh/resource-policy'])
    expect(await policies(...LEAST)).toEqual(kinds.map(() => 'keep'))
    expect(await policies(...LEAST, ...set('crds.keep=false'))).toEqual(kinds.map(() => undefined))
    expect(await policies(...LEAST, ...set('crds.enabled=false'))).toEqual([])
  })

  test('the Job that creates Secrets may create, get two by name, and replace the self-signed certificate', async () => {
    const role = (await renderChart(...LEAST)).find(
      ({ kind, metadata }) => kind === 'Role' && metadata.name.endsWith('-bootstrap'),
    )
    expect(role?.rules).toEqual([
      { apiGroups: [''], resources: ['secrets'], verbs: ['create'] },
      {
        apiGroups: [''],
        resources: ['secrets'],
        resourceNames: ['pw-postwright-secrets', 'pw-postwright-tls'],
        verbs: ['get'],
      },
      { apiGroups: [''], resources: ['secrets'], resourceNames: ['pw-postwright-tls'], verbs: ['update'] },
    ])
  })

  test('leaves out the number of replicas that others decide, and keeps the disruption budget', async () => {
    const manifests = await renderChart(...LEAST, ...set('worker.replicas=null'))
    const worker = manifests.filter(({ metadata }) => metadata.name.endsWith('-worker'))
    const deployment = worker.find(({ kind }) => kind === 'Deployment')
    expect(deployment?.spec).not.toHaveProperty('replicas')
    expect(worker.map(({ kind }) => kind)).toContain('PodDisruptionBudget')
  })
})

/** Options of pods, Services, accounts and routes: each is in every object that it concerns. */
import { beforeAll, describe, expect, test } from 'vitest'
import { LEAST, lintChart, type Manifest, needHelm, renderChart } from '../support/kubernetes/render-chart.ts'

const EVERYTHING = ['-f', 'charts/postwright/ci/everything-values.yaml']
const set = (...pairs: string[]) => pairs.flatMap(pair => ['--set', pair])
const json = (...pairs: string[]) => pairs.flatMap(pair => ['--set-json', pair])
const isWorkload = ({ kind, metadata }: Manifest) =>
  /^(Deployment|StatefulSet)$/.test(kind) && !metadata.name.endsWith('-mongodb')
/** The pod that an object makes, if it makes one. */
const podOf = ({ kind, metadata, spec }: Manifest) => {
  const pod = kind === 'Pod' ? { metadata, spec } : spec?.template
  return pod?.spec?.containers ? [{ ...pod, component: pod.metadata.labels['app.kubernetes.io/component'] }] : []
}
const templates = (manifests: Manifest[]) => manifests.filter(isWorkload).map(({ spec }) => spec.template)
const named = (manifests: Manifest[], kind: string, name: string) => {
  const found = manifests.find(manifest => manifest.kind === kind && manifest.metadata.name === name)
  return found ?? expect.fail(`no ${kind} ${name} among ${manifests.map(({ metadata }) => metadata.name).join(', ')}`)
}

describe('options of the chart', () => {
  let everything: Manifest[]
  beforeAll(async () => {
    needHelm()
    everything = await renderChart(...EVERYTHING)
  })

  test('labels, pull secrets, priority and user namespaces are in every pod, those of hooks and the trial too', async () => {
    const trial = ['mongodb.mode=trial', 'mongodb.existingSecret=', 'priorityClassName=high']
    const pods = (await renderChart(...EVERYTHING, ...set(...trial))).flatMap(podOf)
    expect(pods.map(({ component }) => component).sort()).toEqual(
      ['admin', 'bootstrap', 'mongodb', 'operator', 'panel', 'send', 'smtp', 'test', 'worker'].sort(),
    )
    for (const { component, metadata, spec } of pods) {
      expect([component, metadata.labels]).toEqual([component, expect.objectContaining({ team: 'mail' })])
      expect([component, metadata.annotations]).toEqual([
        component,
        expect.objectContaining({ 'example.com/owner': 'mail' }),
      ])
      expect([component, spec]).toEqual([
        component,
        expect.objectContaining({
          ...{ hostUsers: false, imagePullSecrets: [{ name: 'registry' }] },
          ...{ priorityClassName: 'high', enableServiceLinks: false },
        }),
      ])
    }
  })

  test.each([
    ['hooks', ['bootstrap', 'test']],
    ['mongodb.trial', ['mongodb']],
    ['worker', ['worker']],
  ])('nodes of %s are those of its pods alone', async (place, components) => {
    const nodes = [
      ...set(`${place}.nodeSelector.pool=mail`),
      ...json(`${place}.tolerations=[{"key":"mail","operator":"Exists"}]`),
    ]
    const pods = (await renderChart(...LEAST, ...nodes)).flatMap(podOf)
    const chosen = pods.filter(({ spec }) => spec.nodeSelector || spec.tolerations)
    expect(chosen.map(({ component }) => component).sort()).toEqual(components)
    for (const { spec } of chosen)
      expect(spec).toMatchObject({ nodeSelector: { pool: 'mail' }, tolerations: [{ key: 'mail', operator: 'Exists' }] })
  })

  test('variables and volumes are in every component', () => {
    const pods = templates(everything)
    expect(pods).toHaveLength(6)
    for (const { spec } of pods) {
      expect(spec.volumes).toContainEqual({ name: 'ca', configMap: { name: 'ca-bundle' } })
      const [container] = spec.containers
      expect(container.env).toContainEqual({ name: 'HTTPS_PROXY', value: 'http://proxy.example.com:3128' })
      expect(container.env).toContainEqual({
        name: 'OIDC_CLIENT_SECRET',
        valueFrom: { secretKeyRef: { name: 'login', key: 'secret' } },
      })
      expect(container.envFrom).toEqual([{ secretRef: { name: 'more' } }])
      expect(container.volumeMounts).toContainEqual({ name: 'ca', mountPath: '/etc/ca', readOnly: true })
    }
  })

  test('null ids are left to the platform, also in the trial database and the Jobs', async () => {
    const ids = ['runAsUser', 'runAsGroup', 'fsGroup']
    const free = await renderChart(...LEAST, ...ids.flatMap(id => set(`podSecurityContext.${id}=null`)))
    expect(JSON.stringify(free)).not.toMatch(/"(runAsUser|runAsGroup|fsGroup)"/)
    expect(JSON.stringify(free)).toContain('"runAsNonRoot":true')
    const [pod] = templates(await renderChart(...LEAST, ...set('podSecurityContext.runAsUser=20000')))
    expect(pod.spec.securityContext).toMatchObject({ runAsUser: 20_000, runAsGroup: 10_001, fsGroup: 10_001 })
    expect(pod.spec.containers[0].securityContext).toMatchObject({ runAsUser: 20_000 })
  })

  test('scheduling options replace those of the chart, of their component only', () => {
    const panel = named(everything, 'Deployment', 'mail-panel').spec.template.spec
    expect(panel.affinity).toEqual({ nodeAffinity: expect.anything() })
    expect(panel.topologySpreadConstraints).toMatchObject([{ topologyKey: 'rack' }])
    expect(panel).toMatchObject({
      nodeSelector: { 'kubernetes.io/arch': 'amd64' },
      tolerations: [{ key: 'mail', operator: 'Exists' }],
    })
    const worker = named(everything, 'Deployment', 'mail-worker').spec.template.spec
    expect(worker.affinity).toEqual({ podAntiAffinity: expect.anything() })
    expect(worker.topologySpreadConstraints).toHaveLength(2)
    expect(worker.nodeSelector).toBeUndefined()
  })

  test('Services have their annotations, and all of them the IP families', async () => {
    const trial = await renderChart(...EVERYTHING, ...set('mongodb.mode=trial', 'mongodb.existingSecret='))
    const services = trial.filter(({ kind }) => kind === 'Service')
    expect(services.map(({ metadata }) => metadata.name)).toContain('mail-mongodb')
    for (const { spec, metadata } of services)
      expect([metadata.name, spec.ipFamilyPolicy, spec.ipFamilies]).toEqual([
        metadata.name,
        'PreferDualStack',
        ['IPv6', 'IPv4'],
      ])
    expect(named(everything, 'Service', 'mail-panel').metadata.annotations).toEqual({ 'example.com/team': 'mail' })
    expect(named(everything, 'Service', 'mail-send').metadata.annotations).toBeUndefined()
  })

  test('an existing account is used and not created; that of the operator keeps its rights', async () => {
    const accounts = everything
      .filter(({ kind, metadata }) => kind === 'ServiceAccount' && !metadata.name.endsWith('-bootstrap'))
      .map(({ metadata }) => metadata)
    expect(accounts.map(({ name, annotations }) => [name, annotations])).toEqual([
      ['mail-operator', { 'example.com/role': 'operator' }],
    ])
    expect(new Set(templates(everything).map(({ spec }) => spec.serviceAccountName))).toEqual(
      new Set(['mail', 'mail-operator']),
    )
    const own = await renderChart(
      ...LEAST,
      ...set('operator.serviceAccount.create=false', 'operator.serviceAccount.name=op'),
    )
    const subjects = own
      .filter(({ kind, metadata }) => /Binding$/.test(kind) && !metadata.name.endsWith('bootstrap'))
      .flatMap(binding => (binding as unknown as { subjects: { name: string }[] }).subjects)
    expect(new Set(subjects.map(({ name }) => name))).toEqual(new Set(['op']))
    expect(named(own, 'Deployment', 'pw-postwright-operator').spec.template.spec.serviceAccountName).toBe('op')
  })

  test('extra objects are rendered as templates, from mappings and from text', () => {
    expect(named(everything, 'ConfigMap', 'pw-extra')).toMatchObject({ data: { host: 'mail.example.com' } })
    expect(named(everything, 'ConfigMap', 'pw-text').metadata.name).toBe('pw-text')
  })

  test('names follow the overrides, and stay as they were without one', async () => {
    const namesOf = async (...pairs: string[]) =>
      (await renderChart(...LEAST, ...set(...pairs))).filter(isWorkload).map(({ metadata }) => metadata.name)
    expect(await namesOf()).toContain('pw-postwright-panel')
    expect(await namesOf('nameOverride=mail')).toContain('pw-mail-panel')
    expect(await namesOf('fullnameOverride=post')).toContain('post-panel')
    const long = await namesOf('nameOverride=a-very-long-name-x')
    expect(Math.max(...long.map(name => name.length))).toBeLessThanOrEqual(52)
  })

  test('SMTP ports get a TCPRoute each, and 465 a TLSRoute by its host name', () => {
    const routes = everything.filter(({ kind }) => /^(TCP|TLS)Route$/.test(kind))
    const backend = (port: number) => [{ backendRefs: [{ name: 'mail-smtp', port }] }]
    expect(routes.map(({ kind, metadata, spec }) => [kind, metadata.name, spec.hostnames, spec.rules])).toEqual(
      expect.arrayContaining([
        ['TLSRoute', 'mail-submissions', ['mail.example.com'], backend(465)],
        ['TCPRoute', 'mail-smtp', undefined, backend(25)],
        ['TCPRoute', 'mail-submission', undefined, backend(587)],
      ]),
    )
    expect(routes).toHaveLength(3)
  })

  test('a ServiceMonitor reaches every pod by a headless Service, with relabelings', async () => {
    const monitor = named(everything, 'ServiceMonitor', 'mail')
    const service = named(everything, 'Service', 'mail-metrics')
    expect(service.metadata.labels).toMatchObject(monitor.spec.selector.matchLabels)
    expect(
      everything
        .filter(({ kind }) => kind === 'Service')
        .filter(({ metadata }) =>
          Object.entries(monitor.spec.selector.matchLabels).every(([key, value]) => metadata.labels?.[key] === value),
        ),
    ).toHaveLength(1)
    for (const { metadata } of templates(everything)) expect(metadata.labels).toMatchObject(service.spec.selector)
    expect(monitor.spec.endpoints).toEqual([
      expect.objectContaining({
        port: 'metrics',
        relabelings: [expect.anything()],
        metricRelabelings: [expect.anything()],
      }),
    ])
    const pods = await renderChart(...LEAST, ...set('metrics.serviceMonitor.enabled=true'))
    expect(named(pods, 'PodMonitor', 'pw-postwright').spec.podMetricsEndpoints).toHaveLength(1)
    expect(pods.filter(({ metadata }) => metadata.name.endsWith('-metrics'))).toEqual([])
  })

  test.each([
    [
      'a variable that config sets too',
      json('extraEnv=[{"name":"LOG_LEVEL","value":"debug"}]', 'config={"LOG_LEVEL":"info"}'),
      /extraEnv and config both set LOG_LEVEL/,
    ],
    [
      'a variable of the chart',
      json('extraEnv=[{"name":"SESSION_SECRET","value":"x"}]'),
      /extraEnv cannot set SESSION_SECRET: use secrets\.existingSecret/,
    ],
    [
      'a variable that the chart sets inside of the pods',
      json('extraEnv=[{"name":"METRICS_PORT","valueFrom":{"secretKeyRef":{"name":"a","key":"b"}}}]'),
      /extraEnv cannot set METRICS_PORT: inside of the pods the chart decides it/,
    ],
    [
      'the namespaces of the operator as a variable',
      json('extraEnv=[{"name":"WATCH_NAMESPACES","value":"a"}]'),
      /extraEnv cannot set WATCH_NAMESPACES: use operator\.watchNamespaces/,
    ],
    [
      'a setting that nothing would check',
      json('extraEnv=[{"name":"DELIVERY_MODE","value":"caputre"}]'),
      /extraEnv cannot set DELIVERY_MODE to a value: use config\.DELIVERY_MODE/,
    ],
    ['a variable without a name', json('extraEnv=[{"value":"x"}]'), /extraEnv/],
    ['a mount without a path', json('extraVolumeMounts=[{"name":"ca"}]'), /mountPath/],
    ['root', set('podSecurityContext.runAsUser=0'), /runAsUser/],
    [
      'rights of the operator for the default account',
      set('operator.serviceAccount.create=false'),
      /operator\.serviceAccount\.create=false needs operator\.serviceAccount\.name/,
    ],
    ['an unknown family', json('service={"ipFamilies":["IPv5"]}'), /ipFamilies/],
    [
      'a route of a closed port',
      [
        ...set('smtp.service.ports.alternate=null'),
        ...json('gateway={"smtp":{"tcpRoutes":{"alternate":[{"name":"g"}]}}}'),
      ],
      /gateway\.smtp\.tcpRoutes\.alternate: smtp\.service\.ports has no such port/,
    ],
    ['a route of an unknown port', json('gateway={"smtp":{"tcpRoutes":{"imap":[{"name":"g"}]}}}'), /imap/],
    ['a name that is too long', set(`fullnameOverride=${'a'.repeat(41)}`), /fullnameOverride/],
    ['an unknown kind of monitor', set('metrics.serviceMonitor.kind=Probe'), /kind/],
  ])('refuses %s', async (_what, args, message) => {
    await expect(renderChart(...LEAST, ...args)).rejects.toThrow(message)
  })

  test('a setting may come from a Secret as a variable', async () => {
    const variable = { name: 'RELAY_URL', valueFrom: { secretKeyRef: { name: 'relay', key: 'url' } } }
    const [pod] = templates(await renderChart(...LEAST, ...json(`extraEnv=[${JSON.stringify(variable)}]`)))
    expect(pod.spec.containers[0].env).toContainEqual(variable)
  })

  test('the Job gives up before helm does, and nothing of it stays after a failure', async () => {
    const hooks = (await renderChart(...LEAST)).filter(({ metadata }) => metadata.name.endsWith('-bootstrap'))
    expect(hooks.map(({ kind }) => kind).sort()).toEqual(
      ['Job', 'NetworkPolicy', 'Role', 'RoleBinding', 'ServiceAccount'].sort(),
    )
    for (const { metadata } of hooks)
      expect(metadata.annotations?.['helm.sh/hook-delete-policy']?.split(',')).toContain('hook-failed')
    const job = hooks.find(({ kind }) => kind === 'Job')
    // The default of helm's --timeout is five minutes.
    expect(job?.spec.activeDeadlineSeconds).toBeLessThan(300)
  })

  test('alerts about the operator are left out with it', async () => {
    const groups = async (...pairs: string[]) => {
      const all = await renderChart(...LEAST, ...set('metrics.prometheusRule.enabled=true', ...pairs))
      const rule = named(all, 'PrometheusRule', 'pw-postwright')
      return rule.spec.groups.map(({ name }: { name: string }) => name) as string[]
    }
    expect(await groups()).toEqual(['postwright-mail', 'postwright-platform', 'postwright-operator'])
    expect(await groups('operator.enabled=false')).toEqual(['postwright-mail', 'postwright-platform'])
  })

  test('pass helm lint together', async () => {
    expect(await lintChart(...EVERYTHING)).toContain('0 chart(s) failed')
  })
})

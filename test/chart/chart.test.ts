/** What the chart renders: refused values, restricted pods, rights, and that nothing random is in it. */
import { describe, expect, test } from 'vitest'
import { helmMissing, LEAST, lintChart, type Manifest, renderChart, VALUE_SETS } from '../support/render-chart.ts'

const set = (...pairs: string[]) => pairs.flatMap(pair => ['--set', pair])
const podOf = (manifest: Manifest) => (manifest.kind === 'Pod' ? manifest.spec : manifest.spec?.template?.spec)
const pods = (manifests: Manifest[]) => manifests.filter(manifest => podOf(manifest)?.containers)
const containers = (manifest: Manifest) => [...(podOf(manifest).initContainers ?? []), ...podOf(manifest).containers]

describe.skipIf(helmMissing)(`the chart${helmMissing ? ` (skipped: ${helmMissing})` : ''}`, () => {
  test.each([
    ['no host name', set('mongodb.mode=trial'), /mailHostname is required/],
    ['no database', set('mailHostname=m.example.com'), /mongodb\.mode=external needs mongodb\.existingSecret/],
    ['a host name that is none', set('mailHostname=Mail_Server', 'mongodb.mode=trial'), /mailHostname/],
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
      [...LEAST, ...set('gateway.enabled=true')],
      /gateway\.enabled needs gateway\.parentRefs/,
    ],
    [
      'two autoscalers',
      [...LEAST, ...set('worker.keda.enabled=true', 'worker.autoscaling.enabled=true')],
      /exclude each other/,
    ],
    ['a value of the wrong type', [...LEAST, ...set('worker.replicas=many')], /worker|replicas/],
    ['a value that does not exist', [...LEAST, ...set('smtp.replica=3')], /replica/],
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
    ['a setting that is no setting name', [...LEAST, ...set('config.log-level=debug')], /config|log-level/],
  ])('refuses %s and says what to set', async (_, args, expected) => {
    await expect(renderChart(...args)).rejects.toThrow(expected)
  })

  test.each(VALUE_SETS)('%s: helm lint finds nothing', async values => {
    expect(await lintChart('-f', values)).toContain('0 chart(s) failed')
  })

  test.each(VALUE_SETS)('%s renders, twice the same: nothing random is in it', async values => {
    const [first, second] = await Promise.all([renderChart('-f', values), renderChart('-f', values)])
    expect(first.length).toBeGreaterThan(20)
    expect(second).toEqual(first)
  })

  test.each(VALUE_SETS)(
    '%s: every pod runs under Pod Security "restricted", with limits and without a needless token',
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

  test.each(VALUE_SETS)('%s: selectors find their pods, and Services point at ports that exist', async values => {
    const manifests = await renderChart('-f', values)
    const templates = pods(manifests).filter(({ kind }) => kind !== 'Job')
    const labelsOf = (manifest: Manifest) =>
      manifest.kind === 'Pod' ? manifest.metadata.labels : manifest.spec.template.metadata.labels
    const matching = (selector: Record<string, string>) =>
      templates.filter(manifest => Object.entries(selector).every(([key, value]) => labelsOf(manifest)[key] === value))
    for (const service of manifests.filter(({ kind }) => kind === 'Service')) {
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

  test('helm test is told every public port and how TLS begins on it', async () => {
    const told = async (...args: string[]) => {
      const pod = (await renderChart(...LEAST, ...args)).find(({ kind }) => kind === 'Pod')
      return pod?.spec.containers[0].env.find(({ name }: { name: string }) => name === 'SMTP_PORTS').value
    }
    expect(await told()).toBe('2525:starttls,25:starttls,587:starttls,465:tls')
    expect(await told('--set', 'smtp.service.ports.alternate=null')).toBe('25:starttls,587:starttls,465:tls')
  })

  test('no replica count stands where an autoscaler decides', async () => {
    const manifests = await renderChart('-f', 'charts/postwright/ci/production-values.yaml')
    for (const name of ['panel', 'send', 'admin', 'worker', 'smtp']) {
      const workload = manifests.find(
        ({ kind, metadata }) => /^(Deployment|StatefulSet)$/.test(kind) && metadata.name === `pw-postwright-${name}`,
      )
      expect(workload?.spec.replicas, name).toBeUndefined()
    }
  })

  test('with a list of namespaces Secrets are read by Roles in them; without one by a ClusterRole', async () => {
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

  test('the definitions are kept on uninstall unless told otherwise', async () => {
    const policies = async (...args: string[]) =>
      (await renderChart(...args))
        .filter(({ kind }) => kind === 'CustomResourceDefinition')
        .map(({ metadata }) => metadata.annotations?.['helm.sh/resource-policy'])
    expect(await policies(...LEAST)).toEqual(Array(7).fill('keep'))
    expect(await policies(...LEAST, ...set('crds.keep=false'))).toEqual(Array(7).fill(undefined))
    expect(await policies(...LEAST, ...set('crds.enabled=false'))).toEqual([])
  })

  test('the Job that makes secrets may read two by name and create, nothing else', async () => {
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
    ])
  })
})

import { describe, expect, test } from 'vitest'
import type { KubeClient, KubeRequest } from './kube/client.ts'
import { missingRights } from './kube/permission-check.ts'
import {
  KIND_RULES,
  namespaceRules,
  OWN_RULES,
  type RbacTarget,
  type Rule,
  rbacObjects,
  WORKLOAD_RULES,
} from './rbac.ts'

interface Role {
  kind: string
  metadata: { name: string; namespace?: string }
  rules?: { apiGroups: string[]; resources: string[]; verbs: string[]; resourceNames?: string[] }[]
  roleRef?: { kind: string; name: string }
  subjects?: { kind: string; name: string; namespace: string }[]
}

const target: RbacTarget = { namespace: 'postwright', serviceAccount: 'operator', name: 'pw', watchNamespaces: [] }
const rolesFor = (...watchNamespaces: string[]) => rbacObjects({ ...target, watchNamespaces }) as Role[]
const named = ({ kind, metadata: { name, namespace } }: Role) => `${kind} ${namespace ? `${namespace}/` : ''}${name}`
/** Roles that may read Secrets. */
const secretRoles = (roles: Role[]) =>
  roles.filter(({ rules }) => rules?.some(({ resources }) => resources.includes('secrets'))).map(named)

describe('the roles', () => {
  test('over all namespaces are one ClusterRole and the Role of the election', () => {
    expect(rolesFor().map(named)).toEqual([
      'Role postwright/pw-leader',
      'RoleBinding postwright/pw-leader',
      'ClusterRole pw',
      'ClusterRoleBinding pw',
    ])
    expect(secretRoles(rolesFor())).toEqual(['ClusterRole pw'])
  })

  test('over some namespaces allow reading Secrets there and nowhere else, and reading these Namespaces only', () => {
    const roles = rolesFor('shop', 'game')
    expect(secretRoles(roles)).toEqual(['Role shop/pw', 'Role game/pw'])
    const wide = roles.find(({ kind }) => kind === 'ClusterRole')
    const namespaces = wide?.rules?.filter(({ resources }) => resources.includes('namespaces'))
    expect(namespaces).toEqual([
      { apiGroups: [''], resources: ['namespaces'], verbs: ['get', 'list', 'watch'], resourceNames: ['shop', 'game'] },
    ])
  })

  test.each([[[]], [['shop']], [['shop', 'game']]])(
    'of %j are each bound to the service account, under their name',
    watched => {
      const roles = rolesFor(...watched)
      for (const role of roles.filter(({ rules }) => rules)) {
        const binding = roles.find(
          ({ kind, metadata }) =>
            kind === `${role.kind}Binding` &&
            metadata.name === role.metadata.name &&
            metadata.namespace === role.metadata.namespace,
        )
        expect(binding?.roleRef).toMatchObject({ kind: role.kind, name: role.metadata.name })
        expect(binding?.subjects).toEqual([{ kind: 'ServiceAccount', name: 'operator', namespace: 'postwright' }])
      }
    },
  )

  test.each([[[]], [['shop', 'game']]])(
    'of %j allow DNSEndpoint objects only when they are turned on',
    watchNamespaces => {
      const rights = (dnsEndpoints: boolean) =>
        (rbacObjects({ ...target, watchNamespaces, dnsEndpoints }) as Role[]).filter(({ rules }) =>
          rules?.some(({ resources }) => resources.includes('dnsendpoints')),
        )
      expect(rights(false)).toEqual([])
      const expected = watchNamespaces.length > 0 ? ['Role shop/pw', 'Role game/pw'] : ['ClusterRole pw']
      expect(rights(true).map(named)).toEqual(expected)
    },
  )

  test('on cluster-scoped kinds are granted over all namespaces only', () => {
    const grants = (roles: Role[]) =>
      roles.some(({ rules }) => rules?.some(({ resources }) => resources.includes('clusterdnsproviders')))
    expect([grants(rolesFor()), grants(rolesFor('shop'))]).toEqual([true, false])
  })

  test('grant nothing by a wildcard, and no deletion', () => {
    for (const { rules = [] } of [...rolesFor(), ...rolesFor('shop')])
      for (const { apiGroups, resources, verbs } of rules) {
        expect([...apiGroups, ...resources, ...verbs]).not.toContain('*')
        expect(verbs).not.toContain('delete')
        expect(verbs).not.toContain('deletecollection')
      }
  })
})

describe('the check at the start', () => {
  /** A client that answers access reviews. */
  function reviewing(allows: (reviews: Record<string, string>) => boolean) {
    const reviews: Record<string, string>[] = []
    const client: Pick<KubeClient, 'request'> = {
      request: async <T>({ body }: KubeRequest) => {
        const { resourceAttributes } = (body as { spec: { resourceAttributes: Record<string, string> } }).spec
        reviews.push(resourceAttributes)
        return { status: { allowed: allows(resourceAttributes) } } as T
      },
    }
    const missing = (rules: readonly Rule[], namespaces: readonly (string | undefined)[]) =>
      missingRights(client as KubeClient, rules, namespaces)
    return { reviews, missing }
  }

  test('finds nothing where everything is allowed, and checks each verb in each namespace', async () => {
    const { reviews, missing } = reviewing(() => true)
    expect(await missing(WORKLOAD_RULES, ['shop', 'game'])).toEqual([])
    expect(reviews).toHaveLength(2 * (5 + 1 + 2))
    expect(reviews).toContainEqual({ verb: 'watch', group: '', resource: 'secrets', namespace: 'shop' })
    expect(reviews).toContainEqual({ verb: 'create', group: 'events.k8s.io', resource: 'events', namespace: 'game' })
  })

  test.each([
    ['a verb in a namespace', WORKLOAD_RULES, ['shop'], { verb: 'watch' }, 'watch secrets in namespace shop'],
    ['a verb everywhere', WORKLOAD_RULES, [undefined], { verb: 'list' }, 'list secrets in all namespaces'],
    [
      'a right on a group',
      OWN_RULES,
      ['own'],
      { verb: 'update' },
      'update leases.coordination.k8s.io in namespace own',
    ],
    ['a right on one object', namespaceRules(['shop']), [undefined], { verb: 'get' }, 'get namespaces shop'],
    ['a right on all objects', namespaceRules([]), [undefined], { verb: 'get' }, 'get namespaces in all namespaces'],
  ] as const)('names %s that is missing as people write it', async (_, rules, scopes, denied, sentence) => {
    const { missing } = reviewing(({ verb }) => verb !== denied.verb)
    expect(await missing(rules, scopes)).toEqual([sentence])
  })

  test('distinguishes a subresource from its resource', async () => {
    const { missing } = reviewing(({ subresource }) => subresource !== 'status')
    const lacking = await missing(KIND_RULES, ['shop'])
    expect(lacking).toContain('patch apps/status.postwright.dev in namespace shop')
    expect(lacking.every(right => /^patch [a-z]+\/status\.postwright\.dev in namespace shop$/.test(right))).toBe(true)
  })
})

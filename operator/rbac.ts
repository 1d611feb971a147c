/**
 * The rights of the operator, as data: the one source for the chart's roles, the check at the start and the tests,
 * which run the operator with exactly these.
 */
import { GROUP, type Kind } from './resources/kind.ts'
import { clusterKinds, namespacedKinds } from './resources/kinds.ts'

/** Verbs on resources of one API group. */
export interface Rule {
  apiGroup: string
  resources: readonly string[]
  verbs: readonly string[]
  /** Only objects of these names; a list or watch has to select one of them. */
  resourceNames?: readonly string[]
}

/**
 * Needed for our own kinds, always by a ClusterRole: a Role is deleted together with its namespace, and then no process
 * could remove the finalizers of the remaining resources (ADR 51).
 */
export const KIND_RULES: readonly Rule[] = rulesFor(namespacedKinds)

/** Needed for the cluster-scoped kinds, by an operator of all namespaces. */
export const CLUSTER_KIND_RULES: readonly Rule[] = rulesFor(clusterKinds)

function rulesFor(kinds: readonly Kind[]): Rule[] {
  const plurals = kinds.map(({ plural }) => plural)
  return [
    { apiGroup: GROUP, resources: plurals, verbs: ['get', 'list', 'watch', 'patch'] },
    { apiGroup: GROUP, resources: plurals.map(plural => `${plural}/status`), verbs: ['patch'] },
  ]
}

/** Needed in every watched namespace, or in the cluster when all are watched. */
export const WORKLOAD_RULES: readonly Rule[] = [
  // RBAC cannot restrict Secrets by label; only labelled ones are listed, and `get` reads those that a DNSProvider
  // names.
  { apiGroup: '', resources: ['secrets'], verbs: ['get', 'list', 'watch', 'create', 'patch'] },
  // A Template may name one; without list, watch or any write.
  { apiGroup: '', resources: ['configmaps'], verbs: ['get'] },
  { apiGroup: 'events.k8s.io', resources: ['events'], verbs: ['create', 'patch'] },
]

/**
 * Rights on the objects that external-dns reads, where MailDomains may write them: in every watched namespace, or in the
 * cluster when all are watched. Not checked at the start: without them only those MailDomains fail.
 */
export const DNS_ENDPOINT_RULES: readonly Rule[] = [
  {
    apiGroup: 'externaldns.k8s.io',
    resources: ['dnsendpoints'],
    verbs: ['get', 'list', 'watch', 'create', 'update', 'delete'],
  },
]

/**
 * Needed on each watched Namespace by its name, or on all of them: the annotation postwright.dev/owners is stored
 * there, and its changes apply immediately (ADR 36).
 */
export function namespaceRules(watchNamespaces: readonly string[]): Rule[] {
  const names = watchNamespaces.length > 0 ? { resourceNames: watchNamespaces } : {}
  return [{ apiGroup: '', resources: ['namespaces'], verbs: ['get', 'list', 'watch'], ...names }]
}

/** Needed in the operator's own namespace. */
export const OWN_RULES: readonly Rule[] = [
  { apiGroup: 'coordination.k8s.io', resources: ['leases'], verbs: ['get', 'create', 'update'] },
]

/** Subject of the permissions. */
export interface RbacTarget {
  /** Namespace and name of the operator's service account. */
  namespace: string
  serviceAccount: string
  /** Prefix of the names of the roles. */
  name: string
  /** Namespaces to watch; empty: all, and the ClusterRole has every right. */
  watchNamespaces: readonly string[]
  /** Whether MailDomains may write DNSEndpoint objects. */
  dnsEndpoints?: boolean
}

/** The roles and bindings as Kubernetes objects. */
export function rbacObjects(target: RbacTarget): object[] {
  const { namespace, name, watchNamespaces, dnsEndpoints = false } = target
  const workload = dnsEndpoints ? [...WORKLOAD_RULES, ...DNS_ENDPOINT_RULES] : WORKLOAD_RULES
  const own = roleWithBinding(target, 'Role', `${name}-leader`, OWN_RULES, { namespace })
  const wide = [...KIND_RULES, ...namespaceRules(watchNamespaces)]
  if (watchNamespaces.length === 0)
    return [...own, ...roleWithBinding(target, 'ClusterRole', name, [...wide, ...CLUSTER_KIND_RULES, ...workload])]
  return [
    ...own,
    ...roleWithBinding(target, 'ClusterRole', name, wide),
    ...watchNamespaces.flatMap(watched => roleWithBinding(target, 'Role', name, workload, { namespace: watched })),
  ]
}

function roleWithBinding(
  { namespace, serviceAccount }: RbacTarget,
  kind: 'Role' | 'ClusterRole',
  name: string,
  rules: readonly Rule[],
  place: { namespace?: string } = {},
): object[] {
  const apiVersion = 'rbac.authorization.k8s.io/v1'
  const metadata = { name, ...place }
  return [
    {
      apiVersion,
      kind,
      metadata,
      rules: rules.map(({ apiGroup, ...rule }) => ({ apiGroups: [apiGroup], ...rule })),
    },
    {
      apiVersion,
      kind: `${kind}Binding`,
      metadata,
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind, name },
      subjects: [{ kind: 'ServiceAccount', namespace, name: serviceAccount }],
    },
  ]
}

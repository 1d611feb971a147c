/**
 * Evaluates connections against rendered NetworkPolicies as networking.k8s.io/v1 specifies: a pod that no policy selects
 * in a direction is open in it; otherwise a rule of some policy must allow the peer and the port.
 */
import { BlockList, isIP } from 'node:net'
import type { Manifest } from './render-chart.ts'

/** The properties of a pod that policies use. */
export interface PolicyPod {
  namespace: string
  labels: Record<string, string>
  /** Ports by their names. */
  ports: Record<string, number>
}

/** One end of a connection: a pod, or an address outside of the cluster. */
export type End = PolicyPod | { address: string }

/** A connection. */
export interface Flow {
  from: End
  to: End
  port: number
  protocol?: 'TCP' | 'UDP'
}

interface Selector {
  matchLabels?: Record<string, string>
  matchExpressions?: { key: string; operator: string; values?: string[] }[]
}

interface Peer {
  podSelector?: Selector
  namespaceSelector?: Selector
  ipBlock?: { cidr: string; except?: string[] }
}

interface PolicyRule {
  ports?: { protocol?: string; port?: number | string; endPort?: number }[]
  from?: Peer[]
  to?: Peer[]
}

interface PolicySpec {
  podSelector: Selector
  policyTypes: string[]
  ingress?: PolicyRule[]
  egress?: PolicyRule[]
}

/** Whether the policies among the manifests allow the connection at both ends. */
export function isAllowed(manifests: readonly Manifest[], flow: Flow): boolean {
  const policies = manifests.filter(({ kind }) => kind === 'NetworkPolicy')
  const passes = (end: End, other: End, direction: 'Ingress' | 'Egress') => {
    if ('address' in end) return true
    const specs = policies
      .filter(policy => (policy.metadata.namespace ?? 'mail') === end.namespace)
      .map(policy => policy.spec as PolicySpec)
      .filter(spec => spec.policyTypes.includes(direction) && matches(spec.podSelector, end.labels))
    return specs.length === 0 || specs.some(spec => rulesOf(spec, direction).some(rule => permits(rule, end, other)))
  }
  const permits = (rule: PolicyRule, end: PolicyPod, other: End) => {
    const peers = rule.from ?? rule.to
    const namespace = end.namespace
    return portFits(rule, flow) && (peers === undefined || peers.some(peer => peerFits(peer, other, namespace)))
  }
  return passes(flow.from, flow.to, 'Egress') && passes(flow.to, flow.from, 'Ingress')
}

function rulesOf(spec: PolicySpec, direction: 'Ingress' | 'Egress'): PolicyRule[] {
  return (direction === 'Ingress' ? spec.ingress : spec.egress) ?? []
}

/** A named port is resolved at the destination pod. */
function portFits({ ports }: PolicyRule, { to, port, protocol = 'TCP' }: Flow): boolean {
  if (ports === undefined) return true
  return ports.some(allowed => {
    if ((allowed.protocol ?? 'TCP') !== protocol) return false
    if (allowed.port === undefined) return true
    if (typeof allowed.port === 'string') return 'ports' in to && to.ports[allowed.port] === port
    return port >= allowed.port && port <= (allowed.endPort ?? allowed.port)
  })
}

function peerFits(peer: Peer, end: End, policyNamespace: string): boolean {
  if (peer.ipBlock) return 'address' in end && inBlock(peer.ipBlock, end.address)
  if ('address' in end) return false
  const namespaceFits = peer.namespaceSelector
    ? matches(peer.namespaceSelector, { 'kubernetes.io/metadata.name': end.namespace })
    : end.namespace === policyNamespace
  return namespaceFits && (peer.podSelector === undefined || matches(peer.podSelector, end.labels))
}

function inBlock({ cidr, except = [] }: { cidr: string; except?: string[] }, address: string): boolean {
  return inNetwork(cidr, address) && !except.some(network => inNetwork(network, address))
}

function inNetwork(cidr: string, address: string): boolean {
  const [network = '', bits = ''] = cidr.split('/')
  const family = isIP(network) === 6 ? 'ipv6' : 'ipv4'
  const list = new BlockList()
  list.addSubnet(network, Number(bits), family)
  // A BlockList matches IPv4 addresses in ::/0 as well; policies separate the families.
  return isIP(address) === (family === 'ipv6' ? 6 : 4) && list.check(address, family)
}

function matches({ matchLabels = {}, matchExpressions = [] }: Selector, labels: Record<string, string>): boolean {
  return (
    Object.entries(matchLabels).every(([key, value]) => labels[key] === value) &&
    matchExpressions.every(({ key, operator, values = [] }) => {
      if (operator === 'In') return values.includes(labels[key] ?? '')
      if (operator === 'NotIn') return !values.includes(labels[key] ?? '')
      if (operator === 'Exists') return key in labels
      if (operator === 'DoesNotExist') return !(key in labels)
      throw new Error(`operator ${operator} does not exist`)
    })
  )
}

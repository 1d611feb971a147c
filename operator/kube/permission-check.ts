/** Checks at the start whether the API server grants the operator all required permissions. */
import type { Rule } from '../rbac.ts'
import type { KubeClient } from './client.ts'

/** One right that is missing, as a person would write it: `watch maildomains.postwright.dev in namespace shop`. */
export type MissingRight = string

interface Attributes {
  verb: string
  group: string
  resource: string
  subresource?: string
  namespace?: string
  name?: string
}

/**
 * Checks every rule in each namespace (`undefined`: in the cluster). Without this check, a list permission
 * without a watch permission starts without error and then makes no progress.
 */
export async function missingRights(
  client: KubeClient,
  rules: readonly Rule[],
  namespaces: readonly (string | undefined)[],
): Promise<MissingRight[]> {
  const wanted = namespaces.flatMap(namespace => rules.flatMap(rule => attributesOf(rule, namespace)))
  const answers = await Promise.all(wanted.map(async entry => ({ entry, allowed: await isAllowed(client, entry) })))
  return answers.filter(({ allowed }) => !allowed).map(({ entry }) => describe(entry))
}

function attributesOf(rule: Rule, namespace: string | undefined): Attributes[] {
  return rule.resources.flatMap(name => {
    const [resource = '', subresource] = name.split('/')
    const named = rule.resourceNames?.map(only => ({ name: only })) ?? [{}]
    return rule.verbs.flatMap(verb =>
      named.map(only => ({
        verb,
        group: rule.apiGroup,
        resource,
        ...(subresource ? { subresource } : {}),
        ...(namespace ? { namespace } : {}),
        ...only,
      })),
    )
  })
}

async function isAllowed(client: KubeClient, resourceAttributes: Attributes): Promise<boolean> {
  const body = {
    apiVersion: 'authorization.k8s.io/v1',
    kind: 'SelfSubjectAccessReview',
    spec: { resourceAttributes },
  }
  const path = '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews'
  const { status } = await client.request<{ status: { allowed: boolean } }>({ method: 'POST', path, body })
  return status.allowed
}

function describe({ verb, group, resource, subresource, namespace, name }: Attributes): MissingRight {
  const what = `${resource}${subresource ? `/${subresource}` : ''}${group ? `.${group}` : ''}`
  if (name) return `${verb} ${what} ${name}`
  return `${verb} ${what} ${namespace ? `in namespace ${namespace}` : 'in all namespaces'}`
}

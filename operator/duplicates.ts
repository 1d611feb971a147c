/** Which of several resources that declare the same thing holds it: the oldest, so that a newcomer takes nothing away. */
import type { KubeObject } from './kube/cache.ts'

/** Fields of the status that name a record: who has one got there first. */
const RECORD_FIELDS = ['domainId', 'appId'] as const

/**
 * The oldest object. Time stamps have whole seconds: of two made in the same second the one that has the record
 * already stays, then the smaller uid decides.
 */
export function oldest<T extends KubeObject>(objects: readonly T[]): T | undefined {
  return objects.toSorted(byAge)[0]
}

/** Which of the others takes over when the object with this uid goes. */
export function heir<T extends KubeObject>(objects: readonly T[], uid: string): T | undefined {
  return oldest(objects.filter(({ metadata }) => metadata.uid !== uid && metadata.deletionTimestamp === undefined))
}

function byAge(one: KubeObject, two: KubeObject): number {
  return (
    order(one.metadata.creationTimestamp, two.metadata.creationTimestamp) ||
    Number(holds(two)) - Number(holds(one)) ||
    order(one.metadata.uid, two.metadata.uid)
  )
}

function order(a: string, b: string): number {
  if (a === b) return 0
  return a < b ? -1 : 1
}

function holds(object: KubeObject): boolean {
  const { status = {} } = object as KubeObject & { status?: Record<string, unknown> }
  return RECORD_FIELDS.some(field => status[field] !== undefined)
}

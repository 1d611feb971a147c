/** Commands as mongod saw them: its profiler records each, of every process, with the plan that it chose. */
import type { Mongo } from '../../../services/platform/database/mongo.ts'

type Filter = Record<string, unknown>
interface Command {
  find?: string
  aggregate?: string
  filter?: Filter
  query?: Filter
  q?: Filter
  pipeline?: { $match?: Filter; $unionWith?: { pipeline: { $match?: Filter }[] } }[]
  [name: string]: unknown
}

/** A command on a collection. */
export interface Profiled {
  op: string
  collection: string
  /** What it asked for; one for each part of a union. Empty: it named no documents (an insert, an index, a size). */
  filters: Filter[]
  plan: string
  keysExamined: number
  docsExamined: number
  returned: number
}

/** Option of a command of the test itself, which is not of interest. */
export const OF_TEST = { comment: 'test' } as const

/** Octets of the profile: some ten thousand commands. */
const SIZE = 64 * 1024 * 1024

/** Begins to record; answers the way to read what was recorded on these collections. */
export async function profileCommands(
  { db }: Mongo,
  collections: readonly string[],
): Promise<() => Promise<Profiled[]>> {
  await db.createCollection('system.profile', { capped: true, size: SIZE })
  await db.command({ profile: 2 })
  return async () => {
    await db.command({ profile: 0 })
    const found = await db
      .collection('system.profile')
      .find({
        'command.comment': { $ne: OF_TEST.comment },
        ns: { $in: collections.map(name => `${db.databaseName}.${name}`) },
      })
      .toArray()
    return found.map(({ op, ns, command, originatingCommand, planSummary, keysExamined, docsExamined, nreturned }) => ({
      op,
      collection: ns.slice(db.databaseName.length + 1),
      filters: filtersOf(originatingCommand ?? command ?? {}),
      plan: planSummary ?? '',
      keysExamined: keysExamined ?? 0,
      docsExamined: docsExamined ?? 0,
      returned: nreturned ?? 0,
    }))
  }
}

function filtersOf({ filter, query, q, pipeline = [], ...command }: Command): Filter[] {
  if (command.aggregate !== undefined)
    return pipeline.flatMap(({ $match, $unionWith }, stage) => [
      ...(stage === 0 ? [$match ?? {}] : []),
      ...($unionWith ? [$unionWith.pipeline[0]?.$match ?? {}] : []),
    ])
  if (command.find !== undefined) return [filter ?? {}]
  return [query, q].flatMap(one => (one ? [one] : []))
}

/**
 * The administration of a sharded cluster as mongos has it, as strict as its documentation: the indexes that it asks for are
 * those of the real database, ranges of zones must not overlap, and a range takes a while to its shard. Nothing is sent
 * anywhere: where there is a mongos, it should take the place of this.
 */
import type { ClusterCommands } from '../../../services/mail/administration/store/cluster-commands.ts'
import type { Db } from '../../../services/platform/database/mongo.ts'

type Key = Record<string, unknown>
interface Range {
  from: number
  to: number
  zone: string
}

/** A cluster with these shards, the first of which is primary. */
export interface FakeCluster extends ClusterCommands {
  /** Keys of sharded collections. */
  keys: Map<string, Key>
  /** Shards of each zone. */
  zones: Map<string, string>
  ranges: Map<string, Range[]>
  commands: string[]
  /** Number of the command that fails, from 0. */
  failAt: number | undefined
}

/** `moves`: how often a collection is asked for before its ranges are in place. */
export function fakeCluster(db: Db, shards: readonly string[], moves = 2): FakeCluster {
  let left = 0
  const cluster: FakeCluster = {
    keys: new Map(),
    zones: new Map(),
    ranges: new Map(),
    commands: [],
    failAt: undefined,
    isCluster: async () => true,
    shards: async () =>
      shards.map(id => ({ id, zones: [...cluster.zones].flatMap(([zone, shard]) => (shard === id ? [zone] : [])) })),
    primaryShard: async () => shards[0] ?? '',
    shardKey: async namespace => cluster.keys.get(namespace),
    isBalanced: async namespace => {
      if (!cluster.keys.has(namespace)) throw new Error(`NamespaceNotSharded: ${namespace}`)
      return left-- <= 0
    },
    async run(command) {
      const [name = ''] = Object.keys(command)
      if (cluster.commands.length === cluster.failAt) {
        cluster.failAt = undefined
        throw new Error('the cluster is away')
      }
      cluster.commands.push(name)
      const does = HANDLERS[name]
      if (!does) throw new Error(`CommandNotFound: ${name}`)
      await does(cluster, command, { db, shards })
      if (name === 'updateZoneKeyRange') left = moves
    },
  }
  return cluster
}

type Handler = (cluster: FakeCluster, command: Key, at: { db: Db; shards: readonly string[] }) => void | Promise<void>

const HANDLERS: Record<string, Handler> = {
  enableSharding(_, { enableSharding }, { db }) {
    if (enableSharding !== db.databaseName) throw new Error(`InvalidNamespace: ${enableSharding}`)
  },
  async shardCollection({ keys }, { shardCollection, key, ...rest }, { db }) {
    if (Object.keys(rest).length > 0) throw new Error(`BadValue: ${Object.keys(rest)}`)
    const namespace = String(shardCollection)
    if (keys.has(namespace)) throw new Error(`AlreadyInitialized: ${namespace}`)
    const fields = Object.keys(key as Key)
    const indexes = await db.collection(namespace.slice(db.databaseName.length + 1)).indexes()
    const begins = (index: Key) => fields.every((field, n) => Object.keys(index)[n] === field)
    if (!indexes.some(index => begins(index.key) && !index.partialFilterExpression && !index.sparse))
      throw new Error(`InvalidOptions: ${namespace} needs an index that begins with ${fields}`)
    for (const index of indexes)
      if (index.unique && !begins(index.key))
        throw new Error(`InvalidOptions: ${namespace} has the unique ${index.name}`)
    if (
      (await db.collection(namespace.slice(db.databaseName.length + 1)).countDocuments({ cell: { $exists: false } })) >
      0
    )
      throw new Error('documents without a cell')
    keys.set(namespace, key as Key)
  },
  addShardToZone({ zones }, { addShardToZone, zone }, { shards }) {
    if (!shards.includes(String(addShardToZone))) throw new Error(`ShardNotFound: ${addShardToZone}`)
    const other = zones.get(String(zone))
    if (other && other !== addShardToZone) throw new Error(`${zone} would be on two shards`)
    zones.set(String(zone), String(addShardToZone))
  },
  updateZoneKeyRange({ keys, zones, ranges }, { updateZoneKeyRange, min, max, zone }) {
    const namespace = String(updateZoneKeyRange)
    const fields = JSON.stringify(Object.keys(keys.get(namespace) ?? {}))
    for (const bound of [min, max])
      if (JSON.stringify(Object.keys(bound as Key)) !== fields) throw new Error(`ShardKeyNotFound: ${namespace}`)
    if (!zones.has(String(zone))) throw new Error(`ZoneNotFound: ${zone}`)
    const { cell: from } = min as Key
    const range = { from: typeof from === 'number' ? from : -1, to: Number((max as Key).cell), zone: String(zone) }
    const others = (ranges.get(namespace) ?? []).filter(one => one.from !== range.from || one.to !== range.to)
    if (others.some(one => range.from < one.to && one.from < range.to)) throw new Error('RangeOverlapConflict')
    ranges.set(namespace, [...others, range])
  },
}

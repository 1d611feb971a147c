/** What administration asks of a sharded cluster, through the mongos that is connected. */
import mongoose from 'mongoose'
import type { Db } from '../../../platform/database/mongo.ts'

/** A shard, with the names of the zones that it has. */
export interface Shard {
  id: string
  zones: readonly string[]
}

/** A bound of a range of keys. */
export type KeyBound = Record<string, unknown>

/** The commands. */
export interface ClusterCommands {
  /** True where a mongos answers. */
  isCluster(): Promise<boolean>
  shards(): Promise<Shard[]>
  /** The shard that has the collections that are not sharded. */
  primaryShard(): Promise<string>
  /** The key of a sharded collection; undefined where it is not sharded. */
  shardKey(namespace: string): Promise<Record<string, unknown> | undefined>
  /** True when every range of a collection is at a shard of its zone. */
  isBalanced(namespace: string): Promise<boolean>
  /** Runs an administrative command. Rejects with the error of the server. */
  run(command: Record<string, unknown>): Promise<void>
}

/** The commands of the server that this database is at. */
export function clusterCommandsOf(db: Db): ClusterCommands {
  const admin = db.admin()
  const config = db.client.db('config')
  return {
    isCluster: async () => (await admin.command({ hello: 1 })).msg === 'isdbgrid',
    async shards() {
      const { shards } = await admin.command({ listShards: 1 })
      return (shards as { _id: string; tags?: string[] }[]).map(({ _id, tags = [] }) => ({ id: _id, zones: tags }))
    },
    async primaryShard() {
      const databases = config.collection<{ _id: string; primary: string }>('databases')
      const found = await databases.findOne({ _id: db.databaseName })
      if (!found) throw new Error(`the cluster does not know the database ${db.databaseName}`)
      return found.primary
    },
    async shardKey(namespace) {
      const collections = config.collection<{ _id: string; key: Record<string, unknown>; unsplittable?: boolean }>(
        'collections',
      )
      // From 8.0 on collections that are not sharded may be in it as well, as unsplittable.
      return (await collections.findOne({ _id: namespace, unsplittable: { $ne: true } }))?.key
    },
    async isBalanced(namespace) {
      return (await admin.command({ balancerCollectionStatus: namespace })).balancerCompliant === true
    },
    async run(command) {
      await admin.command(command)
    },
  }
}

/**
 * The range of a cell. That of the first one begins before everything, because a key that is missing sorts there.
 * `more`: the further fields of the key.
 */
export function rangeOfCell(cell: number, more: readonly string[]): { min: KeyBound; max: KeyBound } {
  const before = new mongoose.mongo.MinKey()
  const rest = Object.fromEntries(more.map(field => [field, before]))
  return { min: { cell: cell === 0 ? before : cell, ...rest }, max: { cell: cell + 1, ...rest } }
}

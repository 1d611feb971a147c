/**
 * Reports a reverse proxy that TRUSTED_PROXIES does not list. All its clients have its address then: they share its
 * login limits, its rates and the networks of tokens, and nothing else shows it.
 */
import type { Clock } from '../clock.ts'
import { collectionOf, defineCollection, type Mongo } from '../database/mongo.ts'
import { isPublicAddress } from '../network/public-address.ts'
import type { Log } from '../observability/log.ts'

/** The last peer of its kind that sent forwarding headers without being trusted: two documents at most, whoever sends them. */
export interface ForwardingNote {
  _id: 'private' | 'public'
  peer: string
  header: string
  seen_at: Date
}

/** Notes of all processes, with an expiry. */
export const FORWARDING_NOTES = defineCollection<ForwardingNote>('forwarding_notes', [
  { key: { seen_at: 1 }, expireAfterSeconds: 3_600 },
])

/** Header fields in which proxies name their client. */
const FIELDS = ['x-forwarded-for', 'forwarded', 'x-real-ip'] as const

/** The first header field of a request that a proxy adds; undefined when there is none. */
export function forwardingHeader(headers: NodeJS.Dict<string | string[]>): string | undefined {
  return FIELDS.find(name => headers[name] !== undefined)
}

/** Called with each untrusted peer that sent a forwarding header; repeats cost nothing. */
export type ForwardingWatch = (peer: string, header: string) => void

/** Interval of repeated reports of a process, in milliseconds. */
const REPEAT_MS = 600_000

/** Creates the watch of one process: a log line and a note for the health page, at most one per ten minutes. */
export function watchForwarding({ log, mongo, clock }: { log: Log; mongo: Mongo; clock: Clock }): ForwardingWatch {
  const reportedAt = new Map<ForwardingNote['_id'], number>()
  return (peer, header) => {
    if (peer === '') return // the connection is closed already
    const _id = isPublicAddress(peer) ? 'public' : 'private'
    const seen_at = clock.now()
    if (seen_at.getTime() - (reportedAt.get(_id) ?? Number.NEGATIVE_INFINITY) < REPEAT_MS) return
    reportedAt.set(_id, seen_at.getTime())
    log.warn(
      { peer, header },
      'a peer outside of TRUSTED_PROXIES sends forwarding headers, which do not count: all clients behind it share its address and limits. If it is your reverse proxy, add its network to TRUSTED_PROXIES',
    )
    collectionOf(mongo.db, FORWARDING_NOTES)
      .updateOne({ _id }, { $set: { peer, header, seen_at } }, { upsert: true })
      .catch((error: unknown) => log.warn({ err: error }, 'the untrusted proxy could not be noted for the health page'))
  }
}

/** What all processes noted lately, private peers first: they are the likelier proxies. */
export function forwardingNotes({ db }: Pick<Mongo, 'db'>): Promise<ForwardingNote[]> {
  return collectionOf(db, FORWARDING_NOTES).find().sort({ _id: 1 }).toArray()
}

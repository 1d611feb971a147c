/**
 * Records which sites refuse mail of which domain for failed authentication, away from the path of delivery: refusals are
 * counted in memory and written every few seconds. A worker that dies loses the counts of these seconds, no mail.
 */
import type { Clock } from '../../platform/clock.ts'
import type { Db } from '../../platform/database/mongo.ts'
import { addRefusals, type NewRefusals, REFUSAL_MS, withoutDelivered } from './rules/authentication-refusals.ts'
import { changeRefusals, domainsWithRefusals, removeRefusalsBefore } from './store/authentication-refusals.ts'

/** Pairs of a domain and a site that wait for the next write; further ones are only in the metric. */
const MAX_PENDING = 10_000
/** Domains that are written at the same time. */
const PARALLEL = 8

/** What one domain got since the last write. */
interface News {
  refused: Map<string, NewRefusals>
  delivered: Map<string, Date>
}

/** The recorder of a worker. `flush` and `refresh` are called at intervals; both reject when the database is away. */
export class RefusalRecorder {
  readonly #options: { db: Db; clock: Clock }
  /** Sites that refuse mail, by domain: what a delivery may clear. */
  #known = new Map<string, Set<string>>()
  #news = new Map<string, News>()
  #pending = 0

  constructor(options: { db: Db; clock: Clock }) {
    this.#options = options
  }

  /** Counts a refusal. */
  refused(domainId: string, refusal: Omit<NewRefusals, 'count'>): void {
    const before = this.#news.get(domainId)?.refused.get(refusal.site)
    if (!before && ++this.#pending > MAX_PENDING) return
    this.#newsOf(domainId).refused.set(refusal.site, { ...refusal, count: (before?.count ?? 0) + 1 })
  }

  /** Notes a delivery; costs a look-up in memory unless the site has refused mail of this domain lately. */
  delivered(domainId: string, site: string, at: Date): void {
    if (!this.#known.get(domainId)?.has(site) && !this.#news.get(domainId)?.refused.has(site)) return
    this.#newsOf(domainId).delivered.set(site, at)
  }

  /** Writes what came since the last time. What could not be written is kept for the next one. */
  async flush(): Promise<void> {
    const { db, clock } = this.#options
    const waiting = [...this.#news]
    this.#news = new Map()
    this.#pending = 0
    const errors: unknown[] = []
    const write = async ([domainId, news]: [string, News]) => {
      const now = clock.now()
      const refusals = await changeRefusals(db, domainId, known =>
        withoutDelivered(addRefusals(known, [...news.refused.values()], now), news.delivered),
      )
      this.#watch(domainId, refusals?.map(({ site }) => site) ?? [])
    }
    for (let at = 0; at < waiting.length; at += PARALLEL)
      await Promise.all(
        waiting.slice(at, at + PARALLEL).map(entry =>
          write(entry).catch((error: unknown) => {
            errors.push(error)
            this.#keep(entry)
          }),
        ),
      )
    if (errors.length > 0) throw errors[0]
  }

  /** Learns what other workers recorded, and removes what is older than a week. */
  async refresh(): Promise<void> {
    const { db, clock } = this.#options
    await removeRefusalsBefore(db, new Date(clock.now().getTime() - REFUSAL_MS))
    const found = await domainsWithRefusals(db)
    this.#known = new Map(found.map(({ id, refusals }) => [id, new Set(refusals.map(({ site }) => site))]))
  }

  #newsOf(domainId: string): News {
    const news = this.#news.get(domainId) ?? { refused: new Map(), delivered: new Map() }
    this.#news.set(domainId, news)
    return news
  }

  #watch(domainId: string, sites: readonly string[]): void {
    if (sites.length === 0) this.#known.delete(domainId)
    else this.#known.set(domainId, new Set(sites))
  }

  /** Joins what was not written with what came since. */
  #keep([domainId, { refused, delivered }]: [string, News]): void {
    const news = this.#newsOf(domainId)
    for (const [site, old] of refused) {
      const newer = news.refused.get(site)
      if (!newer && ++this.#pending > MAX_PENDING) continue
      news.refused.set(site, newer ? { ...newer, count: newer.count + old.count } : old)
    }
    for (const [site, at] of delivered) if (!news.delivered.has(site)) news.delivered.set(site, at)
  }
}

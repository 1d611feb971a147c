/** Counts an account's messages of a period by pipelines on the database's side. */
import { collectionOf, type Db } from '../../../platform/database/mongo.ts'
import { firstIdAt, MESSAGES } from '../../store/messages.ts'
import type { RecipientStatus } from '../../store/rules/email-status.ts'
import { SIMULATOR_DOMAIN } from '../../store/rules/simulation.ts'
import { FAILED_STATUSES } from '../rules/failure-reason.ts'
import type { NamedCounts, PeriodCounts } from '../rules/sum-counts.ts'

const MAX_MS = 20_000

interface Grouped {
  totals: { _id: RecipientStatus; recipients: number; messages: number; tagged: boolean }[]
  domains: Named[]
  reasons: Named[]
  senders: Named[]
  submitters: Named[]
}

interface Named {
  _id: string
  statuses: { status: RecipientStatus; n: number }[]
}

/**
 * One pass over the messages of the period (an index range), and a second one when they have tags: a message is in the
 * counts of each of its tags. `most`: values of each dimension.
 */
export async function countPeriod(
  db: Db,
  userId: string,
  { start, end }: { start: Date; end: Date },
  most: number,
): Promise<PeriodCounts> {
  const range = { user_id: userId, _id: { $gte: firstIdAt(start), $lt: firstIdAt(end) }, test: { $ne: true } }
  const options = { maxTimeMS: MAX_MS, allowDiskUse: true }
  const messages = collectionOf(db, MESSAGES)
  const [grouped] = await messages.aggregate<Grouped>(byDimensions(range, most), options).toArray()
  const totals = grouped?.totals ?? []
  const tags = totals.some(({ tagged }) => tagged)
    ? await messages.aggregate<Named>(byTag(range, most), options).toArray()
    : []
  return {
    messages: totals.reduce((all, part) => all + part.messages, 0),
    recipients: Object.fromEntries(totals.map(({ _id, recipients }) => [_id, recipients])),
    domains: (grouped?.domains ?? []).map(toNamed).map(({ name, recipients }) => ({ domain: name, recipients })),
    by: {
      reasons: (grouped?.reasons ?? []).map(toNamed),
      senders: (grouped?.senders ?? []).map(toNamed),
      submitters: (grouped?.submitters ?? []).map(toNamed),
      tags: tags.map(toNamed),
    },
  }
}

const DOMAIN_OF = (address: string) => ({ $arrayElemAt: [{ $split: [address, '@'] }, -1] })
/** Recipients to which something went out. */
const NOT_SIMULATED = {
  $filter: { input: '$rcpts', cond: { $ne: [{ $toLower: DOMAIN_OF('$$this.email') }, SIMULATOR_DOMAIN] } },
}

function byDimensions(range: object, most: number): object[] {
  const isFailed = { $in: ['$rcpts.status', [...FAILED_STATUSES]] }
  return [
    { $match: range },
    {
      $project: {
        ...{ _id: 0, rcpts: NOT_SIMULATED, via: '$via.id' },
        sender: { $toLower: DOMAIN_OF('$from') },
        tagged: { $gt: [{ $size: { $ifNull: ['$tags', []] } }, 0] },
      },
    },
    { $unwind: { path: '$rcpts', includeArrayIndex: 'n' } },
    // One group for each combination: what follows works on these alone.
    {
      $group: {
        _id: {
          domain: DOMAIN_OF('$rcpts.email'),
          status: '$rcpts.status',
          reason: { $cond: [isFailed, { $ifNull: ['$rcpts.kind', ''] }, ''] },
          sender: '$sender',
          via: { $ifNull: ['$via', ''] },
        },
        recipients: { $sum: 1 },
        messages: { $sum: { $cond: [{ $eq: ['$n', 0] }, 1, 0] } },
        tagged: { $max: '$tagged' },
      },
    },
    {
      $facet: {
        totals: [
          {
            $group: {
              _id: '$_id.status',
              recipients: { $sum: '$recipients' },
              messages: { $sum: '$messages' },
              tagged: { $max: '$tagged' },
            },
          },
        ],
        domains: busiest('$_id.domain', most),
        reasons: [{ $match: { '_id.reason': { $ne: '' } } }, ...busiest('$_id.reason', most)],
        senders: busiest('$_id.sender', most),
        submitters: [{ $match: { '_id.via': { $ne: '' } } }, ...busiest('$_id.via', most)],
      },
    },
  ]
}

/** Tags may have as many values as there are messages: the groups of a large period are on disk. */
function byTag(range: object, most: number): object[] {
  return [
    { $match: { ...range, 'tags.0': { $exists: true } } },
    { $project: { _id: 0, tags: 1, rcpts: NOT_SIMULATED } },
    { $unwind: '$tags' },
    { $unwind: '$rcpts' },
    {
      $group: {
        _id: { tag: { $concat: ['$tags.name', ':', '$tags.value'] }, status: '$rcpts.status' },
        recipients: { $sum: 1 },
      },
    },
    ...busiest('$_id.tag', most),
  ]
}

/** The values with most recipients, the same ones each time; a combination may be there more than once for a status. */
function busiest(value: string, most: number): object[] {
  return [
    {
      $group: {
        _id: value,
        all: { $sum: '$recipients' },
        statuses: { $push: { status: '$_id.status', n: '$recipients' } },
      },
    },
    { $sort: { all: -1, _id: 1 } },
    { $limit: most },
  ]
}

function toNamed({ _id, statuses }: Named): NamedCounts {
  const recipients: NamedCounts['recipients'] = {}
  for (const { status, n } of statuses) recipients[status] = (recipients[status] ?? 0) + n
  return { name: _id, recipients }
}

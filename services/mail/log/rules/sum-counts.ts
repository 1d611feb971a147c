/** Counts of periods and their sums. */
import { RECIPIENT_STATUSES, type RecipientStatus } from '../../store/rules/email-status.ts'

/** Recipients by status. */
export type StatusCounts = Partial<Record<RecipientStatus, number>>

/** Recipients of one value of a dimension: a domain, a token, a tag. */
export interface NamedCounts {
  name: string
  recipients: StatusCounts
}

/** Dimensions besides that of recipient domains. */
export const DIMENSIONS = ['reasons', 'senders', 'submitters', 'tags'] as const

/**
 * The busiest values of each dimension, so that a document stays small however many there are: classes of failures,
 * domains of senders, ids of tokens and SMTP logins, tags as `name:value`.
 */
export type Breakdown = Record<(typeof DIMENSIONS)[number], NamedCounts[]>

/** What was counted in a period. */
export interface PeriodCounts {
  messages: number
  recipients: StatusCounts
  /** The busiest recipient domains. */
  domains: { domain: string; recipients: StatusCounts }[]
  /** Absent in counts of earlier releases. */
  by?: Breakdown
}

/** The sum of some periods, with at most `most` values of each dimension. */
export function sumCounts(parts: readonly PeriodCounts[], most: number): PeriodCounts {
  const domains = parts.flatMap(part => part.domains.map(({ domain, recipients }) => ({ name: domain, recipients })))
  return {
    messages: parts.reduce((total, { messages }) => total + messages, 0),
    recipients: parts.reduce<StatusCounts>((total, { recipients }) => add(total, recipients), {}),
    domains: sumNamed(domains, most).map(({ name, recipients }) => ({ domain: name, recipients })),
    by: breakdownOf(parts, most),
  }
}

/** The sum of the other dimensions of some periods. */
export function breakdownOf(parts: readonly Pick<PeriodCounts, 'by'>[], most: number): Breakdown {
  const of = (dimension: keyof Breakdown) =>
    sumNamed(
      parts.flatMap(({ by }) => by?.[dimension] ?? []),
      most,
    )
  return { reasons: of('reasons'), senders: of('senders'), submitters: of('submitters'), tags: of('tags') }
}

/** One entry for each name, the busiest first. */
function sumNamed(given: readonly NamedCounts[], most: number): NamedCounts[] {
  const sums = new Map<string, StatusCounts>()
  for (const { name, recipients } of given) sums.set(name, add(sums.get(name), recipients))
  return [...sums]
    .map(([name, recipients]) => ({ name, recipients }))
    .toSorted((a, b) => total(b.recipients) - total(a.recipients) || (a.name < b.name ? -1 : 1))
    .slice(0, most)
}

function total(recipients: StatusCounts): number {
  return RECIPIENT_STATUSES.reduce((all, status) => all + (recipients[status] ?? 0), 0)
}

function add(one: StatusCounts = {}, other: StatusCounts): StatusCounts {
  const result = { ...one }
  for (const status of RECIPIENT_STATUSES)
    if (other[status]) result[status] = (result[status] ?? 0) + (other[status] ?? 0)
  return result
}

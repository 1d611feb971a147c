/** Which recipients are suppressed: asked at acceptance and again before each attempt, one query for all that ask at once. */
import type { Clock } from '../../platform/clock.ts'
import { createGroupCommit } from '../../platform/concurrency/group-commit.ts'
import type { Db } from '../../platform/database/mongo.ts'
import { isSuppressedAtSimulator } from '../store/rules/simulation.ts'
import { ALL_STREAMS, type SuppressionState, suppressionAddress, suppressionFor } from './rules/suppression.ts'
import { type AddressesOfAccount, findSuppressions } from './store/suppressions.ts'

/** The recipients of one message. */
export interface SuppressionQuestion {
  userId: string
  /** Of the message; absent: transactional. */
  stream?: string | undefined
  emails: readonly string[]
}

/** The entries that hold, by the address as it was asked; addresses that may get mail are missing. */
export type Suppressed = ReadonlyMap<string, SuppressionState>

/** Answers questions in their order. Rejects when the database is away. */
export type FindSuppressed = (questions: readonly SuppressionQuestion[]) => Promise<readonly Suppressed[]>

/** Looks up with one query, which scans the unique index alone. */
export function createFindSuppressed(db: Db, clock: Clock): FindSuppressed {
  return async questions => {
    const entries = await findSuppressions(db, addressesByAccount(questions))
    const isSimulated = questions.some(({ emails }) => emails.some(isSuppressedAtSimulator))
    if (entries.length === 0 && !isSimulated) return questions.map(() => NONE)
    const now = clock.now()
    const known = Map.groupBy(entries, ({ user_id, email }) => keyOf(user_id, email))
    return questions.map(({ userId, stream, emails }) => {
      const found = emails.flatMap(email => {
        const own = known.get(keyOf(userId, suppressionAddress(email)))
        const entry = (own && suppressionFor(own, stream, now)) ?? simulatedEntry(email, now)
        return entry ? [[email, entry] as const] : []
      })
      return new Map(found)
    })
  }
}

/** As if the address had bounced at this moment. */
function simulatedEntry(email: string, now: Date): SuppressionState | undefined {
  if (!isSuppressedAtSimulator(email)) return undefined
  return { email, stream: ALL_STREAMS, reason: 'hard_bounce', created_at: now }
}

/** Questions of one query: about as many recipients as fit a command of 1 MiB. */
const MOST_QUESTIONS = 500
const MOST_BYTES = 512 * 1024
/** Bytes of an address in a command, about. */
const ADDRESS_BYTES = 60

/** As {@link createFindSuppressed} for one message: those that ask while a query is under way share the next one. */
export function shareQueries(find: FindSuppressed): (question: SuppressionQuestion) => Promise<Suppressed> {
  return createGroupCommit<SuppressionQuestion, Suppressed>({
    write: find,
    sizeOf: ({ emails }) => emails.length * ADDRESS_BYTES,
    most: MOST_QUESTIONS,
    mostBytes: MOST_BYTES,
    flights: 2,
  })
}

const NONE: Suppressed = new Map()

function addressesByAccount(questions: readonly SuppressionQuestion[]): AddressesOfAccount[] {
  const accounts = new Map<string, Set<string>>()
  for (const { userId, emails } of questions) {
    const known = accounts.get(userId) ?? new Set<string>()
    for (const email of emails) known.add(suppressionAddress(email))
    accounts.set(userId, known)
  }
  return [...accounts].map(([userId, emails]) => ({ userId, emails: [...emails] }))
}

/** An account's id has no blank. */
function keyOf(userId: string, email: string): string {
  return `${userId} ${email}`
}

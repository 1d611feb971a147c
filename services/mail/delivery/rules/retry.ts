/** What follows an attempt: the time of the next one, or the end. A table, the same for all messages. */
import type { Classification, FailureKind } from './classify-reply.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE

/** Waits after the first, second, … attempt; the last one repeats until the message expires. */
const WAITS: readonly number[] = [1, 4, 10, 20, 40, 80, 160, 240].map(minutes => minutes * MINUTE)
/**
 * The site's own pace (rules/site-control.ts) protects a receiver that asked for less, so its messages may come back soon.
 * The first wait is short: what a receiver refuses of the first burst follows as soon as its speed is known.
 */
const THROTTLED_WAITS: readonly number[] = [1 / 12, 0.5, 1, 2, 5, 10, 20, 40, 80, 160, 240].map(
  minutes => minutes * MINUTE,
)
/** A full mailbox needs a person to empty it. */
const FULL_WAITS: readonly number[] = [1, 4, 8, 12].map(hours => hours * HOUR)
/** Greylisting servers want to see the same sender again after some minutes, commonly five. */
const GREYLIST_LEAST = 5 * MINUTE
/** Where only the reply was lost, the receiver gets time to finish, and its duplicate check to notice. */
const AMBIGUOUS_LEAST = 15 * MINUTE
/** Ambiguous attempts of one recipient; after the last the recipient fails rather than getting the mail again. */
const AMBIGUOUS_MOST = 2
/** A missing key or a refused relay login needs an administrator; tries stay frequent so that the repair shows soon. */
const INTERNAL_WAIT = 5 * MINUTE

/** The recipient's history up to and including the attempt. */
export interface History {
  /** Attempts so far, with this one. */
  attempts: number
  /** Ambiguous attempts so far, with this one. */
  ambiguous: number
  expiresAt: Date
  /** The message's policy for attempts of unknown outcome. */
  policy: 'retry' | 'fail'
}

/** The next step of a recipient that was not delivered. */
export type NextStep =
  | { kind: 'retry'; due: Date }
  /** Failed for good: refused by the receiver, out of time, or by the ambiguity policy. */
  | { kind: 'end'; status: 'bounced' | 'failed'; event: 'bounced' | 'expired' | 'failed' }

/**
 * Decides after an attempt whose outcome is known and is not "delivered". `jitter` is a number from 0 to 1. `wait`: in
 * milliseconds, in place of the usual one.
 */
export function afterFailure(
  classification: Classification,
  history: History,
  now: Date,
  jitter: number,
  wait = waitAfter(classification.kind ?? 'other', history.attempts),
): NextStep {
  if (classification.outcome === 'bounced') return { kind: 'end', status: 'bounced', event: 'bounced' }
  return retryOrExpire(wait, history, now, jitter)
}

/**
 * Decides after an attempt of unknown outcome. `reply`: the final dot went out and no reply came (RFC 1047). `worker`:
 * the worker was gone before it noted an outcome; often the dot never went out, so the message need not wait longer
 * than after any other failure.
 */
export function afterAmbiguous(missing: 'reply' | 'worker', history: History, now: Date, jitter: number): NextStep {
  if (history.policy === 'fail' || history.ambiguous > AMBIGUOUS_MOST)
    return { kind: 'end', status: 'failed', event: 'failed' }
  const least = missing === 'reply' ? AMBIGUOUS_LEAST * 1.25 : 0
  return retryOrExpire(Math.max(least, waitAfter('other', history.attempts)), history, now, jitter)
}

function waitAfter(kind: FailureKind, attempts: number): number {
  const index = Math.max(0, attempts - 1)
  if (kind === 'mailbox_full') return FULL_WAITS[Math.min(index, FULL_WAITS.length - 1)] ?? HOUR
  if (kind === 'signing' || kind === 'relay_login') return INTERNAL_WAIT
  if (kind === 'throttled') return THROTTLED_WAITS[Math.min(index, THROTTLED_WAITS.length - 1)] ?? HOUR
  const wait = WAITS[Math.min(index, WAITS.length - 1)] ?? HOUR
  // 1.25: the jitter may take a fifth away.
  return kind === 'greylisted' ? Math.max(GREYLIST_LEAST * 1.25, wait) : wait
}

/** A wait of 80 to 120 %, so that mail deferred together does not come back together. */
function retryOrExpire(wait: number, { expiresAt }: History, now: Date, jitter: number): NextStep {
  const due = new Date(now.getTime() + Math.round(wait * (0.8 + 0.4 * jitter)))
  // A last try at the end is worth more than a wait that cannot finish.
  if (now >= expiresAt) return { kind: 'end', status: 'failed', event: 'expired' }
  return { kind: 'retry', due: due < expiresAt ? due : expiresAt }
}

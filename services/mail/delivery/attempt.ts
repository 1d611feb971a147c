/** One attempt: read and sign the message, mark it, send it to its recipients at one destination, judge what came back. */

import { createByteGate } from '../../platform/concurrency/byte-limit.ts'
import { createGroupCommit } from '../../platform/concurrency/group-commit.ts'
import type { Log } from '../../platform/observability/log.ts'
import { type Claimed, type DeliveryQueue, recipientOf } from '../store/deliveries.ts'
import type { Outgoing } from '../store/outgoing.ts'
import { createPreparation } from './prepare.ts'
import { type LocalFailure, localResult, type Result, type ResultWorld, resultOf } from './result.ts'
import type { SiteLimits } from './rules/site-control.ts'
import type { FindKeys } from './signing-keys.ts'
import type { SignedMessage } from './smtp/signer.ts'
import type { Recipient, Transaction } from './smtp/transaction.ts'
import type { Route, Sent, Transport } from './smtp/transport.ts'

/** Recipients of a message that share one transaction. */
export interface Group {
  outgoing: Outgoing
  deliveries: Claimed[]
  site: string
  route: Route
}

/** What an attempt came to; `untouched` deliveries were withheld and are to be given back. */
export interface Attempted {
  results: Result[]
  untouched: Claimed[]
  /** The site did not let a session begin. */
  unreachable?: Sent['unreachable']
  /** A session began, whatever became of the message. */
  reached?: boolean
}

/** Runs an attempt; never rejects. */
export type Attempt = (group: Group, limits: SiteLimits) => Promise<Attempted>

/** What attempts need. */
export interface AttemptOptions {
  transport: Transport
  queue: DeliveryQueue
  findKeys: FindKeys
  /** True while the claim's slot is ours, without a break, for long enough. */
  mayFinish(claim: { slot: number; epoch: number }): boolean
  world(): ResultWorld
  log: Log
}

/** Memory for messages on their way whose bodies are not in memory before: large ones, and what the hand has no room for. */
const LARGE_BYTES = 96 * 1024 * 1024
const MARKS = { most: 200, mostBytes: Number.POSITIVE_INFINITY, flights: 1, sizeOf: () => 1, gatherMs: 12 }

/** Makes the attempt function of a worker. */
export function createAttempt(options: AttemptOptions): Attempt {
  const { transport, world, mayFinish, log } = options
  const prepare = createPreparation(options)
  const mark = createMark(options.queue)
  const gate = createByteGate(LARGE_BYTES, 0)

  const transactionOf = ({ outgoing, deliveries }: Group, ready: SignedMessage): Transaction => {
    const { message } = outgoing
    const mine = () => deliveries.every(mayFinish)
    return {
      origin: {
        messageId: message._id,
        userId: message.report_for ?? message.user_id,
        deliveryId: deliveries[0]?._id ?? message._id,
      },
      from: message.mail_from,
      recipients: recipientsOf(outgoing, deliveries),
      content: ready.content,
      eightBit: ready.eightBit,
      sevenBit: () => prepare.sevenBit(outgoing),
      utf8: ready.utf8Header || [message.mail_from, ...deliveries.map(({ rcpt }) => rcpt)].some(hasHighCharacters),
      dsn: message.dsn,
      mark: async () => mine() && (await Promise.all(deliveries.map(mark))).every(Boolean),
      mayFinish: mine,
    }
  }

  /** What is in memory is signed first; anything else is read once the site has opened a session, and memory is free. */
  const send = async (group: Group, limits: SiteLimits, entered: (leave: () => void) => void): Promise<Attempted> => {
    const { outgoing, deliveries, route } = group
    const { message } = outgoing
    const local: { failure?: LocalFailure } = {}
    const open = async () => {
      const ready = await prepare.signed(outgoing)
      if (!('judged' in ready)) return transactionOf(group, ready)
      local.failure = ready
      return undefined
    }
    const openLater = async () => {
      entered(await gate.enter(message.size, message.user_id))
      return open()
    }
    const transaction = outgoing.inMemory ? await open() : undefined
    if (local.failure) return failed(deliveries, outgoing, local.failure, world())
    const sent = await transport.send(
      route,
      transaction ?? { recipients: recipientsOf(outgoing, deliveries), open: openLater },
      limits.messagesPerConnection,
    )
    if (local.failure) return failed(deliveries, outgoing, local.failure, world())
    const now = world()
    const attempted: Attempted = {
      ...{ results: [], untouched: [], unreachable: sent.unreachable },
      reached: sent.unreachable === undefined,
    }
    deliveries.forEach((delivery, index) => {
      const outcome = sent.outcomes[index]
      const result = outcome && resultOf(delivery, message, outcome, sent, now)
      if (result) attempted.results.push(result)
      else attempted.untouched.push(delivery)
    })
    return attempted
  }

  return async (group, limits) => {
    let release = () => {}
    try {
      return await send(group, limits, leave => {
        release = leave
      })
    } catch (error) {
      // Nothing was sent: everything after the first byte is an outcome, not an exception.
      log.error({ err: error, m: group.outgoing.message._id }, 'an attempt could not be made')
      return { results: [], untouched: group.deliveries }
    } finally {
      release()
    }
  }
}

function failed(deliveries: Claimed[], { message }: Outgoing, failure: LocalFailure, world: ResultWorld): Attempted {
  return { results: deliveries.map(delivery => localResult(delivery, message, failure, world)), untouched: [] }
}

/** The durable mark of one delivery, shared with others of this moment; false when it is not ours or not known. */
function createMark(queue: DeliveryQueue): (delivery: Claimed) => Promise<boolean> {
  const commit = createGroupCommit<Claimed, { marked: boolean }>({
    ...MARKS,
    async write(batch) {
      const marked = await queue.markDot(batch).catch(() => new Set<string>())
      return batch.map(({ _id }) => ({ marked: marked.has(_id) }))
    },
  })
  return async delivery => (await commit(delivery)).marked
}

function recipientsOf({ message }: Outgoing, deliveries: readonly Claimed[]): Recipient[] {
  return deliveries.map(({ _id, rcpt }) => {
    const state = message.rcpts[recipientOf(_id)]
    return { email: rcpt, notify: state?.notify, orcpt: state?.orcpt }
  })
}

function hasHighCharacters(address: string): boolean {
  return /\P{ASCII}/u.test(address)
}

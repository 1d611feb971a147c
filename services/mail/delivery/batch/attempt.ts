/** One attempt: reads and signs the message, marks it, sends it to its recipients at one destination, classifies the replies. */

import { createByteLimit } from '../../../platform/concurrency/byte-limit.ts'
import { createGroupCommit } from '../../../platform/concurrency/group-commit.ts'
import type { Log } from '../../../platform/observability/log.ts'
import type { DeliveryQueue } from '../../store/deliveries.ts'
import { type ClaimedDelivery, recipientIndex } from '../../store/delivery.ts'
import type { Outgoing } from '../../store/outgoing.ts'
import { complains, isSimulated } from '../../store/rules/simulation.ts'
import type { FindCapture } from '../find-capture.ts'
import type { SiteLimits } from '../rules/site-control.ts'
import type { FindKeys } from '../signing-keys.ts'
import type { SignedMessage } from '../smtp/signer.ts'
import type { Recipient, Sent, Transaction, Transport } from '../smtp/transport.ts'
import { type LocalFailure, localResult, type Result, type ResultContext, resultOf } from './attempt-result.ts'
import type { Group } from './group-by-route.ts'
import { createPreparation, type Preparation } from './prepare-message.ts'

/** What an attempt came to; `untouched` deliveries were withheld and are to be given back. */
export interface Attempted {
  results: Result[]
  untouched: ClaimedDelivery[]
  /** The site did not let a session begin. */
  unreachable?: Sent['unreachable']
  /** A session began, whatever became of the message. */
  reached?: boolean
}

/** Runs an attempt; never rejects. */
export type Attempt = (group: Group, limits: Pick<SiteLimits, 'messagesPerConnection'>) => Promise<Attempted>

/** Dependencies of {@link createAttempt}. */
export interface AttemptOptions {
  transport: Transport
  queue: Pick<DeliveryQueue, 'markDot'>
  findKeys: FindKeys
  /** Asked again when the session is open: the domain may have been set to capture its mail while the message waited. */
  findCapture: FindCapture
  /** True while the claim's slot is ours, without a break, for long enough. */
  mayFinish(claim: { slot: number; epoch: number }): boolean
  context(): ResultContext
  log: Log
}

/** Memory for messages on their way whose bodies were not read with their claim: large ones, and those without room then. */
const LARGE_BYTES = 96 * 1024 * 1024
const MARKS = {
  most: 200,
  mostBytes: Number.POSITIVE_INFINITY,
  flights: 1,
  sizeOf: () => 1,
  gatherMs: 12,
  gatherRate: 500,
}

/** Makes the attempt function of a worker. */
export function createAttempt(options: AttemptOptions): Attempt {
  const { log } = options
  const sender = new AttemptSender(options)
  return async (group, limits) => {
    const memory: { release?: () => void } = {}
    try {
      return await sender.send(group, limits, memory)
    } catch (error) {
      // Nothing was sent: everything after the first byte is an outcome, not an exception.
      log.error({ err: error, m: group.outgoing.message._id }, 'an attempt could not be made')
      return { results: [], untouched: group.deliveries }
    } finally {
      memory.release?.()
    }
  }
}

class AttemptSender {
  readonly #options: AttemptOptions
  readonly #prepare: Preparation
  readonly #mark: (delivery: ClaimedDelivery) => Promise<boolean>
  readonly #memory = createByteLimit(LARGE_BYTES, 0)

  constructor(options: AttemptOptions) {
    this.#options = options
    this.#prepare = createPreparation(options)
    this.#mark = createMark(options.queue)
  }

  /**
   * What is in memory is signed first; anything else is read once the site has opened a session and there is memory for it,
   * which `memory.release` frees.
   */
  async send(
    group: Group,
    limits: Pick<SiteLimits, 'messagesPerConnection'>,
    memory: { release?: () => void },
  ): Promise<Attempted> {
    const { outgoing, deliveries, route } = group
    const { transport } = this.#options
    const local: { failure?: LocalFailure } = {}
    const open = async () => {
      const signed = await this.#prepare.signed(outgoing)
      if (!('classification' in signed)) return this.#transactionOf(group, signed)
      local.failure = signed
      return undefined
    }
    const openLater = async () => {
      memory.release = await this.#memory.enter(outgoing.message.size, outgoing.message.user_id)
      return open()
    }
    const transaction = outgoing.inMemory ? await open() : undefined
    if (local.failure) return this.#failed(group, local.failure)
    const content = transaction ?? { recipients: recipientsOf(outgoing, deliveries), open: openLater }
    const sent = await transport.send(route, content, limits.messagesPerConnection)
    return local.failure ? this.#failed(group, local.failure) : this.#attempted(group, sent)
  }

  #transactionOf(group: Group, signed: SignedMessage): Transaction {
    const { outgoing, deliveries, returnPath } = group
    const { message } = outgoing
    const [first] = deliveries
    const from = (first && returnPath?.(first)) ?? message.mail_from
    const mayFinish = () => deliveries.every(this.#options.mayFinish)
    return {
      origin: {
        messageId: message._id,
        userId: message.report_for ?? message.user_id,
        deliveryId: first?.id ?? message._id,
        domainId: message.domain_id,
      },
      from,
      recipients: recipientsOf(outgoing, deliveries),
      content: signed.content,
      eightBit: signed.eightBit,
      sevenBit: () => this.#prepare.sevenBit(outgoing),
      utf8: signed.utf8Header || [from, ...deliveries.map(one => one.recipient)].some(hasHighCharacters),
      dsn: message.dsn,
      mark: async () =>
        mayFinish() && (await this.#mayLeave(group)) && (await Promise.all(deliveries.map(this.#mark))).every(Boolean),
      mayFinish,
    }
  }

  /**
   * False when the message is captured by now and its route was found before: it goes back and is captured at its next
   * claim. The simulator answers captured mail as well. Never rejects: without a database nothing is sent.
   */
  async #mayLeave({ outgoing, deliveries, route }: Group): Promise<boolean> {
    if (route.capture || deliveries.every(({ recipient }) => isSimulated(recipient))) return true
    return this.#options.findCapture(outgoing.message).then(
      reason => reason === undefined,
      () => false,
    )
  }

  #attempted({ outgoing, deliveries }: Group, sent: Sent): Attempted {
    const context = this.#options.context()
    const results: Result[] = []
    const untouched: ClaimedDelivery[] = []
    deliveries.forEach((delivery, index) => {
      const outcome = sent.outcomes[index]
      const result = outcome && resultOf(delivery, outgoing.message, outcome, sent, context)
      if (result) results.push(result)
      else untouched.push(delivery)
    })
    const reached = sent.unreachable === undefined && sent.simulated === undefined
    return { results, untouched, unreachable: sent.unreachable, reached }
  }

  #failed({ outgoing, deliveries }: Group, failure: LocalFailure): Attempted {
    const context = this.#options.context()
    return {
      results: deliveries.map(delivery => localResult(delivery, outgoing.message, failure, context)),
      untouched: [],
    }
  }
}

/** The durable mark of one delivery, shared with others of this moment; false when it is not ours or not known. */
function createMark(queue: AttemptOptions['queue']): (delivery: ClaimedDelivery) => Promise<boolean> {
  const commit = createGroupCommit<ClaimedDelivery, { marked: boolean }>({
    ...MARKS,
    async write(batch) {
      const marked = await queue.markDot(batch).catch(() => new Set<string>())
      return batch.map(({ id }) => ({ marked: marked.has(id) }))
    },
  })
  return async delivery => (await commit(delivery)).marked
}

function recipientsOf({ message }: Outgoing, deliveries: readonly ClaimedDelivery[]): Recipient[] {
  return deliveries.map(({ id, recipient, attempts }) => {
    const n = recipientIndex(id)
    const state = message.rcpts[n]
    const known = { email: recipient, notify: state?.notify, orcpt: state?.orcpt }
    return { ...known, attempts, complains: complains(message.rcpts, n) }
  })
}

function hasHighCharacters(address: string): boolean {
  return /\P{ASCII}/u.test(address)
}

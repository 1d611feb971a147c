/** A connection to the primary of a shard. */
import { connect, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Document, readMessages, toRequest } from './wire.ts'

/** The shard has no primary, or the connection to it broke. */
export class ShardAway extends Error {
  /** The command had been sent, so it may have been carried out. */
  readonly isSent: boolean
  constructor(isSent: boolean) {
    super(isSent ? 'the connection to the shard broke' : 'the shard has no primary')
    this.isSent = isSent
  }
}

/** How long a primary is looked for. */
const FIND_MS = 5_000
const PAUSE_MS = 100

/** Finds the primary when it is needed, and again when it has changed. One command at a time. */
export class ShardConnection {
  readonly #members: readonly number[]
  #open: Channel | undefined

  /** `members`: ports on 127.0.0.1. */
  constructor(members: readonly number[]) {
    this.#members = members
  }

  /** Rejects with {@link ShardAway}. */
  async ask(command: Document): Promise<Document> {
    const channel = this.#open?.isUsable ? this.#open : await this.#find()
    this.#open = channel
    const answer = await channel.ask(command)
    if (isStateChange(answer)) this.close()
    return answer
  }

  close(): void {
    this.#open?.close()
    this.#open = undefined
  }

  async #find(): Promise<Channel> {
    const until = performance.now() + FIND_MS
    while (performance.now() < until) {
      for (const port of this.#members) {
        const channel = await Channel.open(port)
        const hello = await channel?.ask({ hello: 1, $db: 'admin' }).catch(() => undefined)
        if (channel && hello?.isWritablePrimary === true) return channel
        channel?.close()
      }
      await sleep(PAUSE_MS)
    }
    throw new ShardAway(false)
  }
}

/** Codes of a member that is not primary any more, or stops. */
const STATE_CHANGES = new Set([91, 189, 10_107, 11_600, 11_602, 13_435, 13_436])

function isStateChange({ code, writeConcernError }: Document): boolean {
  return STATE_CHANGES.has(Number(code ?? (writeConcernError as Document | undefined)?.code))
}

class Channel {
  readonly #socket: Socket
  readonly #answers: AsyncGenerator<{ document: Document }>
  #count = 0

  private constructor(socket: Socket) {
    this.#socket = socket
    this.#answers = readMessages(socket)
  }

  static open(port: number): Promise<Channel | undefined> {
    return new Promise(resolve => {
      const socket = connect({ host: '127.0.0.1', port, noDelay: true })
      socket.once('error', () => resolve(undefined))
      socket.once('connect', () => resolve(new Channel(socket)))
    })
  }

  get isUsable(): boolean {
    return !this.#socket.destroyed
  }

  async ask(command: Document): Promise<Document> {
    this.#socket.write(toRequest(++this.#count, command))
    const answer = await this.#answers.next().catch(() => undefined)
    if (!answer?.value) {
      this.close()
      throw new ShardAway(true)
    }
    return answer.value.document
  }

  close(): void {
    this.#socket.destroy()
  }
}

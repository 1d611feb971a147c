/** One receiving SMTP host of a class: its limits, delays, failures and counters. */
import type { Socket } from 'node:net'
import type { ClassCounts, SiteClass } from './site-class.ts'

/** When each recipient first got its message, and how often: by the part of the local part before its number. */
export type Ledger = Map<string, Map<number, { at: number; count: number }>>

/** State that the hosts of one class share. */
export interface ClassState {
  site: SiteClass
  counts: ClassCounts
  ledger: Ledger
  random(): number
}

/** A host that accepts connections. */
export type SinkHost = (socket: Socket) => void

interface Reply {
  text: string
  delayMs?: number
  close?: boolean
}

const DATA_END = '\r\n.\r\n'
const RECIPIENT = /<([a-z0-9-]+)\.(\d+)@/

/** Counters at zero. */
export function noCounts(): ClassCounts {
  const zero = { received: 0, duplicates: 0, connections: 0, open: 0, openMost: 0, deferred: 0, rejected: 0 }
  return { ...zero, limited: 0, cutBefore: 0, cutAfter: 0, perSecond: new Map() }
}

/** Creates a host of a class. */
export function createSinkHost(state: ClassState): SinkHost {
  const { counts, site } = state
  const limiter = createLimiter(site)
  let open = 0
  return socket => {
    counts.connections++
    counts.open++
    counts.openMost = Math.max(counts.openMost, counts.open)
    open++
    socket.setEncoding('latin1')
    socket.on('error', () => undefined)
    socket.once('close', () => {
      open--
      counts.open--
    })
    if (site.fault === 'silent') {
      socket.resume()
      return
    }
    const conversation = new Conversation(state, limiter, socket)
    if (site.connections !== undefined && open > site.connections) {
      counts.limited++
      conversation.answer({ text: '421 4.7.0 too many connections from you\r\n', close: true })
      return
    }
    socket.on('data', (chunk: string) => conversation.read(chunk))
    conversation.answer({ text: '220 sink.test ESMTP\r\n', delayMs: site.replyMs ?? 0 })
  }
}

interface Limiter {
  /** True while a further message is within the rate. */
  allows(): boolean
  /** Milliseconds until a message at this time may be accepted. */
  waitMs(): number
}

/** The rate of one host: a bucket that holds one second's worth, or a stream without gaps. */
function createLimiter({ perSecond, over = 'wait' }: SiteClass): Limiter {
  let tokens = perSecond ?? 0
  let filledAt = Date.now()
  let freeAt = 0
  return {
    allows() {
      if (perSecond === undefined || over === 'wait') return true
      const now = Date.now()
      tokens = Math.min(perSecond, tokens + ((now - filledAt) * perSecond) / 1000)
      filledAt = now
      if (tokens < 1) return false
      tokens--
      return true
    },
    waitMs() {
      if (perSecond === undefined || over !== 'wait') return 0
      const now = Date.now()
      freeAt = Math.max(now, freeAt) + 1000 / perSecond
      return freeAt - now
    },
  }
}

class Conversation {
  readonly #state: ClassState
  readonly #limiter: Limiter
  readonly #socket: Socket
  #rest = ''
  #inData = false
  #busy = false
  #recipients: string[] = []
  #hasSender = false

  constructor(state: ClassState, limiter: Limiter, socket: Socket) {
    this.#state = state
    this.#limiter = limiter
    this.#socket = socket
  }

  read(chunk: string): void {
    this.#rest += chunk
    this.#pump()
  }

  /** Sends a reply after its delay; later commands wait. */
  answer({ text, delayMs = 0, close = false }: Reply): void {
    if (delayMs < 1) {
      this.#send(text, close)
      return
    }
    this.#busy = true
    setTimeout(() => {
      this.#busy = false
      this.#send(text, close)
      if (!close) this.#pump()
    }, delayMs)
  }

  #send(text: string, close: boolean): void {
    if (this.#socket.destroyed) return
    if (text) this.#socket.write(text)
    if (close) this.#socket.end()
  }

  #pump(): void {
    while (!this.#busy && !this.#socket.destroyed) {
      const mark = this.#inData ? DATA_END : '\r\n'
      const end = this.#rest.indexOf(mark)
      if (end === -1) return
      const text = this.#rest.slice(0, end)
      this.#rest = this.#rest.slice(end + mark.length)
      const reply = this.#inData ? this.#take() : this.#command(text)
      if (reply) this.answer({ ...reply, delayMs: Math.max(reply.delayMs ?? 0, this.#state.site.replyMs ?? 0) })
    }
  }

  #command(line: string): Reply {
    const verb = line.slice(0, 4).toUpperCase()
    if (verb === 'EHLO')
      return { text: '250-sink.test\r\n250-PIPELINING\r\n250-8BITMIME\r\n250 ENHANCEDSTATUSCODES\r\n' }
    if (verb === 'MAIL') return this.#mail()
    if (verb === 'RCPT') return this.#rcpt(line)
    if (verb === 'QUIT') return { text: '221 2.0.0 bye\r\n', close: true }
    if (verb !== 'DATA') return { text: '250 2.0.0 ok\r\n' }
    if (this.#recipients.length === 0) return { text: '503 5.5.1 no recipient\r\n' }
    this.#inData = true
    return { text: '354 go on\r\n' }
  }

  #mail(): Reply {
    const { site, counts } = this.#state
    this.#recipients = []
    this.#hasSender = this.#limiter.allows()
    if (this.#hasSender) return { text: '250 2.1.0 ok\r\n' }
    counts.limited++
    if (site.over === '421') return { text: '421 4.7.0 you send too fast\r\n', close: true }
    return { text: '451 4.7.1 you send too fast\r\n' }
  }

  #rcpt(line: string): Reply {
    const { site, counts, random } = this.#state
    if (!this.#hasSender) return { text: '503 5.5.1 no sender\r\n' }
    if (random() < (site.reject ?? 0)) {
      counts.rejected++
      return { text: '550 5.1.1 no such user\r\n' }
    }
    if (random() < (site.defer ?? 0)) {
      counts.deferred++
      return { text: '451 4.2.0 try again later\r\n' }
    }
    this.#recipients.push(line)
    return { text: '250 2.1.5 ok\r\n' }
  }

  #take(): Reply | undefined {
    const { site, counts, random } = this.#state
    this.#inData = false
    if (random() < (site.cut ?? 0)) {
      const after = (counts.cutBefore + counts.cutAfter) % 2 === 1
      if (after) this.#note()
      counts[after ? 'cutAfter' : 'cutBefore']++
      this.#socket.destroy()
      return undefined
    }
    const delayMs = this.#limiter.waitMs()
    this.#note()
    return { text: '250 2.0.0 taken\r\n', delayMs }
  }

  #note(): void {
    const { counts, ledger } = this.#state
    const at = Date.now()
    const second = Math.floor(at / 1000)
    for (const line of this.#recipients) {
      const [, tag = 'other', number = '0'] = RECIPIENT.exec(line) ?? []
      const entries = ledger.get(tag) ?? new Map<number, { at: number; count: number }>()
      ledger.set(tag, entries)
      const entry = entries.get(Number(number))
      if (entry) {
        entry.count++
        counts.duplicates++
        continue
      }
      entries.set(Number(number), { at, count: 1 })
      counts.received++
      counts.perSecond.set(second, (counts.perSecond.get(second) ?? 0) + 1)
    }
  }
}

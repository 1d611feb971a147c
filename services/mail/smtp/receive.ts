/** Takes in the octets of a message: bounded in size, in time and, over all connections, in memory. */
import type { Readable } from 'node:stream'

/** Memory for messages that are coming in or being stored, shared by all connections of a process. */
export interface Budget {
  /** False when so much more does not fit. */
  take(bytes: number): boolean
  give(bytes: number): void
}

/** Makes a budget of so many bytes. */
export function createBudget(most: number): Budget {
  let used = 0
  return {
    take(bytes) {
      if (used + bytes > most) return false
      used += bytes
      return true
    },
    give(bytes) {
      used -= bytes
    },
  }
}

/** Bounds of one message. */
export interface ReceiveLimits {
  maxBytes: number
  /** Below this rate on average, once `graceMs` have passed, the sender is cut off. */
  bytesPerSecond: number
  graceMs: number
  budget: Budget
}

/** How the message came in. */
export type Received =
  /** All of it. The memory counts until `release`. */
  | { kind: 'whole'; raw: Buffer; release(): void }
  /** To the end, but nothing of it was kept. */
  | { kind: 'refused'; code: 'message_too_large' | 'queue_unavailable' }
  /** The sender goes on too long; the connection must be closed. */
  | { kind: 'cut'; code: 'message_too_large' | 'too_slow' }
  /** The sender is gone. */
  | { kind: 'gone' }

/** How often a slow sender is looked at again. */
const CHECK_MS = 1_000

/** Reads a message to its end or to the first reason not to. Never rejects. */
export function receiveMessage(stream: Readable, limits: ReceiveLimits): Promise<Received> {
  const { budget, maxBytes } = limits
  return new Promise(resolve => {
    const started = performance.now()
    let chunks: Buffer[] = []
    let bytes = 0
    let held = 0
    let refused: 'message_too_large' | 'queue_unavailable' | undefined

    const drop = () => {
      chunks = []
      budget.give(held)
      held = 0
    }
    const settle = (received: Received) => {
      clearTimeout(timer)
      stream.off('data', take).off('end', end).off('close', gone)
      if (received.kind !== 'whole') drop()
      resolve(received)
    }
    const keep = (chunk: Buffer): typeof refused => {
      if (bytes > maxBytes) return 'message_too_large'
      if (!budget.take(chunk.length)) return 'queue_unavailable'
      held += chunk.length
      chunks.push(chunk)
      return undefined
    }
    const take = (chunk: Buffer) => {
      bytes += chunk.length
      if (refused === undefined) {
        refused = keep(chunk)
        if (refused) drop()
      }
      // SMTP has no way to stop a sender, so the rest is read and thrown away; within reason.
      if (bytes > 2 * maxBytes) settle({ kind: 'cut', code: 'message_too_large' })
    }
    const end = () => {
      const kept = held
      if (refused) settle({ kind: 'refused', code: refused })
      else settle({ kind: 'whole', raw: Buffer.concat(chunks, bytes), release: () => budget.give(kept) })
    }
    const gone = () => settle({ kind: 'gone' })
    const check = () => {
      const seconds = (performance.now() - started) / 1000
      if (bytes < limits.bytesPerSecond * seconds) settle({ kind: 'cut', code: 'too_slow' })
      else timer = setTimeout(check, CHECK_MS)
    }
    let timer = setTimeout(check, limits.graceMs)
    stream
      .on('data', take)
      .on('end', end)
      .on('close', gone)
      .on('error', () => undefined) // `close` follows an error
  })
}

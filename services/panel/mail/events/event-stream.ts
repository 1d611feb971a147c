/** Keeps a stream of events open. */

/** The part of an `EventSource` that is used. */
export interface Stream {
  /** 2 when the browser has given it up: after an answer that is no stream, such as 429 or 503. */
  readonly readyState: number
  addEventListener: (type: string, listener: () => void) => void
  close: () => void
}

/** What following needs. */
export interface FollowOptions {
  open: () => Stream
  /** Does something after so many milliseconds, unless what it gives is called before. */
  schedule: (ms: number, task: () => void) => () => void
  /** Something happened, or may have happened while nobody listened. */
  onEvent: () => void
  /** Whether the stream is open. */
  onStateChange: (open: boolean) => void
}

const CLOSED = 2
const FIRST_PAUSE_MS = 2000
const LONGEST_PAUSE_MS = 60_000

/** The events that change what lists and pages of mail show. */
export const EVENT_TYPES = [
  'message',
  'email.queued',
  'email.scheduled',
  'email.deferred',
  'email.delivered',
  'email.bounced',
  'email.failed',
  'email.canceled',
] as const

/**
 * Follows until the result is called. The browser takes up a stream that breaks; one that it has given up is opened
 * anew, after pauses that grow. A stream begins with what comes after it, so each opening counts as news.
 */
export function followEvents({ open, schedule, onEvent, onStateChange }: FollowOptions): () => void {
  let pause = FIRST_PAUSE_MS
  let cancel: () => void = () => undefined
  let stream = connect()

  function connect(): Stream {
    const opened = open()
    opened.addEventListener('open', () => {
      pause = FIRST_PAUSE_MS
      onStateChange(true)
      onEvent()
    })
    opened.addEventListener('error', () => {
      onStateChange(false)
      if (opened.readyState !== CLOSED) return
      cancel = schedule(pause, () => {
        stream = connect()
      })
      pause = Math.min(pause * 2, LONGEST_PAUSE_MS)
    })
    for (const type of EVENT_TYPES) opened.addEventListener(type, onEvent)
    return opened
  }

  return () => {
    cancel()
    stream.close()
  }
}

/** Reconnecting event stream. */

export interface Stream {
  /** 2 (CLOSED) after a response that is not an event stream, such as 429 or 503: the browser does not reconnect. */
  readonly readyState: number
  addEventListener: (type: string, listener: () => void) => void
  close: () => void
}

export interface FollowOptions {
  open: () => Stream
  /** Runs `task` after `ms` milliseconds; the result cancels it. */
  schedule: (ms: number, task: () => void) => () => void
  /** Called for every event, and after each connection because events may have been missed before. */
  onEvent: () => void
  /** Called when the stream opens or breaks. */
  onStateChange: (open: boolean) => void
}

const CLOSED = 2
const FIRST_PAUSE_MS = 2000
const LONGEST_PAUSE_MS = 60_000

/** Event types that change lists and pages of messages. */
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
 * Connects and returns a function that disconnects. The browser reconnects a stream that breaks; one that it has closed is
 * opened again here with exponential backoff. Events are not replayed, so each connection counts as an event.
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

/** Streams and the lists within the bulk stream, as suppressions and events name them. */
import type { Lane } from './flow.ts'

/** What decides the stream of a message. */
export interface StreamOf {
  lane: Lane
  /** Only of bulk mail. */
  list?: string | undefined
}

/** A field that deliveries of bulk mail add unless the sender did: List-Unsubscribe, Feedback-ID. */
export type OwnField = 'unsubscribe' | 'feedback_id'

/** Name of a list: lower case, so that two spellings are not two lists. */
export const LIST_NAME = /^[a-z0-9][a-z0-9._-]{0,63}$/

/** `transactional`, `bulk`, or `bulk/<list>`; `system` for mail of the installation itself. */
export function streamName({ lane, list }: StreamOf): string {
  return lane === 'bulk' && list !== undefined ? `bulk/${list}` : lane
}

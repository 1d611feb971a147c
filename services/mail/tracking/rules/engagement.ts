/** What is recorded of an open or a click, and how often. */
import { createHash } from 'node:crypto'
import { HOUR_MS } from '../../../platform/durations.ts'
import { type Sentence, sentence } from '../../../platform/sentences/sentence.ts'

/** A recipient opened a message, or followed a link of it. */
export interface Engagement {
  kind: 'opened' | 'clicked'
  /** `<message>.<n>`. */
  deliveryId: string
  /** Target of the link. */
  url?: string | undefined
  userAgent: string
  machine: boolean
}

/** Opens of a recipient within this time, and clicks on the same link, are one event. */
const WINDOW_MS = HOUR_MS
/** Most events of a kind for one recipient; further ones are not recorded. */
export const MAX_EVENTS = { opened: 50, clicked: 200 } as const
/** About as many of a kind has a message: its history is read as a whole. */
const MAX_OF_MESSAGE = 5_000
const FEWEST = 2
/** Characters of a User-Agent that are kept. */
export const MAX_USER_AGENT = 300

/** Id of the event of this moment: whoever records it again, in any process, records the same. */
export function engagementId({ kind, deliveryId, url }: Engagement, now: Date): string {
  const link = url === undefined ? '' : `${createHash('sha256').update(url).digest('hex').slice(0, 16)}-`
  return `${engagementsOf(deliveryId, kind).$gte}${link}${Math.floor(now.getTime() / WINDOW_MS).toString(36)}`
}

/** Most events of a kind for one of so many recipients. */
export function mostEvents(kind: Engagement['kind'], recipients: number): number {
  return Math.max(FEWEST, Math.min(MAX_EVENTS[kind], Math.floor(MAX_OF_MESSAGE / recipients)))
}

/** The ids of a recipient's events of a kind; a dot is the next character after a hyphen. */
export function engagementsOf(deliveryId: string, kind: Engagement['kind']): { $gte: string; $lt: string } {
  return { $gte: `${deliveryId}#${kind}-`, $lt: `${deliveryId}#${kind}.` }
}

/** What the log says. */
export function explainEngagement({ kind, url = '', machine }: Engagement): Sentence {
  if (kind === 'opened') return sentence(machine ? 'tracking.opened_by_program' : 'tracking.opened')
  return sentence(machine ? 'tracking.clicked_by_program' : 'tracking.clicked', { url })
}

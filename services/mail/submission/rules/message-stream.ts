/** The stream of a message, and what bulk mail needs (RFC 8058, and the bulk rules of Gmail, Yahoo and Outlook). */
import { type Sentence, sentence } from '../../../platform/sentences/sentence.ts'
import type { Lane } from '../../store/rules/flow.ts'
import { LIST_NAME, type OwnField } from '../../store/rules/stream.ts'
import type { ReadMessage } from './validate-message.ts'

/** The fields of a message that name its stream. */
export interface MessageStream {
  lane: Lane
  list?: string
  own_fields?: OwnField[]
}

/** The stream, or why the message cannot go out in it. */
export type ChosenStream =
  | { stream: MessageStream }
  | { code: 'bad_header' | 'bulk_without_unsubscribe'; detail: Sentence }

/**
 * The submission decides before the header. Bulk mail needs fields for one click, its own or ours; ours need an address
 * that mail programs reach: `mayAddLink`.
 */
export function chooseStream(
  submission: { lane?: Lane | undefined; list?: string | undefined },
  read: Pick<ReadMessage, 'stream' | 'list' | 'unsubscribe' | 'hasFeedbackId'>,
  mayAddLink: boolean,
): ChosenStream {
  const lane = submission.lane ?? read.stream ?? 'transactional'
  const list = submission.list ?? read.list
  if (lane !== 'transactional' && lane !== 'bulk' && lane !== 'system') return badHeader(sentence('streams.unknown'))
  if (list !== undefined && lane !== 'bulk') return badHeader(sentence('streams.list_without_bulk'))
  if (list !== undefined && !LIST_NAME.test(list)) return badHeader(sentence('streams.list_name'))
  return lane === 'bulk' ? bulkStream(list, read, mayAddLink) : { stream: { lane } }
}

function bulkStream(
  list: string | undefined,
  { unsubscribe, hasFeedbackId }: Pick<ReadMessage, 'unsubscribe' | 'hasFeedbackId'>,
  mayAddLink: boolean,
): ChosenStream {
  if (unsubscribe === 'incomplete') return notLeavable(sentence('streams.incomplete_fields'))
  if (unsubscribe === 'none' && !mayAddLink) return notLeavable(sentence('streams.no_address'))
  const own: OwnField[] = [
    ...(unsubscribe === 'one_click' ? (['unsubscribe'] as const) : []),
    ...(hasFeedbackId ? (['feedback_id'] as const) : []),
  ]
  return { stream: { lane: 'bulk', ...(list !== undefined && { list }), ...(own.length > 0 && { own_fields: own }) } }
}

function badHeader(detail: Sentence): ChosenStream {
  return { code: 'bad_header', detail }
}

function notLeavable(detail: Sentence): ChosenStream {
  return { code: 'bulk_without_unsubscribe', detail }
}

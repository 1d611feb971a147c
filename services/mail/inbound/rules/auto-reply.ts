/** Answers of programs: RFC 3834, and what programs did before it. */
import type { MimePart } from '../../message/mime-reader.ts'
import { type Field, firstValue, lineOf } from './report-fields.ts'

/** Fields that only automatic answers have. */
const FIELDS = ['x-autoreply', 'x-autorespond', 'x-autoresponder', 'x-autorespond-from', 'x-mail-autoreply']
const SUBJECT =
  /^(?:\[?auto(?:matic|mated)?[\s-]*(?:re(?:ply|sponse)|answer)\]?\b|auto:|out of (?:the )?office|abwesenheitsnotiz|automatische antwort|réponse automatique|respuesta automática|自动(?:回复|答复|回覆)|自動(?:回覆|回复|返信)|休假自动回复|外出)/i

/** True for an automatic answer or a receipt. `fields` is the header of the message. */
export function isAutoReply(fields: readonly Field[], parts: readonly MimePart[]): boolean {
  const submitted = firstValue(fields, 'auto-submitted')
  return (
    (submitted !== undefined && !/^no\b/i.test(submitted)) ||
    FIELDS.some(name => firstValue(fields, name) !== undefined) ||
    /^auto[_-]?reply$/i.test(firstValue(fields, 'precedence') ?? '') ||
    hasAutoReplySubject(fields) ||
    isVacation(fields) ||
    isReceipt(parts)
  )
}

/** True for a subject with which programs answer, in the languages of large products. */
export function hasAutoReplySubject(fields: readonly Field[]): boolean {
  return SUBJECT.test(lineOf(firstValue(fields, 'subject') ?? ''))
}

/** `Precedence: bulk` alone is mail of a list; with a reference to a message it is what vacation programs send. */
function isVacation(fields: readonly Field[]): boolean {
  return (
    /^(?:bulk|junk)$/i.test(firstValue(fields, 'precedence') ?? '') &&
    firstValue(fields, 'in-reply-to') !== undefined &&
    firstValue(fields, 'list-id') === undefined
  )
}

/** A message disposition notification: read, deleted, displayed (RFC 8098). */
function isReceipt(parts: readonly MimePart[]): boolean {
  return parts.some(
    ({ type }) => type === 'message/disposition-notification' || type === 'message/global-disposition-notification',
  )
}

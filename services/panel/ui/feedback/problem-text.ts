/** Text of an error in the reader's language. */
import type { TFunction } from 'i18next'
import { ApiProblem } from '../../api/problem.ts'
import { renderSentence } from '../../i18n/index.ts'
import { preferences } from '../../state/preferences.ts'
import { type DisplayedFieldError, displayedFieldErrors } from './field-error-text.ts'
import { pathText } from './path-text.ts'

/** Codes whose English detail says more than their title; without a code of its own it is appended in parentheses. */
const DETAILED: ReadonlySet<string> = new Set([
  'conflict',
  'forbidden',
  'tracking_off',
  'validation_failed',
  'bad_header',
])

/** Headline and all field errors in one text, for notifications. */
export function problemText(error: unknown, t: TFunction): string {
  const fieldErrors = displayedFieldErrors(error).map(error => fieldErrorLine(error, t))
  return [headline(error, t), ...fieldErrors].join(' ')
}

/** A field error with its place, where it is not shown at its field. */
export function fieldErrorLine({ path, text }: DisplayedFieldError, t: TFunction): string {
  return [pathText(path, t), text].filter(Boolean).join(t('label.separator'))
}

/** Without field errors, for forms, which show them at their fields. */
export function headline(error: unknown, t: TFunction): string {
  if (!(error instanceof ApiProblem)) return t('problems.internal')
  const wait = error.retryAfter ? ` ${t('ui.retryIn', { seconds: error.retryAfter })}` : ''
  return `${ended(sentence(error, t))}${wait}`
}

function sentence(error: ApiProblem, t: TFunction): string {
  if (error.status === 0) return t('problems.offline')
  const { language } = preferences()
  const translated = renderSentence(language, { code: `problem.${error.code}` })
  const title = translated ?? error.title
  // The detail repeats the first field error, and field errors are listed separately.
  if (error.code === 'validation_failed' && error.fieldErrors.length > 0) return title || error.message
  const detail = error.detail && renderSentence(language, error.detail)
  if (detail !== undefined && error.detail?.code !== 'text.verbatim') return detail
  if (translated === undefined) return error.message || title
  return DETAILED.has(error.code) && error.message !== error.title ? `${translated}（${error.message}）` : translated
}

/** The titles of problems end without a full stop in Chinese. */
function ended(text: string): string {
  return /[\p{Script=Han}）]$/u.test(text) ? `${text}。` : text
}

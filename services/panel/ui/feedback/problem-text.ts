/** Text of an error: the service's English detail, or the translation of its code. */
import type { TFunction } from 'i18next'
import i18next from 'i18next'
import { ApiProblem } from '../../api/problem.ts'
import type problems from '../../i18n/en/problems.json'
import { displayedFieldErrors } from './field-error-text.ts'

type Known = keyof typeof problems

/** Codes whose English detail is more specific than the translation; it is then appended in parentheses. */
const DETAILED: ReadonlySet<string> = new Set([
  'conflict',
  'forbidden',
  'unsupported_field',
  'validation_failed',
  'bad_header',
])

/** Headline and all field errors in one text, for notifications. */
export function problemText(error: unknown, t: TFunction): string {
  const fieldErrors = displayedFieldErrors(error, t).map(({ path, text }) => [...path.slice(-1), text].join(': '))
  return [headline(error, t), ...fieldErrors].join(' ')
}

/** Without field errors, for forms, which show them at their fields. */
export function headline(error: unknown, t: TFunction): string {
  if (!(error instanceof ApiProblem)) return t('problems.internal')
  const wait = error.retryAfter ? ` ${t('ui.retryIn', { seconds: error.retryAfter })}` : ''
  return `${sentence(error, t)}${wait}`
}

function sentence(error: ApiProblem, t: TFunction): string {
  const translated = t(`problems.${error.code as Known}`, { defaultValue: error.message })
  if (error.status === 0 || error.message === translated) return translated
  // The detail repeats the first field error, and field errors are listed separately.
  if (error.code === 'validation_failed' && error.fieldErrors.length > 0) return translated
  if (i18next.language === 'en') return error.message || translated
  return DETAILED.has(error.code) ? `${translated}（${error.message}）` : translated
}

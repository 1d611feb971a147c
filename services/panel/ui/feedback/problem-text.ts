/** The words for a failure: the service's English sentence, or its code in the reader's language. */
import type { TFunction } from 'i18next'
import i18next from 'i18next'
import { ApiProblem } from '../../api/problem.ts'
import type problems from '../../i18n/en/problems.json'
import { displayedFieldErrors } from './field-error-text.ts'

type Known = keyof typeof problems

/** Codes whose English detail says more than the translated code can. */
const DETAILED: ReadonlySet<string> = new Set([
  'conflict',
  'forbidden',
  'unsupported_field',
  'validation_failed',
  'bad_header',
])

/** Everything that was said: the sentence, and what is wrong with which field. */
export function problemText(error: unknown, t: TFunction): string {
  const fieldErrors = displayedFieldErrors(error, t).map(({ path, text }) => [...path.slice(-1), text].join(': '))
  return [headline(error, t), ...fieldErrors].join(' ')
}

/** The sentence alone, for forms, which show what is wrong at its field. */
export function headline(error: unknown, t: TFunction): string {
  if (!(error instanceof ApiProblem)) return t('problems.internal')
  const wait = error.retryAfter ? ` ${t('ui.retryIn', { seconds: error.retryAfter })}` : ''
  return `${sentence(error, t)}${wait}`
}

function sentence(error: ApiProblem, t: TFunction): string {
  const translated = t(`problems.${error.code as Known}`, { defaultValue: error.message })
  if (error.status === 0 || error.message === translated) return translated
  // Its detail is the first of the fieldErrors, which are told one by one.
  if (error.code === 'validation_failed' && error.fieldErrors.length > 0) return translated
  if (i18next.language === 'en') return error.message || translated
  return DETAILED.has(error.code) ? `${translated}（${error.message}）` : translated
}

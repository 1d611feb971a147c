/** The words for a failure: the service's English sentence, or its code in the reader's language. */
import type { TFunction } from 'i18next'
import i18next from 'i18next'
import { ApiProblem } from '../api/problem.ts'
import type problems from '../i18n/en/problems.json'

type Known = keyof typeof problems

/** Codes whose English detail says more than the translated code can. */
const DETAILED: ReadonlySet<string> = new Set([
  'conflict',
  'forbidden',
  'unsupported_field',
  'validation_failed',
  'bad_header',
])

/** A sentence for people. */
export function problemText(error: unknown, t: TFunction): string {
  if (!(error instanceof ApiProblem)) return t('problems.internal')
  const wait = error.retryAfter ? ` ${t('ui.retryIn', { seconds: error.retryAfter })}` : ''
  return `${sentence(error, t)}${wait}`
}

function sentence(error: ApiProblem, t: TFunction): string {
  const translated = t(`problems.${error.code as Known}`, { defaultValue: error.message })
  if (error.status === 0 || error.message === translated) return translated
  if (i18next.language === 'en') return error.message || translated
  return DETAILED.has(error.code) ? `${translated}（${error.message}）` : translated
}

/** The faults of single fields, by the name of the form's field (`/allowed_senders/0` → `allowed_senders`). */
export function fieldFaults(error: unknown): Record<string, string> {
  if (!(error instanceof ApiProblem)) return {}
  return Object.fromEntries(error.faults.map(fault => [fault.pointer.split('/')[1] ?? '', fault.message]))
}

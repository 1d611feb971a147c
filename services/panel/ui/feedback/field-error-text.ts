/** Texts of field errors. */
import type { TFunction } from 'i18next'
import { ApiProblem, type FieldError } from '../../api/problem.ts'
import { translateSentence } from '../../i18n/index.ts'
import { preferences } from '../../state/preferences.ts'

const BOUND_KEYS = { '>=': 'least', '<=': 'most', '>': 'more', '<': 'less' } as const

/**
 * Translates the message of a field error. Messages of the schema library mention types and patterns, so they are replaced by texts
 * for users. Messages of the service itself are kept, translated if there is a translation.
 */
export function fieldErrorText({ message }: Pick<FieldError, 'message'>, t: TFunction): string {
  const bound =
    /^Too (?:small|big): expected \w+ to (?<what>have|be) (?<sign>[<>]=?)(?<count>-?\d+)(?<unit> \w+)?/.exec(
      message,
    )?.groups
  if (bound) {
    const count = Number(bound.count)
    if (bound.what === 'be') return t(`faults.${BOUND_KEYS[bound.sign as keyof typeof BOUND_KEYS]}`, { count })
    const side = bound.sign?.startsWith('>') ? 'least' : 'most'
    if (side === 'least' && count === 1) return t('faults.missing')
    return t(bound.unit === ' characters' ? `faults.${side}Characters` : `faults.${side}Entries`, { count })
  }
  if (/^Invalid input: .*received undefined$/.test(message)) return t('faults.missing')
  if (/^Invalid option: /.test(message)) return t('faults.choice')
  if (/^Invalid (?:input|string|number|[\w.]+ address)\b/.test(message)) return t('faults.form')
  return translateSentence(preferences().language, message) ?? message
}

/** Text and location of a field error; the path of `/dns/spf/0` is `['dns', 'spf', '0']`. */
export interface DisplayedFieldError {
  path: readonly string[]
  text: string
}

/** Field errors of an {@link ApiProblem}; none for other errors. */
export function displayedFieldErrors(error: unknown, t: TFunction): DisplayedFieldError[] {
  if (!(error instanceof ApiProblem)) return []
  return error.fieldErrors.map(fieldError => ({
    path: fieldError.pointer.split(/[/.]/).filter(Boolean),
    text: fieldErrorText(fieldError, t),
  }))
}

/** The form field that shows the error: the outermost part of its path that is a field of the form. */
export function fieldOf({ path }: DisplayedFieldError, fields: object): string | undefined {
  return path.find(part => Object.hasOwn(fields, part))
}

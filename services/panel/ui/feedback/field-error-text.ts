/** Texts of field errors. */
import { ApiProblem, type FieldError } from '../../api/problem.ts'
import { sentenceText } from '../values/service-sentence.tsx'

/** The text of a field error in the reader's language, or its message. */
export function fieldErrorText({ message, sentence }: Omit<FieldError, 'pointer'>): string {
  return sentenceText({ text: message, ...sentence })
}

/** Text and location of a field error; the path of `/dns/spf/0` is `['dns', 'spf', '0']`. */
export interface DisplayedFieldError {
  path: readonly string[]
  text: string
}

/** Field errors of an {@link ApiProblem}; none for other errors. */
export function displayedFieldErrors(error: unknown): DisplayedFieldError[] {
  if (!(error instanceof ApiProblem)) return []
  return error.fieldErrors.map(fieldError => ({
    path: fieldError.pointer.split(/[/.]/).filter(Boolean),
    text: fieldErrorText(fieldError),
  }))
}

/**
 * A reason as the line below a control. English reasons begin in lower case, because elsewhere they follow the name of the field:
 * demands stay short ("Must not be empty."), other verbs get a subject ("This is required.").
 */
export function asLine(reason: string): string {
  if (!/^[a-z]/.test(reason)) return reason
  const begun = VERBS.test(reason) ? `This ${reason}` : `${reason.charAt(0).toUpperCase()}${reason.slice(1)}`
  return `${begun}${/[.!?]$/.test(reason) ? '' : '.'}`
}

/** First words of reasons that need a subject. */
const VERBS = /^(?:is|has|had|was|may|needs|holds|starts|still|excludes|does)\b/

/** The form field that shows the error: the outermost part of its path that is a field of the form. */
export function fieldOf({ path }: DisplayedFieldError, fields: object): string | undefined {
  return path.find(part => Object.hasOwn(fields, part))
}

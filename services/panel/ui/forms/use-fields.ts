/** What the fields of a form hold, and what binds a control to one of them: its value, its change, what is wrong with it. */
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { displayedFieldErrors, fieldOf } from '../feedback/field-error-text.ts'

/** The names of the fields of a kind. */
type NamesOf<F, V> = { [K in keyof F]: F[K] extends V ? K : never }[keyof F] & string

/** A change of a control of the browser. */
interface TextChange {
  currentTarget: { value: string }
}

/** A change of a box or a switch. */
interface CheckChange {
  currentTarget: { checked: boolean }
}

/** See {@link useFields}. */
export interface Fields<F extends object> {
  values: F
  /** Changes some of them. */
  change: (part: Partial<F>) => void
  /** Binds a control that gives events (text fields). */
  text: <K extends NamesOf<F, string>>(name: K) => FieldProps & { value: F[K]; onChange: (event: TextChange) => void }
  /** Binds a control that gives the value itself (lists to choose from, numbers that may be empty). */
  value: <K extends keyof F & string>(name: K) => FieldProps & { value: F[K]; onChange: (value: F[K]) => void }
  /** Binds a field of whole numbers, where nothing stands for 0. */
  count: <K extends NamesOf<F, number>>(
    name: K,
  ) => FieldProps & { value: F[K]; onChange: (value: string | number) => void }
  /** Binds a box or a switch. */
  flag: <K extends NamesOf<F, boolean>>(
    name: K,
  ) => FieldProps & { checked: F[K]; onChange: (event: CheckChange) => void }
}

/** What is wrong with a field, in words that stand below it. */
interface FieldProps {
  error?: string
}

/**
 * The fields of a form. They have the names that the request gives them, so that what is wrong is shown at the field that
 * `requestError` names; the rest is left for the form to tell.
 */
export function useFields<F extends object>(initial: F | (() => F), requestError: Error | null): Fields<F> {
  const { t } = useTranslation()
  const [values, setValues] = useState(initial)
  const fieldErrors = displayedFieldErrors(requestError, t)
  const change = (part: Partial<F>) => setValues(current => ({ ...current, ...part }))
  const set = (name: keyof F, value: unknown) => setValues(current => ({ ...current, [name]: value }))
  const errorOf = (name: string): FieldProps => {
    const fieldError = fieldErrors.find(error => fieldOf(error, values) === name)
    return fieldError ? { error: fieldError.text } : {}
  }
  return {
    values,
    change,
    text: name => ({
      ...errorOf(name),
      value: values[name],
      onChange: event => set(name, event.currentTarget.value),
    }),
    value: name => ({ ...errorOf(name), value: values[name], onChange: value => set(name, value) }),
    count: name => ({ ...errorOf(name), value: values[name], onChange: value => set(name, Number(value) || 0) }),
    flag: name => ({
      ...errorOf(name),
      checked: values[name],
      onChange: event => set(name, event.currentTarget.checked),
    }),
  }
}

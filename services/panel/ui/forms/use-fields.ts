/** Form state: values, and props that bind a control to a field (value, change handler, error). */
import { useState } from 'react'
import { asLine, displayedFieldErrors, fieldOf } from '../feedback/field-error-text.ts'

/** Names of the fields with values of a type. */
type NamesOf<F, V> = { [K in keyof F]: F[K] extends V ? K : never }[keyof F] & string

interface TextChange {
  currentTarget: { value: string }
}

interface CheckChange {
  currentTarget: { checked: boolean }
}

/** See {@link useFields}. */
export interface Fields<F extends object> {
  values: F
  change: (part: Partial<F>) => void
  /** Binds a control whose handler gets an event (text fields). */
  text: <K extends NamesOf<F, string>>(name: K) => FieldProps & { value: F[K]; onChange: (event: TextChange) => void }
  /** Binds a control whose handler gets the value (selects, numbers that may be empty). */
  value: <K extends keyof F & string>(name: K) => FieldProps & { value: F[K]; onChange: (value: F[K]) => void }
  /** Binds a number field in which an empty value means 0. */
  count: <K extends NamesOf<F, number>>(
    name: K,
  ) => FieldProps & { value: F[K]; onChange: (value: string | number) => void }
  /** Binds a checkbox or switch. */
  flag: <K extends NamesOf<F, boolean>>(
    name: K,
  ) => FieldProps & { checked: F[K]; onChange: (event: CheckChange) => void }
}

interface FieldProps {
  error?: string
}

/**
 * State of the fields of a form. Fields have the names of the request body, so that the field errors of `requestError` are shown at
 * their fields; {@link import('./form.tsx').SubmitForm} lists the others.
 */
export function useFields<F extends object>(initial: F | (() => F), requestError: Error | null): Fields<F> {
  const [values, setValues] = useState(initial)
  const fieldErrors = displayedFieldErrors(requestError)
  const change = (part: Partial<F>) => setValues(current => ({ ...current, ...part }))
  const set = (name: keyof F, value: unknown) => setValues(current => ({ ...current, [name]: value }))
  const errorOf = (name: string): FieldProps => {
    const fieldError = fieldErrors.find(error => fieldOf(error, values) === name)
    return fieldError ? { error: asLine(fieldError.text) } : {}
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

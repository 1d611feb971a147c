/** What the fields of a form hold, and what binds a control to one of them: its value, its change, what is wrong with it. */
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { faultsIn, fieldOf } from './field-error-text.ts'

/** The names of the fields of a kind. */
type NamesOf<F, V> = { [K in keyof F]: F[K] extends V ? K : never }[keyof F] & string

/** A change of a control of the browser. */
interface Typed {
  currentTarget: { value: string }
}

/** A change of a box or a switch. */
interface Ticked {
  currentTarget: { checked: boolean }
}

/** See {@link useFields}. */
export interface Fields<F extends object> {
  values: F
  /** Changes some of them. */
  change: (part: Partial<F>) => void
  /** Binds a control that gives events (text fields). */
  text: <K extends NamesOf<F, string>>(name: K) => Bound & { value: F[K]; onChange: (event: Typed) => void }
  /** Binds a control that gives the value itself (lists to choose from, numbers that may be empty). */
  value: <K extends keyof F & string>(name: K) => Bound & { value: F[K]; onChange: (value: F[K]) => void }
  /** Binds a field of whole numbers, where nothing stands for 0. */
  count: <K extends NamesOf<F, number>>(name: K) => Bound & { value: F[K]; onChange: (value: string | number) => void }
  /** Binds a box or a switch. */
  flag: <K extends NamesOf<F, boolean>>(name: K) => Bound & { checked: F[K]; onChange: (event: Ticked) => void }
}

/** What is wrong with a field, in words that stand below it. */
interface Bound {
  error?: string
}

/**
 * The fields of a form. They have the names that the request gives them, so that what is wrong is shown at the field that
 * `refusal` names; the rest is left for the form to tell.
 */
export function useFields<F extends object>(start: F | (() => F), refusal: Error | null): Fields<F> {
  const { t } = useTranslation()
  const [values, setValues] = useState(start)
  const faults = faultsIn(refusal, t)
  const change = (part: Partial<F>) => setValues(before => ({ ...before, ...part }))
  const set = (name: keyof F, value: unknown) => setValues(before => ({ ...before, [name]: value }))
  const wrong = (name: string): Bound => {
    const fault = faults.find(one => fieldOf(one, values) === name)
    return fault ? { error: fault.text } : {}
  }
  return {
    values,
    change,
    text: name => ({
      ...wrong(name),
      value: values[name],
      onChange: event => set(name, event.currentTarget.value),
    }),
    value: name => ({ ...wrong(name), value: values[name], onChange: value => set(name, value) }),
    count: name => ({ ...wrong(name), value: values[name], onChange: value => set(name, Number(value) || 0) }),
    flag: name => ({
      ...wrong(name),
      checked: values[name],
      onChange: event => set(name, event.currentTarget.checked),
    }),
  }
}

/** Field errors inside the entries of a list: shown at the control of their path, or else at the list. */
import { Input } from '@mantine/core'
import { createContext, type ReactNode, useContext } from 'react'
import { asLine, type DisplayedFieldError, displayedFieldErrors } from '../feedback/field-error-text.ts'

interface Errors {
  errors: readonly DisplayedFieldError[]
  /** Matches the paths, joined by dots, that have a control. */
  controls: RegExp
}

const NestedErrors = createContext<Errors>({ errors: [], controls: /^$/ })

/** Provides the field errors of a request to the lists inside. */
export function NestedErrorsOf(props: { error: Error | null; controls: RegExp; children: ReactNode }) {
  const { error, controls, children } = props
  return <NestedErrors value={{ errors: displayedFieldErrors(error), controls }}>{children}</NestedErrors>
}

/** Returns a function with the props that show the error of the control at a path, `rules.0.name`. */
export function useNestedErrors(): (path: string) => { error?: string } {
  const { errors } = useContext(NestedErrors)
  return path => {
    const found = errors.find(error => isInside(error.path.join('.'), path))
    return found ? { error: asLine(found.text) } : {}
  }
}

/** The errors of a list and of its entries that no control shows. */
export function ListErrors({ of: list }: { of: string }) {
  const { errors, controls } = useContext(NestedErrors)
  const others = errors.filter(({ path }) => path[0] === list && !controls.test(path.join('.')))
  return others.map(({ path, text }) => (
    <Input.Error key={`${path.join('.')} ${text}`} mt={4}>
      {asLine(text)}
    </Input.Error>
  ))
}

function isInside(path: string, outer: string): boolean {
  return path === outer || path.startsWith(`${outer}.`)
}

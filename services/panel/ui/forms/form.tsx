/** Forms. */

import { Button, Group, Stack } from '@mantine/core'
import { type KeyboardEvent, type ReactNode, useEffect, useRef } from 'react'
import { useTranslation } from 'react-i18next'
import type { AccountRole } from '../../state/roles.ts'
import { displayedFieldErrors, fieldOf } from '../feedback/field-error-text.ts'
import { fieldErrorLine, headline } from '../feedback/problem-text.ts'
import { Note } from '../feedback/status-badge.tsx'
import { NeedsRole } from './needs-role.tsx'
import type { Fields } from './use-fields.ts'
import { useSubmission } from './use-submission.ts'

/** State of the mutation that a form shows. */
export interface Submitting {
  isPending: boolean
  error: Error | null
}

/**
 * Form with a submit button. The error of the mutation is shown above the button and announced by screen readers, and the first
 * invalid field gets the focus. Errors of fields that are not in `fields` are listed below the error. One request is in flight at a
 * time, and changed `fields` are unsaved work (see `unsaved-work.tsx`).
 */
export function SubmitForm(props: {
  state: Submitting
  fields?: Pick<Fields<object>, 'values'>
  /** Fields whose errors are shown at their controls; by default all of `fields`. */
  shown?: object
  submit: () => void
  action: string
  cancel?: () => void
  /** The role in the account that submitting needs. */
  needs?: AccountRole
  /** Disables the submit button. */
  disabled?: boolean
  /** Input outside of `fields` that would be lost. */
  unsaved?: boolean
  /** Enter in a field does not submit: for forms with editors of lists, whose fields are not the last step. */
  byButtonOnly?: boolean
  children: ReactNode
}) {
  const { t } = useTranslation()
  const { error, isPending } = props.state
  const form = useRef<HTMLFormElement>(null)
  const submit = useSubmission({
    submit: props.submit,
    isPending,
    input: props.fields?.values ?? {},
    unsaved: props.unsaved ?? false,
  })
  useEffect(() => {
    if (error) form.current?.querySelector<HTMLElement>('[aria-invalid=true]')?.focus()
  }, [error])
  const button = (
    <Button type="submit" loading={isPending} disabled={props.disabled ?? false}>
      {props.action}
    </Button>
  )
  return (
    <form
      ref={form}
      noValidate
      onSubmit={event => {
        event.preventDefault()
        if (!isPending) submit()
      }}
      {...(props.byButtonOnly ? { onKeyDown: ignoreEnter } : {})}
    >
      <Stack gap="md">
        {props.children}
        {error ? <SubmitError error={error} shown={props.shown ?? props.fields?.values ?? {}} /> : null}
        <Group justify="flex-end" gap="xs">
          {props.cancel ? (
            <Button variant="default" onClick={props.cancel}>
              {t('ui.cancel')}
            </Button>
          ) : null}
          {props.needs ? <NeedsRole needs={props.needs}>{button}</NeedsRole> : button}
        </Group>
      </Stack>
    </form>
  )
}

function ignoreEnter(event: KeyboardEvent<HTMLFormElement>): void {
  if (event.key === 'Enter' && event.target instanceof HTMLInputElement) event.preventDefault()
}

function SubmitError({ error, shown }: { error: Error; shown: object }) {
  const { t } = useTranslation()
  const others = displayedFieldErrors(error).filter(fieldError => fieldOf(fieldError, shown) === undefined)
  return (
    <div role="alert">
      <Note tone="bad">
        {headline(error, t)}
        {others.map(other => (
          <div key={`${other.path.join('.')} ${other.text}`}>{fieldErrorLine(other, t)}</div>
        ))}
      </Note>
    </div>
  )
}

/** Forms and dialogs. */

import { Button, Group, Modal, Stack } from '@mantine/core'
import { type ReactNode, useEffect, useRef } from 'react'
import { useTranslation } from 'react-i18next'
import type { AccountRole } from '../../state/roles.ts'
import { useSessionExpired } from '../../state/session-expiry.ts'
import { displayedFieldErrors, fieldOf } from '../feedback/field-error-text.ts'
import { headline } from '../feedback/problem-text.ts'
import { Note } from '../feedback/status-badge.tsx'
import { NeedsRole } from './needs-role.tsx'
import type { Fields } from './use-fields.ts'

/** State of the mutation that a form shows. */
export interface Submitting {
  isPending: boolean
  error: Error | null
}

/**
 * Form with a submit button. The error of the mutation is shown above the button and announced by screen readers, and the first
 * invalid field gets the focus. Errors of fields that are not in `fields` are listed below the error.
 */
export function SubmitForm(props: {
  state: Submitting
  fields?: Pick<Fields<object>, 'values'>
  submit: () => void
  action: string
  cancel?: () => void
  /** The role in the account that submitting needs. */
  needs?: AccountRole
  /** Disables the submit button. */
  disabled?: boolean
  children: ReactNode
}) {
  const { t } = useTranslation()
  const { error, isPending } = props.state
  const form = useRef<HTMLFormElement>(null)
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
        if (!isPending) props.submit()
      }}
    >
      <Stack gap="md">
        {props.children}
        {error ? <SubmitError error={error} shown={props.fields?.values ?? {}} /> : null}
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

function SubmitError({ error, shown }: { error: Error; shown: object }) {
  const { t } = useTranslation()
  const others = displayedFieldErrors(error).filter(fieldError => fieldOf(fieldError, shown) === undefined)
  return (
    <div role="alert">
      <Note tone="bad">
        {headline(error, t)}
        {others.map(({ path, text }) => (
          <div key={`${path.join('.')} ${text}`}>
            {path.length > 0 ? <span className="pw-mono">{path.join('.')}: </span> : null}
            {text}
          </div>
        ))}
      </Note>
    </div>
  )
}

/** The content is mounted anew each time it opens. Clicks outside do not close it, so that input is not lost. */
export function Dialog(props: {
  opened: boolean
  close: () => void
  title: string
  size?: string
  children: () => ReactNode
}) {
  const { t } = useTranslation()
  const over = useSessionExpired()
  return (
    <Modal
      opened={props.opened}
      onClose={props.close}
      title={props.title}
      size={props.size ?? 'md'}
      closeOnClickOutside={false}
      closeOnEscape={!over}
      closeButtonProps={{ 'aria-label': t('ui.closeDialog') }}
    >
      {props.opened ? props.children() : null}
    </Modal>
  )
}

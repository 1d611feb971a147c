/** A form in a dialog: fields, what is wrong at each of them, the refusal in words, one button. */
import { Button, Group, Modal, Stack } from '@mantine/core'
import { type ReactNode, useEffect, useRef } from 'react'
import { useTranslation } from 'react-i18next'
import { useSessionExpired } from '../../state/session-expiry.ts'
import { displayedFieldErrors, fieldOf } from '../feedback/field-error-text.ts'
import { headline } from '../feedback/problem-text.ts'
import { Note } from '../feedback/status-badge.tsx'
import type { Fields } from './use-fields.ts'

/** The part of a write that a form shows. */
export interface Submitting {
  isPending: boolean
  error: Error | null
}

/**
 * Fields with a submit button. A refusal stands above the button and is read out; the first of the fields that it
 * names gets the focus. Faults of others than `fields` are listed with it.
 */
export function SubmitForm(props: {
  state: Submitting
  fields?: Pick<Fields<object>, 'values'>
  submit: () => void
  action: string
  cancel?: () => void
  /** The button cannot be pressed yet. */
  disabled?: boolean
  children: ReactNode
}) {
  const { t } = useTranslation()
  const { error, isPending } = props.state
  const form = useRef<HTMLFormElement>(null)
  useEffect(() => {
    if (error) form.current?.querySelector<HTMLElement>('[aria-invalid=true]')?.focus()
  }, [error])
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
          <Button type="submit" loading={isPending} disabled={props.disabled ?? false}>
            {props.action}
          </Button>
        </Group>
      </Stack>
    </form>
  )
}

function SubmitError({ error, shown }: { error: Error; shown: object }) {
  const { t } = useTranslation()
  const others = displayedFieldErrors(error, t).filter(fieldError => fieldOf(fieldError, shown) === undefined)
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

/** A dialog whose content starts fresh each time it opens. A click beside it does not throw away what was typed. */
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

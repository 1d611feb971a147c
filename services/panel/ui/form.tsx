/** A form in a dialog: fields, the refusal in words, faults at their fields, one button. */
import { Button, Group, Modal, Stack } from '@mantine/core'
import type { ReactNode } from 'react'
import { useTranslation } from 'react-i18next'
import { fieldFaults, problemText } from './problem-text.ts'
import { Note } from './status.tsx'

/** The part of a write that a form shows. */
export interface Submitting {
  isPending: boolean
  error: Error | null
}

/** Fields with a submit button; the refusal stands above the button and is read out. */
export function SubmitForm(props: {
  state: Submitting
  submit: () => void
  action: string
  cancel?: () => void
  /** The button cannot be pressed yet. */
  disabled?: boolean
  children: ReactNode
}) {
  const { t } = useTranslation()
  return (
    <form
      noValidate
      onSubmit={event => {
        event.preventDefault()
        props.submit()
      }}
    >
      <Stack gap="md">
        {props.children}
        {props.state.error ? (
          <div role="alert">
            <Note tone="bad">
              {problemText(props.state.error, t)}
              {Object.entries(fieldFaults(props.state.error)).map(([field, message]) => (
                <div key={field}>
                  <span className="pw-mono">{field}</span>: {message}
                </div>
              ))}
            </Note>
          </div>
        ) : null}
        <Group justify="flex-end" gap="xs">
          {props.cancel ? (
            <Button variant="default" onClick={props.cancel}>
              {t('ui.cancel')}
            </Button>
          ) : null}
          <Button type="submit" loading={props.state.isPending} disabled={props.disabled ?? false}>
            {props.action}
          </Button>
        </Group>
      </Stack>
    </form>
  )
}

/** A dialog whose content starts fresh each time it opens. */
export function Dialog(props: {
  opened: boolean
  close: () => void
  title: string
  size?: string
  children: () => ReactNode
}) {
  const { t } = useTranslation()
  return (
    <Modal
      opened={props.opened}
      onClose={props.close}
      title={props.title}
      size={props.size ?? 'md'}
      closeButtonProps={{ 'aria-label': t('ui.closeDialog') }}
    >
      {props.opened ? props.children() : null}
    </Modal>
  )
}

/** Text lines to a list: trimmed, without empty ones. */
export function linesOf(text: string): string[] {
  return text
    .split(/[\n,]/)
    .map(line => line.trim())
    .filter(Boolean)
}

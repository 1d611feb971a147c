/** Guard of unsaved input: closing a dialog, leaving the page and reloading ask before input is lost. */
import { Button, Group, Modal, Stack, Text } from '@mantine/core'
import { createContext, useContext, useEffect, useRef } from 'react'
import { useTranslation } from 'react-i18next'

/** True while the form that registered it has input that would be lost. */
type Check = () => boolean

/** Checks of all mounted forms. */
const everywhere = new Set<Check>()

/** Whether any form has unsaved input. */
export function hasUnsavedWork(): boolean {
  return [...everywhere].some(check => check())
}

/** The user chose to lose the input: forms that are mounted now no longer ask. */
export function discardUnsavedWork(): void {
  everywhere.clear()
}

/** Checks of the forms inside a dialog, which asks when it is closed. */
const DialogChecks = createContext<Set<Check> | undefined>(undefined)

export const UnsavedWorkOfDialog = DialogChecks.Provider

/** Registers a form; `check` is called when the user is about to leave, so that it sees the latest state. */
export function useUnsavedWork(check: Check): void {
  const dialog = useContext(DialogChecks)
  const latest = useRef(check)
  latest.current = check
  useEffect(() => {
    const registered = () => latest.current()
    everywhere.add(registered)
    dialog?.add(registered)
    return () => {
      everywhere.delete(registered)
      dialog?.delete(registered)
    }
  }, [dialog])
}

let openQuestions = 0

/** True while the user is asked whether input may be lost: dialogs below ignore Esc. */
export function isAsking(): boolean {
  return openQuestions > 0
}

/**
 * Asks whether unsaved input may be lost. Esc keeps it: handled where the event bubbles, because the listener of Mantine would answer
 * the question with the key press that opened it.
 */
export function DiscardQuestion(props: { opened: boolean; keep: () => void; discard: () => void }) {
  const { t } = useTranslation()
  useEffect(() => {
    if (!props.opened) return
    openQuestions++
    return () => {
      openQuestions--
    }
  }, [props.opened])
  return (
    <Modal
      opened={props.opened}
      onClose={props.keep}
      title={t('ui.unsavedTitle')}
      size="sm"
      closeOnClickOutside={false}
      closeOnEscape={false}
      onKeyDown={event => (event.key === 'Escape' ? props.keep() : undefined)}
      closeButtonProps={{ 'aria-label': t('ui.closeDialog') }}
      zIndex={400}
    >
      <Stack gap="md">
        <Text fz="sm">{t('ui.unsavedText')}</Text>
        <Group justify="flex-end" gap="xs">
          <Button variant="default" data-autofocus onClick={props.keep}>
            {t('ui.keepEditing')}
          </Button>
          <Button color="stamp" onClick={props.discard}>
            {t('ui.discard')}
          </Button>
        </Group>
      </Stack>
    </Modal>
  )
}

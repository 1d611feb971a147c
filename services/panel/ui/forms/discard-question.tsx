/** The question whether unsaved input may be lost. */
import { Button, Group, Modal, Stack, Text } from '@mantine/core'
import { useEffect } from 'react'
import { useTranslation } from 'react-i18next'

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

/** Dialogs. */
import { Modal } from '@mantine/core'
import { type ReactNode, useRef, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { useSessionExpired } from '../../state/session-expiry.ts'
import { DiscardQuestion, isAsking } from './discard-question.tsx'
import { UnsavedWorkOfDialog } from './unsaved-work.tsx'

/**
 * The content is mounted each time it opens. Clicks outside do not close it, and Esc and × ask when a form inside has unsaved
 * input. With `byButtonOnly` only a button of the content closes it.
 */
export function Dialog(props: {
  opened: boolean
  close: () => void
  title: string
  size?: string
  byButtonOnly?: boolean
  children: () => ReactNode
}) {
  const { t } = useTranslation()
  const over = useSessionExpired()
  const checks = useRef(new Set<() => boolean>())
  const [asking, setAsking] = useState(false)
  // The form may close the dialog while the question is open.
  if (asking && !props.opened) setAsking(false)
  const close = () => {
    if (props.byButtonOnly || isAsking()) return
    if ([...checks.current].some(check => check())) setAsking(true)
    else props.close()
  }
  const discard = () => {
    setAsking(false)
    props.close()
  }
  return (
    <>
      <Modal
        opened={props.opened}
        onClose={close}
        title={props.title}
        size={props.size ?? 'md'}
        closeOnClickOutside={false}
        closeOnEscape={!over && !props.byButtonOnly}
        withCloseButton={!props.byButtonOnly}
        closeButtonProps={{ 'aria-label': t('ui.closeDialog') }}
      >
        {props.opened ? <UnsavedWorkOfDialog value={checks.current}>{props.children()}</UnsavedWorkOfDialog> : null}
      </Modal>
      <DiscardQuestion opened={asking} keep={() => setAsking(false)} discard={discard} />
    </>
  )
}

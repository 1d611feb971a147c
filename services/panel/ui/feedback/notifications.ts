/** Short notices at the edge of the screen, read out by screen readers. */
import { notifications } from '@mantine/notifications'
import i18next, { type TFunction } from 'i18next'
import { problemText } from './problem-text.ts'

/** It worked. */
export function notifySuccess(message: string): void {
  notifications.show({ message, color: 'ink', autoClose: 4000, closeButtonProps: closeButton() })
}

/** It did not; stays longer, because it must be read. */
export function notifyFailure(message: string): void {
  notifications.show({ message, color: 'stamp', autoClose: 10_000, closeButtonProps: closeButton() })
}

/** It was refused: {@link notifyFailure} with the reason in words. */
export function notifyError(error: unknown, t: TFunction): void {
  notifyFailure(problemText(error, t))
}

/** The library's cross has no name of its own. */
function closeButton() {
  return { 'aria-label': i18next.t('ui.close') }
}

/** Toast notifications, announced by screen readers. */
import { notifications } from '@mantine/notifications'
import i18next, { type TFunction } from 'i18next'
import { problemText } from './problem-text.ts'

export function notifySuccess(message: string): void {
  notifications.show({ message, color: 'ink', autoClose: 4000, closeButtonProps: closeButton() })
}

/** Shown for 10 s instead of 4 s, so that the text can be read. */
export function notifyFailure(message: string): void {
  notifications.show({ message, color: 'stamp', autoClose: 10_000, closeButtonProps: closeButton() })
}

/** Shows the text of an error, see {@link problemText}. */
export function notifyError(error: unknown, t: TFunction): void {
  notifyFailure(problemText(error, t))
}

/** Mantine's close button has no accessible name by default. */
function closeButton() {
  return { 'aria-label': i18next.t('ui.close') }
}

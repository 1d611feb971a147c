/** Toast notifications, announced by screen readers. */
import type { NotificationData } from '@mantine/notifications'
import i18next, { type TFunction } from 'i18next'
import { loadAtFirstInput, loadNow } from '../../state/first-input.ts'
import { problemText } from './problem-text.ts'

/** The library and its component. */
export const notificationsLibrary = loadAtFirstInput(() => import('@mantine/notifications'))

/** Clicks pass through it: it comes while the next step is taken, and may cover the button of that. */
export function notifySuccess(message: string): void {
  void show({ message, color: 'ink', autoClose: 4000, 'data-passive': true })
}

/** Shown for 10 s instead of 4 s, so that the text can be read. */
export function notifyFailure(message: string): void {
  void show({ message, color: 'stamp', autoClose: 10_000 })
}

/** Shows the text of an error, see {@link problemText}. */
export function notifyError(error: unknown, t: TFunction): void {
  notifyFailure(problemText(error, t))
}

async function show(toast: NotificationData): Promise<void> {
  loadNow()
  const { notifications } = await notificationsLibrary
  // Mantine's close button has no accessible name by default.
  notifications.show({ ...toast, closeButtonProps: { 'aria-label': i18next.t('ui.close') } })
}

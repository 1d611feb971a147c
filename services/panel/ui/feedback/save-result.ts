/** Mutation callbacks that notify the user of the result. */
import { useTranslation } from 'react-i18next'
import { notifyError, notifySuccess } from './notifications.ts'

/** For forms in dialogs: closes the dialog and notifies of success. Errors are shown by the form itself. */
export function useSaveCallbacks(close: () => void): { onSuccess: () => void } {
  const { t } = useTranslation()
  return {
    onSuccess() {
      close()
      notifySuccess(t('ui.saved'))
    },
  }
}

/** For actions without a form: notifies of success (`done`, by default "saved") or of the error. */
export function useNotifyCallbacks(done?: string): { onSuccess: () => void; onError: (error: Error) => void } {
  const { t } = useTranslation()
  return { onSuccess: () => notifySuccess(done ?? t('ui.saved')), onError: error => notifyError(error, t) }
}

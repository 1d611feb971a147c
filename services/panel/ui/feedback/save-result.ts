/** What follows a write, the same everywhere: it is told, and the form that made it goes. */
import { useTranslation } from 'react-i18next'
import { notifyError, notifySuccess } from './notifications.ts'

/** After a form: its dialog closes, and it is said that it is saved. A refusal stands in the form. */
export function useSaveCallbacks(close: () => void): { onSuccess: () => void } {
  const { t } = useTranslation()
  return {
    onSuccess() {
      close()
      notifySuccess(t('ui.saved'))
    },
  }
}

/** After a press without a form: `done`, or that it is saved; or why not. */
export function useNotifyCallbacks(done?: string): { onSuccess: () => void; onError: (error: Error) => void } {
  const { t } = useTranslation()
  return { onSuccess: () => notifySuccess(done ?? t('ui.saved')), onError: error => notifyError(error, t) }
}

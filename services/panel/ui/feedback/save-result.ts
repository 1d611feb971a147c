/** What follows a write, the same everywhere: it is told, and the form that made it goes. */
import { useTranslation } from 'react-i18next'
import { tellDone, tellFailed } from './notifications.ts'

/** After a form: its dialog closes, and it is said that it is saved. A refusal stands in the form. */
export function useSaved(close: () => void): { onSuccess: () => void } {
  const { t } = useTranslation()
  return {
    onSuccess() {
      close()
      tellDone(t('ui.saved'))
    },
  }
}

/** After a press without a form: `done`, or that it is saved; or why not. */
export function useTold(done?: string): { onSuccess: () => void; onError: (error: Error) => void } {
  const { t } = useTranslation()
  return { onSuccess: () => tellDone(done ?? t('ui.saved')), onError: error => tellFailed(error, t) }
}

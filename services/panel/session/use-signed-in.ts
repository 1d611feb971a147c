/** What follows a sign-in: the panel takes over session, language and time zone, and opens the page that was asked for. */
import { useQueryClient } from '@tanstack/react-query'
import { useRouter } from '@tanstack/react-router'
import type { Output } from '../api/client.ts'
import { changeLanguage } from '../i18n/index.ts'
import { adoptTimeZone, type Language } from '../state/preferences.ts'
import { setSessionExpired } from '../state/session-expiry.ts'
import { languageOf, sessionQuery, useSaveLanguage } from './session.ts'

/**
 * `language`: chosen on the page of the sign-in, and saved to the account; without one the panel switches to the one that
 * the user chose for the account before, if any.
 * `to`: address of this origin to open.
 */
export function useSignedIn({ to, language }: { to: string | undefined; language?: Language | undefined }) {
  const router = useRouter()
  const queries = useQueryClient()
  const saveLanguage = useSaveLanguage()
  return async (session: Output<'logInOperation'>) => {
    setSessionExpired(false)
    queries.clear()
    queries.setQueryData(sessionQuery.queryKey, session)
    if (language) void saveLanguage(language)
    else if (session.user.lang_chosen) await changeLanguage(languageOf(session.user.lang))
    adoptTimeZone(session.user.tz)
    router.history.push(to ?? '/')
  }
}

/** The session of the signed-in user. */
import { useQueryClient } from '@tanstack/react-query'
import { useRouter } from '@tanstack/react-router'
import { createContext, useContext } from 'react'
import { useTranslation } from 'react-i18next'
import { call, type Output } from '../api/client.ts'
import { readOptions, useWrite } from '../api/hooks.ts'
import type { Language } from '../state/preferences.ts'
import { notifyError } from '../ui/feedback/notifications.ts'

export type Account = Output<'getSession'>['user']

/** Cached for a minute: every navigation checks it. */
export const sessionQuery = { ...readOptions('getSession', {}), staleTime: 60_000 }

/** Provided by the layout to every page inside it. */
export const SessionContext = createContext<Output<'getSession'> | undefined>(undefined)

/** Throws outside of the layout, where no session is known. */
export function useSession(): Output<'getSession'> {
  const session = useContext(SessionContext)
  if (!session) throw new Error('useSession is called outside of the frame')
  return session
}

/** Throws outside of the layout, see {@link useSession}. */
export function useAccount(): Account {
  return useSession().user
}

/** True in capture mode, in which mail is not delivered but stored in the inbox. Throws outside of the layout. */
export function useTrial(): boolean {
  return useSession().delivery_mode === 'capture'
}

/** Ends the session and clears the query cache. */
export function useSignOut(): () => Promise<void> {
  const queries = useQueryClient()
  const router = useRouter()
  return async () => {
    await call('logOutOperation', {}).catch(() => undefined)
    queries.clear()
    await router.navigate({ to: '/sign-in', search: {} })
  }
}

/**
 * Saves the language to the account, so that it is used at the next sign-in; a failure is shown as a notification. Awaits
 * `mutateAsync`, because callbacks of `mutate` are dropped when the component unmounts, as the sign-in page does at once.
 */
export function useSaveLanguage(): (language: Language) => Promise<void> {
  const { t } = useTranslation()
  const queries = useQueryClient()
  const patch = useWrite('patchMe')
  return async language => {
    try {
      const user = await patch.mutateAsync({ body: { lang: langOf(language) } })
      queries.setQueryData(sessionQuery.queryKey, before => before && { ...before, user })
    } catch (error) {
      notifyError(error, t)
    }
  }
}

/** Converts the service's language code to the panel's language tag; {@link langOf} is the inverse. */
export const languageOf = (lang: Account['lang']): Language => (lang === 'zh' ? 'zh-CN' : 'en')

/** See {@link languageOf}. */
export const langOf = (language: Language): Account['lang'] => (language === 'zh-CN' ? 'zh' : 'en')

/** `to`: address to open after signing in. `ended`: the session expired while the panel was open. */
export interface SignInSearch {
  to?: string
  ended?: true
}

/** Accepts only paths of this origin for `to`: a protocol-relative address would be an open redirect. */
export function signInSearch({ to, ended }: Record<string, unknown>): SignInSearch {
  const inside = typeof to === 'string' && to !== '/' && /^\/(?![/\\])/.test(to)
  return { ...(inside ? { to } : {}), ...(ended === true ? { ended } : {}) }
}

/** Who is logged in, and leaving. */
import { useQueryClient } from '@tanstack/react-query'
import { useRouter } from '@tanstack/react-router'
import { createContext, useContext } from 'react'
import { useTranslation } from 'react-i18next'
import { call, type Output } from '../api/client.ts'
import { readOptions, useWrite } from '../api/hooks.ts'
import type { Language } from '../state/preferences.ts'
import { notifyError } from '../ui/feedback/notifications.ts'

/** The account of the reader. */
export type Account = Output<'getSession'>['user']

/** The read that tells who is logged in. */
export const sessionQuery = { ...readOptions('getSession', {}), staleTime: 60_000 }

/** Set by the frame for every page inside it. */
export const SessionContext = createContext<Output<'getSession'> | undefined>(undefined)

/** The session of the reader; only inside the frame. */
export function useSession(): Output<'getSession'> {
  const session = useContext(SessionContext)
  if (!session) throw new Error('useSession is called outside of the frame')
  return session
}

/** The account of the reader; only inside the frame. */
export function useAccount(): Account {
  return useSession().user
}

/** True in the trial mode, where nothing leaves the machine and mail lands in the inbox; only inside the frame. */
export function useTrial(): boolean {
  return useSession().delivery_mode === 'capture'
}

/** Ends the session and forgets everything that was read with it. */
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
 * Keeps the language with the account, so that it is spoken at the next sign-in, too; a refusal is told. It waits for the
 * answer itself: callbacks given to `mutate` are dropped with the page, and the one for signing in goes at once.
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

/** The service's name of a language, and back. */
export const languageOf = (lang: Account['lang']): Language => (lang === 'zh' ? 'zh-CN' : 'en')

/** See {@link languageOf}. */
export const langOf = (language: Language): Account['lang'] => (language === 'zh-CN' ? 'zh' : 'en')

/** Where to go after signing in, and whether a session ended while the panel was open. */
export interface SignInSearch {
  to?: string
  ended?: true
}

/** Reads it. Only places inside the panel are gone to; anything else (another site) is dropped. */
export function signInSearch({ to, ended }: Record<string, unknown>): SignInSearch {
  const inside = typeof to === 'string' && to !== '/' && /^\/(?![/\\])/.test(to)
  return { ...(inside ? { to } : {}), ...(ended === true ? { ended } : {}) }
}

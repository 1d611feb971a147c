/** Who is logged in, and leaving. */
import { useQueryClient } from '@tanstack/react-query'
import { useRouter } from '@tanstack/react-router'
import { createContext, useContext } from 'react'
import { call, type Output } from '../api/client.ts'
import { read } from '../api/hooks.ts'
import type { Language } from './preferences.ts'

/** The account of the reader. */
export type Account = Output<'getSession'>['user']

/** The read that tells who is logged in. */
export const sessionRead = { ...read('getSession', {}), staleTime: 60_000 }

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

/** The service's name of a language, and back. */
export const languageOf = (lang: Account['lang']): Language => (lang === 'zh' ? 'zh-CN' : 'en')

/** See {@link languageOf}. */
export const langOf = (language: Language): Account['lang'] => (language === 'zh-CN' ? 'zh' : 'en')

/** A place inside the panel to go to after signing in; anything else (another site) is dropped. */
export function safePlace(to: unknown): string | undefined {
  return typeof to === 'string' && /^\/(?![/\\])/.test(to) ? to : undefined
}

import { useRead } from '../api/hooks.ts'
import { useAccount } from '../session/session.ts'
import type { SnippetValues } from './render-snippet.ts'

/** A token and an SMTP login that were made on this page: their secrets are known until it is closed. */
export interface MadeAccess {
  token?: string
  login?: { username: string; password: string }
  /** The reader has not confirmed yet that they are saved. */
  unsaved?: boolean
  /** Credentials that are being created. */
  pending?: number
}

/** The reader's values; what is not known has a name in capital letters. */
export function useSnippetValues(domain: string | undefined, { token, login: made }: MadeAccess): SnippetValues {
  const { email } = useAccount()
  const logins = useRead('listCredentialsOperation', { query: { limit: 5 } })
  const login = logins.data?.data[0]
  return {
    host: login?.connection.host ?? window.location.hostname,
    port: login?.connection.ports.find(({ mode }) => mode === 'starttls')?.port ?? 587,
    user: made?.username ?? login?.username ?? 'YOUR_LOGIN',
    password: made?.password ?? 'YOUR_PASSWORD',
    token: token ?? 'YOUR_TOKEN',
    from: `hello@${domain ?? 'example.com'}`,
    to: email ?? 'you@example.org',
    apiUrl: window.location.origin,
  }
}

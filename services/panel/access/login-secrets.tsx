import { useTranslation } from 'react-i18next'
import type { ShowSecrets } from '../ui/forms/secret-once.tsx'
import { LoginExamples, type LoginWithPassword } from './login-examples.tsx'

/**
 * Returns the function that shows everything that a mail program asks for, in the order of its fields (host, ports with security,
 * login, password), and code examples with these values.
 */
export function useShowLogin(show: ShowSecrets): (login: LoginWithPassword) => void {
  const { t } = useTranslation()
  return login => {
    const { username, password, connection } = login
    const ports = connection.ports.map(({ port, mode }): [string, string] => [
      t('access.portWithSecurity', { security: t(`access.mode.${mode}`) }),
      String(port),
    ])
    show(
      [[t('access.host'), connection.host], ...ports, [t('access.login'), username], [t('account.password'), password]],
      { note: t('start.passwordAgain'), below: <LoginExamples login={login} /> },
    )
  }
}

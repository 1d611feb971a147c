import { useTranslation } from 'react-i18next'
import type { Output } from '../api/client.ts'

type LoginWithPassword = Pick<Output<'createCredentialOperation'>, 'username' | 'password' | 'connection'>

/** Everything that a mail program asks for, in the order of its fields: host, ports with security, login, password. */
export function useLoginSecrets(): (login: LoginWithPassword) => [name: string, value: string][] {
  const { t } = useTranslation()
  return ({ username, password, connection }) => [
    [t('access.host'), connection.host],
    ...connection.ports.map(({ port, mode }): [string, string] => [
      t('access.portWithSecurity', { security: t(`access.mode.${mode}`) }),
      String(port),
    ]),
    [t('access.login'), username],
    [t('account.password'), password],
  ]
}

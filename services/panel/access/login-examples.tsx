/** Code examples with the values of an SMTP login whose password is known now. */
import { Text } from '@mantine/core'
import { useTranslation } from 'react-i18next'
import type { Output } from '../api/client.ts'
import { useRead } from '../api/hooks.ts'
import { CodeExamples } from '../start/code-examples.tsx'
import { useSnippetValues } from '../start/use-snippet-values.ts'

export type LoginWithPassword = Pick<
  Output<'createCredentialOperation'>,
  'username' | 'password' | 'connection' | 'allowed_senders'
>

/** The sender is one that the login may use: the first of its allowed senders, or else an address of a domain that may send. */
export function LoginExamples({ login }: { login: LoginWithPassword }) {
  const { t } = useTranslation()
  const domains = useRead('listDomainsOperation', { query: { limit: 100 } })
  const domain = domains.data?.data.find(({ may_send }) => may_send)?.name
  const values = useSnippetValues(domain, { login })
  const [sender] = login.allowed_senders
  const from = sender === undefined ? values.from : sender.startsWith('@') ? `hello${sender}` : sender
  const { host, ports } = login.connection
  const port = ports.find(({ mode }) => mode === 'starttls')?.port ?? values.port
  return (
    <div>
      <Text fz="sm" fw={500} mb={4}>
        {t('start.examples')}
      </Text>
      <CodeExamples smtpOnly values={{ ...values, host, port, from }} />
    </div>
  )
}

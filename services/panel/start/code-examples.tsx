/** Code examples with the user's domain, token and SMTP login. */
import { Tabs } from '@mantine/core'
import { useTranslation } from 'react-i18next'
import { useRead } from '../api/hooks.ts'
import { CodeBlock } from '../ui/values/code-block.tsx'
import { SNIPPETS, type SnippetValues, snippet } from './code-snippets.ts'

export function CodeExamples({ domain, token }: { domain: string | undefined; token: string | undefined }) {
  const { t } = useTranslation()
  const logins = useRead('listCredentialsOperation', { query: { limit: 5 } })
  const login = logins.data?.data[0]
  const facts: SnippetValues = {
    baseUrl: window.location.origin,
    from: `hello@${domain ?? 'example.com'}`,
    to: 'you@example.org',
    token: token ?? 'YOUR_TOKEN',
    smtp: {
      host: login?.connection.host ?? window.location.hostname,
      port: login?.connection.ports.find(({ mode }) => mode === 'starttls')?.port ?? 587,
      username: login?.username ?? 'YOUR_LOGIN',
      password: 'YOUR_PASSWORD',
    },
  }
  return (
    <Tabs defaultValue="curl" keepMounted={false}>
      <Tabs.List mb="md">
        {SNIPPETS.map(kind => (
          <Tabs.Tab key={kind} value={kind}>
            {t(`start.tab.${kind}`)}
          </Tabs.Tab>
        ))}
      </Tabs.List>
      {SNIPPETS.map(kind => (
        <Tabs.Panel key={kind} value={kind}>
          <CodeBlock text={snippet(kind, facts)} what={t(`start.tab.${kind}`)} />
        </Tabs.Panel>
      ))}
    </Tabs>
  )
}

import type { ReactNode } from 'react'
import { useTranslation } from 'react-i18next'
import { Card } from '../ui/layout/page.tsx'
import { Copyable } from '../ui/values/copy-button.tsx'
import { DescriptionList } from '../ui/values/description-list.tsx'
import type { Credential } from './access-types.ts'

export function SmtpConnection({ connection }: { connection: Credential['connection'] }) {
  const { t } = useTranslation()
  return (
    <Card title={t('access.connection')}>
      <DescriptionList
        entries={[
          [t('access.host'), <Copyable key="host" value={connection.host} what={t('access.host')} />],
          ...connection.ports.map(({ port, mode }): [string, ReactNode] => [
            t('access.port', { port }),
            t(`access.mode.${mode}`),
          ]),
          [t('access.auth'), 'PLAIN, LOGIN'],
        ]}
      />
    </Card>
  )
}

/** Step that creates a credential for an application: a token, or an SMTP login on its page. */

import { Button, Group, Stack, Text } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { useTranslation } from 'react-i18next'
import { useWrite } from '../api/hooks.ts'
import { notifyError } from '../ui/feedback/notifications.ts'
import { Note } from '../ui/feedback/status-badge.tsx'
import { NeedsRole } from '../ui/forms/needs-role.tsx'
import { CodeBlock } from '../ui/values/code-block.tsx'

/** A token created here is also used in the code examples until the page is closed. */
export function AccessStep({ token, setToken }: { token: string | undefined; setToken: (token: string) => void }) {
  const { t } = useTranslation()
  const create = useWrite('createTokenOperation', ['listTokensOperation'])
  const make = () =>
    create.mutate(
      { body: { name: t('start.tokenName') } },
      { onSuccess: made => setToken(made.token), onError: error => notifyError(error, t) },
    )
  return (
    <Stack gap="md">
      <Text fz="sm">{t('start.accessText')}</Text>
      {token ? (
        <>
          <Note tone="warn">{t('ui.secretOnce')}</Note>
          <CodeBlock text={token} what={t('nav.tokens')} />
        </>
      ) : null}
      <Group>
        <NeedsRole needs="developer">
          <Button onClick={make} loading={create.isPending}>
            {t('start.makeToken')}
          </Button>
        </NeedsRole>
        <Button variant="default" renderRoot={rest => <Link {...rest} to="/smtp" />}>
          {t('start.makeLogin')}
        </Button>
      </Group>
    </Stack>
  )
}

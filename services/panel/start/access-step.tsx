/** Step that creates a credential for an application: an SMTP login or a token. */

import { Button, Group, Stack, Text } from '@mantine/core'
import type { Dispatch, SetStateAction } from 'react'
import { useTranslation } from 'react-i18next'
import { useWrite } from '../api/hooks.ts'
import { notifyError } from '../ui/feedback/notifications.ts'
import { Note } from '../ui/feedback/status-badge.tsx'
import { NeedsRole } from '../ui/forms/needs-role.tsx'
import { CodeBlock } from '../ui/values/code-block.tsx'
import type { MadeAccess } from './use-snippet-values.ts'

interface Props {
  made: MadeAccess
  setMade: Dispatch<SetStateAction<MadeAccess>>
}

/** What is created here is also used in the code examples until the page is closed. */
export function AccessStep({ made, setMade }: Props) {
  const { t } = useTranslation()
  const token = useWrite('createTokenOperation', ['listTokensOperation'])
  const login = useWrite('createCredentialOperation', ['listCredentialsOperation'])
  // The promise, because another step may be open when the answer comes: a callback of `mutate` would be dropped then.
  const add = (made: Promise<MadeAccess>) => {
    setMade(current => ({ ...current, pending: (current.pending ?? 0) + 1 }))
    const settle = (access: MadeAccess) =>
      setMade(current => ({ ...current, ...access, pending: (current.pending ?? 1) - 1 }))
    void made.then(
      access => settle({ ...access, unsaved: true }),
      error => {
        settle({})
        notifyError(error, t)
      },
    )
  }
  const makeToken = () =>
    add(token.mutateAsync({ body: { name: t('start.tokenName') } }).then(answer => ({ token: answer.token })))
  const makeLogin = () =>
    add(
      login
        .mutateAsync({ body: { username: newLoginName() } })
        .then(({ username, password }) => ({ login: { username, password } })),
    )
  return (
    <Stack gap="md">
      <Text fz="sm">{t('start.accessText')}</Text>
      {made.unsaved ? <Secrets made={made} kept={() => setMade({ ...made, unsaved: false })} /> : null}
      <Group>
        <NeedsRole needs="developer">
          <Button onClick={makeLogin} loading={login.isPending}>
            {t('start.makeLogin')}
          </Button>
        </NeedsRole>
        <NeedsRole needs="developer">
          <Button variant="default" onClick={makeToken} loading={token.isPending}>
            {t('start.makeToken')}
          </Button>
        </NeedsRole>
      </Group>
    </Stack>
  )
}

function Secrets({ made: { login, token }, kept }: { made: MadeAccess; kept: () => void }) {
  const { t } = useTranslation()
  return (
    <>
      {login ? (
        <>
          <Note tone="info">{t('start.passwordAgain')}</Note>
          <CodeBlock text={`${login.username}\n${login.password}`} what={t('nav.smtp')} />
        </>
      ) : null}
      {token ? (
        <>
          <Note tone="warn">{t('ui.secretOnce')}</Note>
          <CodeBlock text={token} what={t('nav.tokens')} />
        </>
      ) : null}
      <Group>
        <Button variant="light" onClick={kept}>
          {t('ui.secretKept')}
        </Button>
      </Group>
    </>
  )
}

/** Names are unique in the whole installation. */
function newLoginName(): string {
  const [number = 0] = crypto.getRandomValues(new Uint32Array(1))
  return `app-${number.toString(36)}`
}

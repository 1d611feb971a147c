/** API tokens: create, rotate, revoke. The value is shown once. */
import { Anchor, Group, Menu } from '@mantine/core'
import { IconKey } from '@tabler/icons-react'
import { getRouteApi } from '@tanstack/react-router'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { useRead, useWrite } from '../api/hooks.ts'
import { ManagedBy } from '../kubernetes/managed-by.tsx'
import { StatusBadge, type Tone } from '../ui/feedback/status-badge.tsx'
import { ConfirmDialog } from '../ui/forms/confirm-dialog.tsx'
import { type ShowSecrets, useSecretOnce } from '../ui/forms/secret-once.tsx'
import { OLDEST_FIRST, type TableOrder, tableOrder } from '../ui/layout/list-order.ts'
import { ListPage } from '../ui/layout/list-page.tsx'
import { RowMenu } from '../ui/layout/row-menu.tsx'
import { omitUndefined } from '../ui/layout/search-params.ts'
import { type Column, DataTable } from '../ui/layout/table.tsx'
import { ShortList } from '../ui/values/short-list.tsx'
import { Time } from '../ui/values/time.tsx'
import type { Token } from './access-types.ts'
import { SCOPES, TokenForm } from './token-form.tsx'
import { tokenState } from './token-state.ts'

const route = getRouteApi('/shell/tokens')

export function TokensPage() {
  const { t } = useTranslation()
  const search = route.useSearch()
  const navigate = route.useNavigate()
  const [secret, show] = useSecretOnce(t('access.tokenMade'))
  return (
    <ListPage
      title={t('access.tokensTitle')}
      lead={
        <>
          {t('access.tokensLead')}{' '}
          <Anchor href="/docs" underline="always" inherit>
            {t('access.apiReference')}
          </Anchor>
        </>
      }
      query={useRead('listTokensOperation', { query: search })}
      after={search.after}
      go={after => void navigate({ search: omitUndefined({ ...search, after }) })}
      empty={{ icon: <IconKey size={26} />, title: t('access.noTokens'), hint: t('access.noTokensHint') }}
      add={{ label: t('access.newToken'), needs: 'developer', form: close => <TokenForm close={close} show={show} /> }}
      below={secret}
    >
      {tokens => (
        <Tokens
          tokens={tokens}
          order={tableOrder(OLDEST_FIRST, search, next => void navigate({ search: next }))}
          show={show}
        />
      )}
    </ListPage>
  )
}

const TONES: Record<ReturnType<typeof tokenState>, Tone> = { live: 'ok', expired: 'warn', revoked: 'quiet' }

function Tokens({ tokens, show, order }: { tokens: readonly Token[]; show: ShowSecrets; order: TableOrder }) {
  const { t } = useTranslation()
  const name = t('access.name')
  const columns: Column<Token>[] = [
    {
      label: name,
      text: true,
      cell: token => (
        <Group gap="xs" display="inline-flex">
          {token.name}
          {token.mode === 'test' ? <StatusBadge tone="warn">{t('access.testToken')}</StatusBadge> : null}
          {token.capture ? <StatusBadge tone="warn">{t('access.captures')}</StatusBadge> : null}
          <ManagedBy resource={token.managed_by} />
        </Group>
      ),
    },
    {
      label: t('access.prefix'),
      under: name,
      text: true,
      cell: token => <span className="pw-mono">{token.prefix}…</span>,
    },
    {
      label: t('messages.state'),
      cell: token => {
        const state = tokenState(token, Date.now())
        return <StatusBadge tone={TONES[state]}>{t(`access.tokenState.${state}`)}</StatusBadge>
      },
    },
    { label: t('access.scopes'), under: name, cell: token => <Scopes of={token.scopes} /> },
    { label: t('members.madeBy'), under: name, cell: token => token.created_by ?? '–' },
    { label: t('access.expires'), cell: token => <Time at={token.expires_at} /> },
    { label: t('ui.created'), by: 'created_at', cell: token => <Time at={token.created_at} /> },
    { label: t('ui.lastUsed'), cell: token => <Time at={token.last_used_at} /> },
    { label: t('ui.actions'), hidden: true, end: true, cell: token => <TokenMenu token={token} show={show} /> },
  ]
  return (
    <DataTable
      order={order}
      name={t('access.tokensTitle')}
      columns={columns}
      rows={tokens}
      rowKey={token => token.id}
    />
  )
}

/** Permissions that a row of the list has room for. */
const SHOWN_SCOPES = 2

function Scopes({ of: given }: { of: readonly string[] }) {
  const { t } = useTranslation()
  const names = SCOPES.filter(scope => given.includes(scope)).map(scope => t(`access.scope.${scope}`))
  return <ShortList of={names} most={SHOWN_SCOPES} />
}

function TokenMenu({ token, show }: { token: Token; show: ShowSecrets }) {
  const { t } = useTranslation()
  const [asking, setAsking] = useState<'rotate' | 'revoke'>()
  const rotate = useWrite('rotateTokenOperation', ['listTokensOperation'])
  const revoke = useWrite('revokeTokenOperation', ['listTokensOperation'])
  const params = { id: token.id }
  const done = () => setAsking(undefined)
  if (token.revoked_at || token.managed_by) return null
  return (
    <>
      <RowMenu name={token.name} needs="developer">
        <Menu.Item onClick={() => setAsking('rotate')}>{t('access.rotate')}</Menu.Item>
        <Menu.Item color="stamp" onClick={() => setAsking('revoke')}>
          {t('access.revoke')}
        </Menu.Item>
      </RowMenu>
      <ConfirmDialog
        opened={asking === 'rotate'}
        close={done}
        title={t('access.rotateTitle', { name: token.name })}
        action={t('access.rotate')}
        run={async () => {
          const answer = await rotate.mutateAsync({ params })
          show([[token.name, answer.token]])
        }}
      >
        {t('access.rotateText')}
      </ConfirmDialog>
      <ConfirmDialog
        opened={asking === 'revoke'}
        close={done}
        title={t('access.revokeTitle', { name: token.name })}
        phrase={token.name}
        action={t('access.revoke')}
        run={() => revoke.mutateAsync({ params })}
      >
        {t('access.revokeText')}
      </ConfirmDialog>
    </>
  )
}

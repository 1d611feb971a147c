/** Form that creates an API token: scopes, domains, networks, expiry. */
import { Checkbox, Select, SimpleGrid, TextInput } from '@mantine/core'
import { useTranslation } from 'react-i18next'
import type { Input } from '../api/client.ts'
import { useRead, useWrite } from '../api/hooks.ts'
import { Note } from '../ui/feedback/status-badge.tsx'
import { SubmitForm } from '../ui/forms/form.tsx'
import { SearchableMultiSelect } from '../ui/forms/searchable-select.tsx'
import type { ShowSecrets } from '../ui/forms/secret-once.tsx'
import { splitList } from '../ui/forms/split-text.ts'
import { useFields } from '../ui/forms/use-fields.ts'
import { NetworksField } from './networks-field.tsx'

type Scope = NonNullable<Input<'createTokenOperation'>['body']['scopes']>[number]

export const SCOPES: readonly Scope[] = [
  'emails:send',
  'emails:read',
  'inbox:read',
  'inbox:write',
  'domains:read',
  'domains:write',
  'dns:write',
  'smtp:read',
  'smtp:write',
  'tokens:read',
  'tokens:write',
  'suppressions:read',
  'suppressions:write',
  'templates:read',
  'templates:write',
  'audit:read',
  'webhooks:read',
  'webhooks:write',
  'mcp',
  'mcp:send',
]
const LIFETIMES = ['never', '30', '90', '365'] as const
type Lifetime = (typeof LIFETIMES)[number]

export function TokenForm({ close, show }: { close: () => void; show: ShowSecrets }) {
  const { t } = useTranslation()
  const create = useWrite('createTokenOperation', ['listTokensOperation'])
  const known = useRead('listDomainsOperation', { query: { limit: 100 } })
  const start = { name: '', test: false, capture: false, scopes: ['emails:send'] as Scope[], domains: [] as string[] }
  const fields = useFields({ ...start, allowed_cidrs: '', expires_at: 'never' as Lifetime }, create.error)
  const submit = () => {
    const { name, test, capture, scopes, domains, allowed_cidrs, expires_at } = fields.values
    create.mutate(
      {
        body: {
          name,
          mode: test ? 'test' : 'live',
          capture,
          scopes,
          domains,
          allowed_cidrs: splitList(allowed_cidrs),
          ...expiryOf(expires_at, Date.now()),
        },
      },
      {
        onSuccess: token => {
          close()
          show([[token.name, token.token]])
        },
      },
    )
  }
  return (
    <SubmitForm state={create} fields={fields} submit={submit} action={t('ui.create')} cancel={close}>
      <TextInput
        data-autofocus
        label={t('access.name')}
        description={t('access.tokenNameHint')}
        autoComplete="off"
        {...fields.text('name')}
      />
      <Checkbox.Group
        label={t('access.scopes')}
        {...fields.value('scopes')}
        onChange={values => fields.change({ scopes: SCOPES.filter(scope => values.includes(scope)) })}
      >
        <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="xs" mt={6}>
          {SCOPES.map(scope => (
            <Checkbox key={scope} value={scope} label={t(`access.scope.${scope}`)} />
          ))}
        </SimpleGrid>
      </Checkbox.Group>
      {fields.values.scopes.includes('mcp:send') && <Note tone="warn">{t('access.mcpSendWarning')}</Note>}
      <SearchableMultiSelect
        label={t('access.onlyDomains')}
        placeholder={fields.values.domains.length === 0 ? t('access.allDomains') : ''}
        data={known.data?.data.map(domain => domain.name) ?? []}
        {...fields.value('domains')}
      />
      <NetworksField {...fields.text('allowed_cidrs')} />
      <Select
        label={t('access.expires')}
        data={LIFETIMES.map(value => ({ value, label: t(`access.life.${value}`) }))}
        allowDeselect={false}
        {...fields.value('expires_at')}
        onChange={value => fields.change({ expires_at: LIFETIMES.find(life => life === value) ?? 'never' })}
      />
      <Checkbox
        label={t('access.captureToken')}
        description={t('access.captureTokenHint')}
        {...fields.flag('capture')}
      />
      <Checkbox label={t('access.testToken')} description={t('access.testTokenHint')} {...fields.flag('test')} />
    </SubmitForm>
  )
}

/** Expiry of a token created at `now` (milliseconds). */
function expiryOf(life: Lifetime, now: number): { expires_at?: string } {
  return life === 'never' ? {} : { expires_at: new Date(now + Number(life) * 86_400_000).toISOString() }
}

/** Making an API token: what it may do, from where, how long. */
import { Checkbox, MultiSelect, Select, SimpleGrid, Stack, Textarea, TextInput } from '@mantine/core'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import type { Input } from '../api/client.ts'
import { useRead, useWrite } from '../api/hooks.ts'
import { linesOf, SubmitForm } from '../ui/form.tsx'

type Scope = NonNullable<Input<'createTokenOperation'>['body']['scopes']>[number]

const SCOPES: readonly Scope[] = [
  'emails:send',
  'emails:read',
  'domains:read',
  'domains:write',
  'dns:write',
  'smtp:read',
  'smtp:write',
  'tokens:read',
  'tokens:write',
  'audit:read',
]
const LIVES = ['never', '30', '90', '365'] as const
type Life = (typeof LIVES)[number]

/** The form. */
export function TokenForm(props: { close: () => void; show: (entries: [name: string, value: string][]) => void }) {
  const { t } = useTranslation()
  const create = useWrite('createTokenOperation', ['listTokensOperation'])
  const domains = useRead('listDomainsOperation', { query: { limit: 100 } })
  const [name, setName] = useState('')
  const [test, setTest] = useState(false)
  const [scopes, setScopes] = useState<Scope[]>(['emails:send'])
  const [limited, setLimited] = useState<string[]>([])
  const [cidrs, setCidrs] = useState('')
  const [life, setLife] = useState<Life>('never')
  const submit = () =>
    create.mutate(
      {
        body: {
          name,
          mode: test ? 'test' : 'live',
          scopes,
          domains: limited,
          allowed_cidrs: linesOf(cidrs),
          ...(life === 'never' ? {} : { expires_at: new Date(Date.now() + Number(life) * 86_400_000).toISOString() }),
        },
      },
      {
        onSuccess: token => {
          props.close()
          props.show([[token.name, token.token]])
        },
      },
    )
  return (
    <SubmitForm state={create} submit={submit} action={t('ui.create')} cancel={props.close}>
      <Stack gap="md">
        <TextInput
          data-autofocus
          label={t('access.name')}
          description={t('access.tokenNameHint')}
          autoComplete="off"
          value={name}
          onChange={event => setName(event.currentTarget.value)}
        />
        <Checkbox.Group
          label={t('access.scopes')}
          value={scopes}
          onChange={values => setScopes(SCOPES.filter(scope => values.includes(scope)))}
        >
          <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="xs" mt={6}>
            {SCOPES.map(scope => (
              <Checkbox key={scope} value={scope} label={t(`access.scope.${scope}`)} />
            ))}
          </SimpleGrid>
        </Checkbox.Group>
        <MultiSelect
          label={t('access.onlyDomains')}
          placeholder={limited.length === 0 ? t('access.allDomains') : ''}
          data={domains.data?.data.map(domain => domain.name) ?? []}
          value={limited}
          onChange={setLimited}
          searchable
        />
        <Textarea
          label={t('access.networks')}
          description={t('access.networksHint')}
          placeholder="192.0.2.0/24"
          autosize
          minRows={1}
          value={cidrs}
          onChange={event => setCidrs(event.currentTarget.value)}
        />
        <Select
          label={t('access.expires')}
          data={LIVES.map(value => ({ value, label: t(`access.life.${value}`) }))}
          value={life}
          allowDeselect={false}
          onChange={value => setLife(LIVES.find(known => known === value) ?? 'never')}
        />
        <Checkbox
          label={t('access.testToken')}
          description={t('access.testTokenHint')}
          checked={test}
          onChange={event => setTest(event.currentTarget.checked)}
        />
      </Stack>
    </SubmitForm>
  )
}

/** The sending domains of the account. */
import { Button, Group, TextInput } from '@mantine/core'
import { IconPlus, IconWorld } from '@tabler/icons-react'
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import type { Output } from '../api/client.ts'
import { useRead, useWrite } from '../api/hooks.ts'
import { Dialog, SubmitForm } from '../ui/form.tsx'
import { ManagedBy } from '../ui/managed-by.tsx'
import { Card, Page } from '../ui/page.tsx'
import { nextOf, Pager } from '../ui/pager.tsx'
import { Empty, Loaded } from '../ui/states.tsx'
import { type Column, DataTable } from '../ui/table.tsx'
import { Time } from '../ui/time.tsx'
import { DomainStatus } from './domain-status.tsx'

type Domain = Output<'listDomainsOperation'>['data'][number]

const route = getRouteApi('/shell/domains')

/** The page. */
export function DomainsPage() {
  const { t } = useTranslation()
  const search = route.useSearch()
  const navigate = route.useNavigate()
  const [adding, setAdding] = useState(false)
  const query = useRead('listDomainsOperation', { query: search })
  const add = (
    <Button leftSection={<IconPlus size={16} />} onClick={() => setAdding(true)}>
      {t('domains.add')}
    </Button>
  )
  return (
    <Page title={t('domains.title')} lead={t('domains.lead')} actions={add}>
      <Card flush>
        <Loaded query={query}>
          {page =>
            page.data.length === 0 ? (
              <Empty icon={<IconWorld size={26} />} title={t('domains.none')} action={add}>
                {t('domains.noneHint')}
              </Empty>
            ) : (
              <Domains domains={page.data} />
            )
          }
        </Loaded>
      </Card>
      <Pager
        after={search.after}
        next={query.data ? nextOf(query.data) : undefined}
        go={after => void navigate({ search: after ? { after } : {} })}
      />
      <Dialog opened={adding} close={() => setAdding(false)} title={t('domains.add')}>
        {() => <AddDomain cancel={() => setAdding(false)} />}
      </Dialog>
    </Page>
  )
}

function Domains({ domains }: { domains: readonly Domain[] }) {
  const { t } = useTranslation()
  const columns: Column<Domain>[] = [
    {
      label: t('domains.name'),
      cell: domain => (
        <Group gap="xs" display="inline-flex">
          <Link to="/domains/$id" params={{ id: domain.name }} className="pw-link">
            {domain.name}
          </Link>
          <ManagedBy resource={domain.managed_by} />
        </Group>
      ),
    },
    { label: t('messages.state'), cell: domain => <DomainStatus domain={domain} /> },
    { label: t('domains.maySend'), cell: domain => (domain.may_send ? t('ui.yes') : t('ui.no')) },
    { label: t('ui.created'), cell: domain => <Time at={domain.created_at} /> },
  ]
  return <DataTable name={t('domains.title')} columns={columns} rows={domains} rowKey={domain => domain.id} />
}

/** Claims a domain and goes to its page; `then` takes over from that. */
export function AddDomain({ cancel, then }: { cancel?: () => void; then?: (name: string) => void }) {
  const { t } = useTranslation()
  const navigate = useNavigate()
  const create = useWrite('createDomainOperation', ['listDomainsOperation'])
  const [name, setName] = useState('')
  const go = then ?? (created => void navigate({ to: '/domains/$id', params: { id: created } }))
  const submit = () => create.mutate({ body: { name: name.trim() } }, { onSuccess: domain => go(domain.name) })
  return (
    <SubmitForm state={create} submit={submit} action={t('domains.add')} {...(cancel ? { cancel } : {})}>
      <TextInput
        data-autofocus
        label={t('domains.name')}
        description={t('domains.nameHint')}
        placeholder="example.com"
        autoComplete="off"
        spellCheck={false}
        value={name}
        onChange={event => setName(event.currentTarget.value)}
      />
    </SubmitForm>
  )
}

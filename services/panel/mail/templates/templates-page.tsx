/** Templates of the account, and a form for a new one. */
import { TextInput } from '@mantine/core'
import { IconTemplate } from '@tabler/icons-react'
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router'
import { useTranslation } from 'react-i18next'
import { useRead, useWrite } from '../../api/hooks.ts'
import { ManagedBy } from '../../kubernetes/managed-by.tsx'
import { StatusBadge } from '../../ui/feedback/status-badge.tsx'
import { SubmitForm } from '../../ui/forms/form.tsx'
import { useFields } from '../../ui/forms/use-fields.ts'
import { NAMED_LIST, type TableOrder, tableOrder } from '../../ui/layout/list-order.ts'
import { ListPage } from '../../ui/layout/list-page.tsx'
import { omitUndefined } from '../../ui/layout/search-params.ts'
import { type Column, DataTable } from '../../ui/layout/table.tsx'
import { Time } from '../../ui/values/time.tsx'
import type { TemplateSummary } from './template-types.ts'

const route = getRouteApi('/shell/templates')

/** What a new template begins with. */
const STARTER = {
  subject: 'Hello {{ name }}',
  html: '<p>Hello {{ name }},</p>\n<p>…</p>\n',
  variables: [{ key: 'name', required: true }],
}

export function TemplatesPage() {
  const { t } = useTranslation()
  const search = route.useSearch()
  const navigate = route.useNavigate()
  return (
    <ListPage
      title={t('templates.title')}
      lead={t('templates.lead')}
      query={useRead('listTemplatesOperation', { query: search })}
      after={search.after}
      go={after => void navigate({ search: omitUndefined({ ...search, after }) })}
      empty={{ icon: <IconTemplate size={26} />, title: t('templates.none'), hint: t('templates.noneHint') }}
      add={{ label: t('templates.new'), needs: 'developer', form: close => <NewTemplate close={close} /> }}
    >
      {templates => (
        <Templates
          templates={templates}
          order={tableOrder(NAMED_LIST, search, next => void navigate({ search: next }))}
        />
      )}
    </ListPage>
  )
}

function Templates({ templates, order }: { templates: readonly TemplateSummary[]; order: TableOrder }) {
  const { t } = useTranslation()
  const columns: Column<TemplateSummary>[] = [
    {
      label: t('templates.name'),
      text: true,
      by: 'name',
      cell: ({ id, name, managed_by }) => (
        <>
          <Link to="/templates/$id" params={{ id }} className="pw-link">
            {name}
          </Link>{' '}
          <ManagedBy resource={managed_by} />
        </>
      ),
    },
    { label: t('templates.subject'), text: true, cell: ({ subject }) => subject },
    { label: t('templates.state'), cell: template => <TemplateState template={template} /> },
    { label: t('ui.created'), by: 'created_at', cell: template => <Time at={template.created_at} /> },
    { label: t('templates.changedAt'), cell: ({ updated_at }) => <Time at={updated_at} /> },
  ]
  return (
    <DataTable order={order} name={t('templates.title')} columns={columns} rows={templates} rowKey={({ id }) => id} />
  )
}

/** Whether a template is sent, and whether its draft differs. */
export function TemplateState({ template }: { template: Pick<TemplateSummary, 'version' | 'has_changes'> }) {
  const { t } = useTranslation()
  const { version, has_changes: changed } = template
  if (version === null) return <StatusBadge tone="quiet">{t('templates.draft')}</StatusBadge>
  return (
    <StatusBadge tone={changed ? 'warn' : 'ok'}>
      {t(changed ? 'templates.changed' : 'templates.published', { version })}
    </StatusBadge>
  )
}

function NewTemplate({ close }: { close: () => void }) {
  const { t } = useTranslation()
  const navigate = useNavigate()
  const create = useWrite('createTemplateOperation', ['listTemplatesOperation'])
  const fields = useFields({ name: '' }, create.error)
  const submit = () =>
    create.mutate(
      { body: { ...fields.values, ...STARTER } },
      { onSuccess: ({ id }) => void navigate({ to: '/templates/$id', params: { id } }) },
    )
  return (
    <SubmitForm state={create} fields={fields} submit={submit} action={t('ui.create')} cancel={close}>
      <TextInput
        data-autofocus
        label={t('templates.name')}
        description={t('templates.nameHint')}
        autoComplete="off"
        {...fields.text('name')}
      />
    </SubmitForm>
  )
}

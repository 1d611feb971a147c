/** Audit log of the subscriptions module with changed fields. */
import { Button, Group, Text } from '@mantine/core'
import { IconNotebook } from '@tabler/icons-react'
import { getRouteApi } from '@tanstack/react-router'
import { useTranslation } from 'react-i18next'
import { Empty, Loaded } from '../../ui/feedback/content-states.tsx'
import { NumberedPages } from '../../ui/layout/numbered-pages.tsx'
import { Card } from '../../ui/layout/page.tsx'
import { omitUndefined } from '../../ui/layout/search-params.ts'
import { type Column, DataTable } from '../../ui/layout/table.tsx'
import { AppScopedPage } from '../shared/app-scope.tsx'
import { BusinessTime } from '../shared/business-time.tsx'
import { type SubOutput, useSubRead } from '../shared/subscriptions-api.ts'

type Entry = SubOutput<'auditLog'>['audit_logs'][number]

const route = getRouteApi('/shell/apps/$key/changes')

export function ChangeHistoryPage() {
  const { t } = useTranslation()
  return (
    <AppScopedPage title={t('subs.changesTitle')} lead={t('subs.changesLead')}>
      {({ app }) => <Changes appKey={app.app_key} />}
    </AppScopedPage>
  )
}

function Changes({ appKey }: { appKey: string }) {
  const { t } = useTranslation()
  const search = route.useSearch()
  const navigate = route.useNavigate()
  const { subscription } = search
  const target = subscription ? { target_kind: 'subscription', target_id: subscription } : {}
  const query = useSubRead('auditLog', {
    query: { ...omitUndefined({ app_key: appKey, page: search.page }), ...target },
  })
  const columns: Column<Entry>[] = [
    { label: t('account.when'), cell: entry => <BusinessTime at={entry.created_at} /> },
    { label: t('account.actor'), cell: entry => entry.actor_name || entry.actor_kind },
    { label: t('account.action'), cell: entry => <span className="pw-mono">{entry.action}</span> },
    { label: t('account.target'), cell: entry => `${entry.target_kind} ${entry.target_id}` },
    { label: t('subs.fields'), cell: entry => <Change entry={entry} /> },
  ]
  return (
    <>
      {subscription ? (
        <Group gap="xs">
          <Text fz="sm">{t('subs.changesOf', { id: subscription })}</Text>
          <Button
            variant="subtle"
            size="compact-sm"
            onClick={() =>
              void navigate({ search: omitUndefined({ ...search, subscription: undefined, page: undefined }) })
            }
          >
            {t('subs.allChanges')}
          </Button>
        </Group>
      ) : null}
      <Card flush>
        <Loaded query={query}>
          {({ audit_logs }) =>
            audit_logs.length === 0 ? (
              <Empty icon={<IconNotebook size={26} />} title={t('account.auditEmpty')} />
            ) : (
              <DataTable name={t('subs.changesTitle')} columns={columns} rows={audit_logs} rowKey={entry => entry.id} />
            )
          }
        </Loaded>
      </Card>
      <NumberedPages
        page={search.page ?? 1}
        total={query.data?.pagination.total_pages ?? 1}
        go={page => void navigate({ search: { ...search, page } })}
      />
    </>
  )
}

function Change({ entry }: { entry: Entry }) {
  const { t } = useTranslation()
  return (
    <>
      <Fields changes={entry.changes} />
      {entry.reason === '' ? null : <div>{t('subs.reasonGiven', { reason: entry.reason })}</div>}
    </>
  )
}

/** Old and new value of each field, collapsed if there are more than three; long values are truncated. */
function Fields({ changes }: { changes: Entry['changes'] }) {
  const { t } = useTranslation()
  const lines = Object.entries(changes).map(([field, [before, after]]) => (
    <div key={field} className="pw-mono">
      {before === null || before === undefined
        ? `${field}: ${formatValue(after)}`
        : `${field}: ${formatValue(before)} → ${formatValue(after)}`}
    </div>
  ))
  if (lines.length <= 3) return lines
  return (
    <details className="pw-details">
      <summary>{t('subs.fieldCount', { count: lines.length })}</summary>
      {lines}
    </details>
  )
}

function formatValue(value: unknown): string {
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? '–')
  return text.length > 80 ? `${text.slice(0, 80)}…` : text
}

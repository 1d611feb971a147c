/** Suppressions: addresses that the account sends nothing to. Search, add, remove, import and export. */
import { Button, Group, Menu, Select } from '@mantine/core'
import { IconDownload, IconMailOff, IconUpload } from '@tabler/icons-react'
import { getRouteApi } from '@tanstack/react-router'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { useRead, useWrite } from '../../api/hooks.ts'
import { operations } from '../../api/operations.ts'
import { StatusBadge, type Tone } from '../../ui/feedback/status-badge.tsx'
import { ConfirmDialog } from '../../ui/forms/confirm-dialog.tsx'
import { Dialog } from '../../ui/forms/dialog.tsx'
import { NeedsRole } from '../../ui/forms/needs-role.tsx'
import { TextFilter } from '../../ui/forms/text-filter.tsx'
import { SUPPRESSION_LIST, type TableOrder, tableOrder } from '../../ui/layout/list-order.ts'
import { ListPage } from '../../ui/layout/list-page.tsx'
import { RowMenu } from '../../ui/layout/row-menu.tsx'
import { omitUndefined } from '../../ui/layout/search-params.ts'
import { type Column, DataTable } from '../../ui/layout/table.tsx'
import { Time } from '../../ui/values/time.tsx'
import { SuppressionForm } from './suppression-form.tsx'
import { REASONS, type Suppression, suppressionQuery } from './suppression-search.ts'
import { SuppressionsImport } from './suppressions-import.tsx'

const route = getRouteApi('/shell/suppressions')

export function SuppressionsPage() {
  const { t } = useTranslation()
  const search = route.useSearch()
  const navigate = route.useNavigate()
  return (
    <ListPage
      title={t('suppressions.title')}
      lead={t('suppressions.lead')}
      query={useRead('listSuppressionsOperation', { query: suppressionQuery(search) })}
      after={search.after}
      go={after => void navigate({ search: omitUndefined({ ...search, after }) })}
      empty={{ icon: <IconMailOff size={26} />, title: t('suppressions.none'), hint: t('suppressions.noneHint') }}
      add={{ label: t('suppressions.add'), needs: 'developer', form: close => <SuppressionForm close={close} /> }}
      above={<Tools />}
    >
      {rows => (
        <Suppressions
          rows={rows}
          order={tableOrder(SUPPRESSION_LIST, search, next => void navigate({ search: next }))}
        />
      )}
    </ListPage>
  )
}

/** Filters, import and export. */
function Tools() {
  const { t } = useTranslation()
  const { after: _after, ...search } = route.useSearch()
  const { email, reason } = search
  const navigate = route.useNavigate()
  const [importing, setImporting] = useState(false)
  const close = () => setImporting(false)
  const go = (change: { email?: string | undefined; reason?: Suppression['reason'] | undefined }) =>
    void navigate({ search: omitUndefined({ ...search, ...change }) })
  const [, exportPath] = operations.exportSuppressionsOperation.split(' ')
  return (
    <Group justify="space-between" align="flex-end">
      <Group gap="xs" align="flex-end" role="search">
        <TextFilter
          label={t('suppressions.address')}
          placeholder={t('suppressions.addressHint')}
          value={email ?? ''}
          set={value => go({ email: value || undefined })}
          wide
        />
        <Select
          label={t('suppressions.reason')}
          placeholder={t('messages.any')}
          data={REASONS.map(value => ({ value, label: t(`suppressions.reasons.${value}`) }))}
          value={reason ?? null}
          onChange={value => go({ reason: REASONS.find(known => known === value) })}
          clearable
          w={200}
        />
      </Group>
      <Group gap="xs">
        <NeedsRole needs="developer">
          <Button variant="default" leftSection={<IconUpload size={16} />} onClick={() => setImporting(true)}>
            {t('suppressions.import')}
          </Button>
        </NeedsRole>
        <Button variant="default" component="a" href={exportPath} download leftSection={<IconDownload size={16} />}>
          {t('suppressions.export')}
        </Button>
      </Group>
      <Dialog opened={importing} close={close} title={t('suppressions.import')} size="lg">
        {() => <SuppressionsImport close={close} />}
      </Dialog>
    </Group>
  )
}

const TONES: Record<Suppression['reason'], Tone> = {
  hard_bounce: 'warn',
  complaint: 'bad',
  unsubscribe: 'info',
  manual: 'quiet',
}

function Suppressions({ rows, order }: { rows: readonly Suppression[]; order: TableOrder }) {
  const { t } = useTranslation()
  const columns: Column<Suppression>[] = [
    {
      label: t('suppressions.address'),
      text: true,
      by: 'email',
      cell: row => <span className="pw-mono">{row.email}</span>,
    },
    {
      label: t('suppressions.reason'),
      cell: row => <StatusBadge tone={TONES[row.reason]}>{t(`suppressions.reasons.${row.reason}`)}</StatusBadge>,
    },
    {
      label: t('suppressions.stream'),
      under: t('suppressions.address'),
      cell: row => (row.stream === null ? t('suppressions.allMail') : <span className="pw-mono">{row.stream}</span>),
    },
    { label: t('suppressions.detail'), text: true, cell: row => row.detail },
    { label: t('suppressions.since'), by: 'created_at', cell: row => <Time at={row.created_at} /> },
    { label: t('suppressions.until'), cell: row => <Time at={row.expires_at} /> },
    { label: t('ui.actions'), hidden: true, end: true, cell: row => <SuppressionMenu row={row} /> },
  ]
  return <DataTable order={order} name={t('suppressions.title')} columns={columns} rows={rows} rowKey={row => row.id} />
}

function SuppressionMenu({ row }: { row: Suppression }) {
  const { t } = useTranslation()
  const [asking, setAsking] = useState(false)
  const remove = useWrite('deleteSuppressionOperation', ['listSuppressionsOperation'])
  return (
    <>
      <RowMenu name={row.email} needs="developer">
        <Menu.Item color="stamp" onClick={() => setAsking(true)}>
          {t('suppressions.remove')}
        </Menu.Item>
      </RowMenu>
      <ConfirmDialog
        opened={asking}
        close={() => setAsking(false)}
        title={t('suppressions.removeTitle', { email: row.email })}
        action={t('suppressions.remove')}
        run={() => remove.mutateAsync({ params: { id: row.id } })}
      >
        {t(`suppressions.removeText.${row.reason}`)}
      </ConfirmDialog>
    </>
  )
}

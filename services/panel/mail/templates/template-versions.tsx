/** Published versions of a template; each can be published again. */

import { Button } from '@mantine/core'
import { IconHistory } from '@tabler/icons-react'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { useRead, useWrite } from '../../api/hooks.ts'
import { Empty, Loaded } from '../../ui/feedback/content-states.tsx'
import { StatusBadge } from '../../ui/feedback/status-badge.tsx'
import { ConfirmDialog } from '../../ui/forms/confirm-dialog.tsx'
import { NeedsRole } from '../../ui/forms/needs-role.tsx'
import { CursorPager } from '../../ui/layout/cursor-pager.tsx'
import { Card } from '../../ui/layout/page.tsx'
import { type Column, DataTable } from '../../ui/layout/table.tsx'
import { Time } from '../../ui/values/time.tsx'
import type { Template, TemplateVersion } from './template-types.ts'

export function TemplateVersions({ template }: { template: Template }) {
  const { t } = useTranslation()
  const [after, setAfter] = useState<string>()
  const query = useRead('listTemplateVersionsOperation', {
    params: { id: template.id },
    query: after === undefined ? {} : { after },
  })
  const last = query.data?.has_more ? query.data.data.at(-1)?.version : undefined
  return (
    <Card title={t('templates.tab.versions')} flush>
      <Loaded query={query}>
        {({ data }) =>
          data.length === 0 ? (
            <Empty icon={<IconHistory size={26} />} title={t('templates.noVersions')}>
              {t('templates.noVersionsHint')}
            </Empty>
          ) : (
            <Versions template={template} versions={data} />
          )
        }
      </Loaded>
      <CursorPager after={after} next={last === undefined ? undefined : String(last)} go={setAfter} />
    </Card>
  )
}

function Versions({ template, versions }: { template: Template; versions: readonly TemplateVersion[] }) {
  const { t } = useTranslation()
  const columns: Column<TemplateVersion>[] = [
    { label: t('templates.version'), cell: ({ version }) => version },
    { label: t('templates.subject'), text: true, cell: ({ subject }) => subject },
    { label: t('templates.publishedAt'), cell: ({ published_at: at }) => <Time at={at} /> },
    { label: t('templates.publishedBy'), text: true, cell: ({ published_by: by }) => by },
    {
      label: t('templates.state'),
      cell: ({ version, rolled_back_to: earlier }) => (
        <>
          {version === template.version ? <StatusBadge tone="ok">{t('templates.live')}</StatusBadge> : null}{' '}
          {earlier === null ? null : t('templates.rolledBackTo', { version: earlier })}
        </>
      ),
    },
    {
      label: t('ui.actions'),
      hidden: true,
      end: true,
      cell: ({ version }) =>
        version === template.version || template.managed_by ? null : <Rollback id={template.id} version={version} />,
    },
  ]
  return (
    <DataTable
      name={t('templates.tab.versions')}
      columns={columns}
      rows={versions}
      rowKey={({ version }) => String(version)}
    />
  )
}

function Rollback({ id, version }: { id: string; version: number }) {
  const { t } = useTranslation()
  const [asking, setAsking] = useState(false)
  const rollback = useWrite('rollbackTemplateOperation', [
    'getTemplateOperation',
    'listTemplatesOperation',
    'listTemplateVersionsOperation',
  ])
  return (
    <>
      <NeedsRole needs="developer">
        <Button size="xs" variant="default" onClick={() => setAsking(true)}>
          {t('templates.rollback')}
        </Button>
      </NeedsRole>
      <ConfirmDialog
        opened={asking}
        close={() => setAsking(false)}
        title={t('templates.rollbackTitle', { version })}
        action={t('templates.rollback')}
        run={() => rollback.mutateAsync({ params: { id }, body: { version } })}
      >
        {t('templates.rollbackText')}
      </ConfirmDialog>
    </>
  )
}

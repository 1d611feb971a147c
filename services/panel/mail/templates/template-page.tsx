/** Editor of a template: its draft, a live preview, and its versions. */

import { Button, Group } from '@mantine/core'
import { IconArrowLeft } from '@tabler/icons-react'
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { useRead, useWrite } from '../../api/hooks.ts'
import { ManagedBy } from '../../kubernetes/managed-by.tsx'
import { Loaded } from '../../ui/feedback/content-states.tsx'
import { ConfirmDialog } from '../../ui/forms/confirm-dialog.tsx'
import { NeedsRole } from '../../ui/forms/needs-role.tsx'
import { discardUnsavedWork } from '../../ui/forms/unsaved-work.tsx'
import { Page } from '../../ui/layout/page.tsx'
import { TemplateEditor } from './template-editor.tsx'
import type { Template } from './template-types.ts'
import { TemplateVersions } from './template-versions.tsx'
import { TemplateState } from './templates-page.tsx'

const route = getRouteApi('/shell/templates/$id')

export function TemplatePage() {
  const { t } = useTranslation()
  const { id } = route.useParams()
  const query = useRead('getTemplateOperation', { params: { id } }, { noCache: true })
  return (
    <Page
      title={query.data?.name ?? id}
      lead={
        <Group gap="xs">
          <Link to="/templates" className="pw-link">
            <IconArrowLeft size={14} className="pw-inline-icon" /> {t('templates.title')}
          </Link>
          {query.data ? <TemplateState template={query.data} /> : null}
          <ManagedBy resource={query.data?.managed_by} />
        </Group>
      }
      actions={query.data && !query.data.managed_by ? <DeleteTemplate template={query.data} /> : null}
    >
      <Loaded query={query}>
        {template => (
          <>
            <TemplateEditor key={template.id} template={template} />
            <TemplateVersions template={template} />
          </>
        )}
      </Loaded>
    </Page>
  )
}

function DeleteTemplate({ template }: { template: Template }) {
  const { t } = useTranslation()
  const navigate = useNavigate()
  const [asking, setAsking] = useState(false)
  const remove = useWrite('deleteTemplateOperation', ['listTemplatesOperation'])
  return (
    <>
      <NeedsRole needs="developer">
        <Button variant="default" onClick={() => setAsking(true)}>
          {t('templates.remove')}
        </Button>
      </NeedsRole>
      <ConfirmDialog
        opened={asking}
        close={() => setAsking(false)}
        title={t('templates.removeTitle', { name: template.name })}
        phrase={template.name}
        action={t('templates.remove')}
        run={async () => {
          await remove.mutateAsync({ params: { id: template.id } })
          discardUnsavedWork()
          await navigate({ to: '/templates' })
        }}
      >
        {t('templates.removeText')}
      </ConfirmDialog>
    </>
  )
}

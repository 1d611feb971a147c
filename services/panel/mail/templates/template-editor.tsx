/** The draft of a template in fields, saved and published with its revision, so that no change of another person is lost. */

import { Button, Group, Tabs, Textarea, TextInput } from '@mantine/core'
import { useTranslation } from 'react-i18next'
import { useWrite } from '../../api/hooks.ts'
import { notifyError, notifySuccess } from '../../ui/feedback/notifications.ts'
import { SubmitForm } from '../../ui/forms/form.tsx'
import { NeedsRole } from '../../ui/forms/needs-role.tsx'
import { useFields } from '../../ui/forms/use-fields.ts'
import { Card } from '../../ui/layout/page.tsx'
import { contentOf, type Draft, draftOf } from './template-draft.ts'
import { TemplatePreview } from './template-preview.tsx'
import type { Template } from './template-types.ts'
import { VariablesEditor } from './variables-editor.tsx'

const REFRESH = ['getTemplateOperation', 'listTemplatesOperation', 'listTemplateVersionsOperation'] as const

export function TemplateEditor({ template }: { template: Template }) {
  const { t } = useTranslation()
  const params = { id: template.id }
  const save = useWrite('patchTemplateOperation', REFRESH)
  const publish = useWrite('publishTemplateOperation', REFRESH)
  const fields = useFields<Draft>(() => draftOf(template), save.error)
  const isManaged = template.managed_by !== null
  const isSaved = JSON.stringify(contentOf(fields.values)) === JSON.stringify(contentOf(draftOf(template)))
  const submit = () =>
    save.mutate(
      { params, body: { revision: template.revision, ...contentOf(fields.values) } },
      { onSuccess: () => notifySuccess(t('templates.saved')) },
    )
  const publishNow = () =>
    publish.mutate(
      { params, body: { revision: template.revision } },
      {
        onSuccess: ({ version }) => notifySuccess(t('templates.publishedNow', { version })),
        onError: error => notifyError(error, t),
      },
    )
  return (
    <>
      <Card>
        <SubmitForm
          needs="developer"
          state={save}
          fields={fields}
          submit={submit}
          action={t('templates.save')}
          disabled={isSaved || isManaged}
        >
          <TextInput label={t('templates.subject')} readOnly={isManaged} {...fields.text('subject')} />
          <Tabs defaultValue="html" keepMounted={false}>
            <Tabs.List>
              {(['html', 'text', 'variables'] as const).map(tab => (
                <Tabs.Tab key={tab} value={tab}>
                  {t(`templates.tab.${tab}`)}
                </Tabs.Tab>
              ))}
            </Tabs.List>
            <Tabs.Panel value="html" pt="sm">
              <Textarea
                label={t('templates.html')}
                autosize
                minRows={10}
                maxRows={30}
                classNames={{ input: 'pw-mono' }}
                spellCheck={false}
                readOnly={isManaged}
                {...fields.text('html')}
              />
            </Tabs.Panel>
            <Tabs.Panel value="text" pt="sm">
              <Textarea
                label={t('templates.text')}
                description={t('templates.textHint')}
                readOnly={isManaged}
                autosize
                minRows={10}
                maxRows={30}
                {...fields.text('text')}
              />
            </Tabs.Panel>
            <Tabs.Panel value="variables" pt="sm">
              <VariablesEditor rows={fields.values.rows} change={rows => fields.change({ rows })} />
            </Tabs.Panel>
          </Tabs>
        </SubmitForm>
        {isManaged ? null : (
          <NeedsRole needs="developer">
            <Group justify="flex-end" mt="sm">
              <Button
                variant="default"
                disabled={!isSaved || !template.has_changes}
                loading={publish.isPending}
                onClick={publishNow}
              >
                {t('templates.publish')}
              </Button>
            </Group>
          </NeedsRole>
        )}
      </Card>
      <TemplatePreview draft={fields.values} />
    </>
  )
}

/** What the draft looks like with sample values, while it is edited. */
import { Button, Text, Textarea, TextInput } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import type { Input, Output } from '../../api/client.ts'
import { useRead, useWrite } from '../../api/hooks.ts'
import { Loaded } from '../../ui/feedback/content-states.tsx'
import { notifySuccess } from '../../ui/feedback/notifications.ts'
import { Dialog } from '../../ui/forms/dialog.tsx'
import { SubmitForm } from '../../ui/forms/form.tsx'
import { useFields } from '../../ui/forms/use-fields.ts'
import { Card } from '../../ui/layout/page.tsx'
import { CodeBlock } from '../../ui/values/code-block.tsx'
import { contentOf, type Draft, readSample, sampleOf } from './template-draft.ts'

type Preview = Output<'previewContentOperation'>
type Body = NonNullable<Input<'previewContentOperation'>['body']>
/** Without values while the sample is invalid. */
type Asked = Omit<Body, 'values'> & { values: Body['values'] | null }

/** Milliseconds without a key press before the preview is made again. */
const PAUSE_MS = 500

export function TemplatePreview({ draft }: { draft: Draft }) {
  const { t } = useTranslation()
  const [written, write] = useState<string>()
  const sample = written ?? sampleOf(draft.rows)
  const values = readSample(sample)
  const { html, text, ...content } = contentOf(draft)
  const parts = { ...(html !== null && { html }), ...(text !== null && { text }) }
  // As text, because the content is another object in each rendering.
  const [asked] = useDebouncedValue(
    JSON.stringify({ ...content, ...parts, values: values ?? null, framed: true }),
    PAUSE_MS,
  )
  const shown = JSON.parse(asked) as Asked
  const body = { ...shown, values: shown.values ?? {} }
  const query = useRead('previewContentOperation', { body }, { noCache: true, enabled: shown.values !== null })
  return (
    <Card title={t('templates.preview')} aside={query.data ? <SendTest preview={query.data} /> : null}>
      <Textarea
        label={t('templates.sample')}
        description={t('templates.sampleHint')}
        autosize
        minRows={3}
        maxRows={12}
        classNames={{ input: 'pw-mono' }}
        spellCheck={false}
        value={sample}
        onChange={event => write(event.currentTarget.value)}
        error={values === undefined ? t('templates.sampleInvalid') : undefined}
      />
      <Loaded query={query}>{preview => <Shown preview={preview} />}</Loaded>
    </Card>
  )
}

/** The frame is sandboxed, and its page has a Content-Security-Policy that allows no scripts and no remote content. */
function Shown({ preview }: { preview: Preview }) {
  const { t } = useTranslation()
  return (
    <>
      <Text mt="sm" fw={600}>
        {t('templates.previewSubject', { subject: preview.subject })}
      </Text>
      {preview.frame === null ? null : (
        <iframe className="pw-preview" sandbox="" src={preview.frame} title={t('templates.preview')} />
      )}
      <Text mt="sm" fz="sm" c="dimmed">
        {t('templates.text')}
        {preview.text_is_derived ? ` (${t('templates.derived')})` : ''}
      </Text>
      <CodeBlock text={preview.text} what={t('templates.text')} />
    </>
  )
}

/** Sends exactly what is shown, which need not be saved. */
function SendTest({ preview }: { preview: Preview }) {
  const { t } = useTranslation()
  const [opened, setOpened] = useState(false)
  const close = () => setOpened(false)
  return (
    <>
      <Button size="xs" variant="default" onClick={() => setOpened(true)}>
        {t('templates.sendTest')}
      </Button>
      <Dialog opened={opened} close={close} title={t('templates.sendTestTitle')}>
        {() => <SendForm preview={preview} close={close} />}
      </Dialog>
    </>
  )
}

function SendForm({ preview: { subject, html, text }, close }: { preview: Preview; close: () => void }) {
  const { t } = useTranslation()
  const send = useWrite('sendEmail', ['listEmails', 'getStats', 'listInbox'])
  const fields = useFields({ from: '', to: '' }, send.error)
  const submit = () =>
    send.mutate(
      { body: { ...fields.values, subject, text, ...(html !== null && { html }) } },
      {
        onSuccess: () => {
          close()
          notifySuccess(t('templates.sent'))
        },
      },
    )
  return (
    <SubmitForm state={send} fields={fields} submit={submit} action={t('templates.sendTest')} cancel={close}>
      <TextInput data-autofocus type="email" label={t('templates.from')} {...fields.text('from')} />
      <TextInput type="email" label={t('templates.to')} {...fields.text('to')} />
    </SubmitForm>
  )
}

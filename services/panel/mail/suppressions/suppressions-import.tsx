/** Import of suppressed addresses from a CSV file: uploaded in pieces, so that its progress shows. */
import { FileInput, Progress, Stack, Text } from '@mantine/core'
import { IconFileSpreadsheet } from '@tabler/icons-react'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import type { Output } from '../../api/client.ts'
import { request } from '../../api/fetch.ts'
import { operations } from '../../api/operations.ts'
import { Note } from '../../ui/feedback/status-badge.tsx'
import { SubmitForm } from '../../ui/forms/form.tsx'
import { type Column, DataTable } from '../../ui/layout/table.tsx'
import { CodeBlock } from '../../ui/values/code-block.tsx'
import { ServiceSentence } from '../../ui/values/service-sentence.tsx'
import { piecesOf } from './file-pieces.ts'

type Imported = Output<'importSuppressionsOperation'>
type RowError = Imported['errors'][number]

const EXAMPLE = 'email,reason,stream\nann@example.com,hard_bounce,\nbob@example.com,unsubscribe,bulk'
/** Rows of one request: a second or two. */
const ROWS = 10_000
const MAX_ERRORS = 50

const NOTHING: Imported = { object: 'suppression_import', total: 0, added: 0, listed: 0, invalid: 0, errors: [] }

export function SuppressionsImport({ close }: { close: () => void }) {
  const { t } = useTranslation()
  const queries = useQueryClient()
  const [file, setFile] = useState<File | null>(null)
  const [done, setDone] = useState(0)
  const run = useMutation({
    mutationFn: (chosen: File) => importFile(chosen, setDone),
    onSettled: () => queries.invalidateQueries({ queryKey: ['listSuppressionsOperation'] }),
  })
  const choose = (chosen: File | null) => {
    setFile(chosen)
    setDone(0)
    run.reset()
  }
  return (
    <SubmitForm
      state={run}
      submit={() => (run.isSuccess ? close() : file && run.mutate(file))}
      action={run.isSuccess ? t('ui.close') : t('suppressions.import')}
      cancel={close}
      disabled={!file}
    >
      <Stack gap="md">
        <FileInput
          label={t('suppressions.file')}
          description={t('suppressions.fileHint')}
          placeholder={t('subs.chooseFile')}
          accept=".csv,.tsv,.txt,text/csv,text/plain"
          leftSection={<IconFileSpreadsheet size={16} />}
          value={file}
          onChange={choose}
          clearable
          clearButtonProps={{ 'aria-label': t('subs.removeFile') }}
        />
        {file ? null : <CodeBlock text={EXAMPLE} what={t('suppressions.file')} />}
        {run.isPending ? <Progress value={done * 100} aria-label={t('suppressions.import')} /> : null}
        {run.data ? <Result imported={run.data} /> : null}
      </Stack>
    </SubmitForm>
  )
}

/** Imports the pieces one after the other; an import that breaks off can be repeated, because what is listed stays. */
async function importFile(file: File, onProgress: (done: number) => void): Promise<Imported> {
  const [method = '', path = ''] = operations.importSuppressionsOperation.split(' ')
  const pieces = piecesOf(new Uint8Array(await file.arrayBuffer()), ROWS)
  let sum = NOTHING
  for (const [index, { content, rowsBefore }] of pieces.entries()) {
    const response = await request(path, { method, file: { type: 'text/csv', content: new Blob([content]) } })
    const { total, added, listed, invalid, errors } = (await response.json()) as Imported
    sum = {
      ...sum,
      total: sum.total + total,
      added: sum.added + added,
      listed: sum.listed + listed,
      invalid: sum.invalid + invalid,
      errors: [...sum.errors, ...errors.map(error => ({ ...error, row: error.row + rowsBefore }))].slice(0, MAX_ERRORS),
    }
    onProgress((index + 1) / pieces.length)
  }
  return sum
}

function Result({ imported }: { imported: Imported }) {
  const { t } = useTranslation()
  const { added, listed, invalid, errors } = imported
  const columns: Column<RowError>[] = [
    { label: t('subs.row'), end: true, cell: error => error.row },
    {
      label: t('subs.error'),
      cell: ({ message, message_code, message_params }) => (
        <ServiceSentence text={message} code={message_code} params={message_params} />
      ),
    },
  ]
  return (
    <div role="status">
      <Note tone={invalid > 0 ? 'warn' : 'ok'}>{t('suppressions.imported', { count: added })}</Note>
      {listed > 0 ? <Text size="sm">{t('suppressions.listed', { count: listed })}</Text> : null}
      {invalid > 0 ? <Text size="sm">{t('suppressions.invalid', { count: invalid })}</Text> : null}
      {errors.length > 0 ? (
        <DataTable name={t('subs.error')} columns={columns} rows={errors} rowKey={error => String(error.row)} />
      ) : null}
    </div>
  )
}

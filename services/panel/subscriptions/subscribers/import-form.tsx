/** Import of subscriptions from a CSV file: validated first, then imported all or nothing. */
import { Button, FileInput, Group, Stack, Text } from '@mantine/core'
import { IconFileSpreadsheet } from '@tabler/icons-react'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { notifySuccess } from '../../ui/feedback/notifications.ts'
import { Note } from '../../ui/feedback/status-badge.tsx'
import { SubmitForm } from '../../ui/forms/form.tsx'
import { type Column, DataTable } from '../../ui/layout/table.tsx'
import { CodeBlock } from '../../ui/values/code-block.tsx'
import { importCsv, type SubOutput } from '../shared/subscriptions-api.ts'

type ImportResponse = SubOutput<'importSubscriptionsOperation'>
type RowError = ImportResponse['errors'][number]

const EXAMPLE = 'user_id,plan_id,days,client_ref\n1001,3,30,order-77\n1002,3,,order-78'

/** Selecting a file validates it; it can be imported once it has no errors. */
export function ImportForm({ appKey, close }: { appKey: string; close: () => void }) {
  const { t } = useTranslation()
  const queries = useQueryClient()
  const [file, setFile] = useState<File | null>(null)
  const check = useMutation({ mutationFn: (chosen: File) => importCsv(appKey, chosen, true) })
  const run = useMutation({
    mutationFn: (chosen: File) => importCsv(appKey, chosen, false),
    onSuccess: async ({ imported }) => {
      await queries.invalidateQueries({ queryKey: ['sub'] })
      close()
      notifySuccess(t('subs.imported', { count: imported }))
    },
    // Data changed since the validation, so it is repeated to show which rows are invalid now.
    onError: (_, chosen) => check.mutate(chosen),
  })
  const choose = (chosen: File | null) => {
    setFile(chosen)
    run.reset()
    if (chosen) check.mutate(chosen)
    else check.reset()
  }
  const found = check.data
  const ready = file && check.data && found?.errors.length === 0
  return (
    <SubmitForm
      state={{ isPending: check.isPending || run.isPending, error: check.error ?? run.error }}
      submit={() => (ready ? run.mutate(file) : undefined)}
      action={t('subs.importAction')}
      cancel={close}
      disabled={!ready}
      unsaved={file !== null}
    >
      <Stack gap="md">
        <FileInput
          label={t('subs.csvFile')}
          description={t('subs.csvHint')}
          placeholder={t('subs.chooseFile')}
          accept=".csv,.tsv,.txt,text/csv,text/plain"
          leftSection={<IconFileSpreadsheet size={16} />}
          value={file}
          onChange={choose}
          clearable
          clearButtonProps={{ 'aria-label': t('subs.removeFile') }}
        />
        {file ? null : <CodeBlock text={EXAMPLE} what={t('subs.csvExample')} />}
        {found ? <CheckResult answer={found} /> : null}
        {file && found && found.errors.length > 0 ? (
          <Group>
            <Button variant="default" size="xs" onClick={() => check.mutate(file)} loading={check.isPending}>
              {t('subs.checkAgain')}
            </Button>
          </Group>
        ) : null}
      </Stack>
    </SubmitForm>
  )
}

function CheckResult({ answer }: { answer: ImportResponse }) {
  const { t } = useTranslation()
  const columns: Column<RowError>[] = [
    { label: t('subs.row'), end: true, cell: error => error.row },
    {
      label: t('subs.field'),
      // Columns with an unknown name are identified by their number.
      cell: error => (
        <span className="pw-mono">{error.field || (error.column && t('subs.column', { number: error.column }))}</span>
      ),
    },
    { label: t('subs.error'), cell: error => error.message },
  ]
  if (answer.errors.length === 0)
    return (
      <div role="status">
        <Note tone="ok">{t('subs.importReady', { count: answer.total - answer.repeated })}</Note>
        <ImportSummary answer={answer} />
      </div>
    )
  return (
    <div role="alert">
      <Note tone="bad">{t('subs.importErrors', { count: answer.errors.length })}</Note>
      <DataTable
        name={t('subs.error')}
        columns={columns}
        rows={answer.errors.slice(0, 50)}
        rowKey={error => `${error.row} ${error.column} ${error.field} ${error.rule}`}
      />
      <ImportSummary answer={answer} />
    </div>
  )
}

/** Skipped and repeated rows, and the detected encoding and separator, which reveal a wrong detection. */
function ImportSummary({ answer: { encoding, separator, repeated, skipped } }: { answer: ImportResponse }) {
  const { t } = useTranslation()
  if (encoding === '') return null
  const name = separator === ';' ? 'semicolon' : separator === ',' ? 'comma' : 'tab'
  const lines = [
    repeated > 0 ? t('subs.importRepeated', { count: repeated }) : '',
    skipped > 0 ? t('subs.importSkipped', { count: skipped }) : '',
    t('subs.importRead', { encoding: encoding.toUpperCase(), separator: t(`subs.separator.${name}`) }),
  ]
  return (
    <Text fz="sm" c="dimmed" mt="xs">
      {lines.filter(Boolean).join(' ')}
    </Text>
  )
}

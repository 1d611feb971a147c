/** CSV export of the messages that match the filters, read in parts. */
import { Button, Group, Progress, Stack, Text } from '@mantine/core'
import { IconFileExport } from '@tabler/icons-react'
import { useRef, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { request } from '../../api/fetch.ts'
import { problemText } from '../../ui/feedback/problem-text.ts'
import { Note } from '../../ui/feedback/status-badge.tsx'
import { Dialog } from '../../ui/forms/dialog.tsx'
import { useFormat } from '../../ui/values/number-format.ts'
import { type ExportProgress, readExport } from './export-run.ts'
import { type MessageSearch, messageFilters } from './message-search.ts'

export function ExportMessages({ search }: { search: MessageSearch }) {
  const { t } = useTranslation()
  const [opened, setOpened] = useState(false)
  return (
    <>
      <Button variant="subtle" size="xs" leftSection={<IconFileExport size={16} />} onClick={() => setOpened(true)}>
        {t('messages.export.action')}
      </Button>
      <Dialog opened={opened} close={() => setOpened(false)} title={t('messages.export.title')} byButtonOnly>
        {() => <ExportDialog search={search} close={() => setOpened(false)} />}
      </Dialog>
    </>
  )
}

function ExportDialog({ search, close }: { search: MessageSearch; close: () => void }) {
  const { t } = useTranslation()
  const { number } = useFormat()
  const [progress, setProgress] = useState<ExportProgress>()
  const [error, setError] = useState<unknown>()
  const abort = useRef<AbortController>(undefined)
  const run = async () => {
    const controller = new AbortController()
    abort.current = controller
    setError(undefined)
    setProgress({ parts: 0, bytes: 0 })
    const { q, ...filters } = messageFilters(search, Date.now())
    const part = (after: string | undefined) =>
      request('/api/v1/emails/export', {
        method: 'GET',
        query: { ...filters, q, after },
        signal: controller.signal,
      })
    try {
      const { blob, isComplete } = await readExport(part, setProgress)
      save(blob)
      if (isComplete) close()
      else setProgress({ parts: 0, bytes: 0, isCut: true })
    } catch (failure) {
      setProgress(undefined)
      if (!controller.signal.aborted) setError(failure)
    }
  }
  const isRunning = progress !== undefined && !progress.isCut
  const { bytes } = useFormat()
  return (
    <Stack gap="md">
      <Text fz="sm">{t('messages.export.text')}</Text>
      {isRunning ? (
        <div role="status">
          <Text fz="sm" mb={6}>
            {t('messages.export.progress', { parts: number(progress.parts), size: bytes(progress.bytes) })}
          </Text>
          <Progress value={100} animated size="sm" color="ink" aria-label={t('messages.export.title')} />
        </div>
      ) : null}
      {progress?.isCut ? <Note tone="warn">{t('messages.export.cut')}</Note> : null}
      {error === undefined ? null : (
        <div role="alert">
          <Note tone="bad">{problemText(error, t)}</Note>
        </div>
      )}
      <Group justify="flex-end" gap="xs">
        <Button
          variant="default"
          onClick={() => {
            abort.current?.abort()
            close()
          }}
        >
          {t(progress?.isCut ? 'ui.close' : 'ui.cancel')}
        </Button>
        {progress?.isCut ? null : (
          <Button data-autofocus loading={isRunning} onClick={() => void run()}>
            {t('messages.export.download')}
          </Button>
        )}
      </Group>
    </Stack>
  )
}

function save(blob: Blob): void {
  const url = URL.createObjectURL(blob)
  const link = document.createElement('a')
  link.href = url
  link.download = `messages-${new Date().toISOString().slice(0, 10)}.csv`
  link.click()
  // The download has read the address by then.
  setTimeout(() => URL.revokeObjectURL(url), 60_000)
}

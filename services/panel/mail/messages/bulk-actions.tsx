/** Actions on selected messages: try now and stop, with what they will do, their progress and what failed. */
import { Button, Group, List, Progress, Stack, Text } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { call } from '../../api/client.ts'
import { problemText } from '../../ui/feedback/problem-text.ts'
import { Note } from '../../ui/feedback/status-badge.tsx'
import { Dialog } from '../../ui/forms/dialog.tsx'
import { NeedsRole } from '../../ui/forms/needs-role.tsx'
import { useUnsavedWork } from '../../ui/forms/unsaved-work.tsx'
import { type BulkAction, type BulkProgress, eligibleFor, runBulk } from './bulk-run.ts'
import type { ListedMessage } from './message-table.tsx'

const OPERATIONS = { retry: 'retryEmail', cancel: 'cancelEmail' } as const

/** Renders nothing while no message is selected and no dialog is open. `done` is called when the dialog of a run is closed. */
export function BulkActions({ selected, done }: { selected: readonly ListedMessage[]; done: () => void }) {
  const { t } = useTranslation()
  const [asking, setAsking] = useState<BulkAction>()
  const [running, setRunning] = useState(false)
  // What is asked about stays open when its messages leave the list.
  if (selected.length === 0 && asking === undefined) return null
  return (
    <Group gap="sm" className="pw-selection" role="region" aria-label={t('messages.selection')}>
      <Text fz="sm" fw={600} role="status">
        {t('messages.selected', { count: selected.length })}
      </Text>
      <NeedsRole needs="developer">
        <Button size="xs" variant="default" onClick={() => setAsking('retry')}>
          {t('messages.bulk.retry.title')}
        </Button>{' '}
        <Button size="xs" variant="default" onClick={() => setAsking('cancel')}>
          {t('messages.bulk.cancel.title')}
        </Button>
      </NeedsRole>
      <Button size="xs" variant="subtle" onClick={done}>
        {t('messages.clearSelection')}
      </Button>
      <Dialog
        opened={asking !== undefined}
        close={() => setAsking(undefined)}
        title={asking ? t(`messages.bulk.${asking}.title`) : ''}
        byButtonOnly={running}
      >
        {() =>
          asking ? (
            <BulkDialog
              action={asking}
              selected={selected}
              setRunning={setRunning}
              close={changed => {
                setAsking(undefined)
                if (changed) done()
              }}
            />
          ) : null
        }
      </Dialog>
    </Group>
  )
}

function BulkDialog(props: {
  action: BulkAction
  selected: readonly ListedMessage[]
  setRunning: (running: boolean) => void
  close: (changed: boolean) => void
}) {
  const { t } = useTranslation()
  const { action, setRunning, close } = props
  // The list is read again while the action runs: what was selected stays as it was asked for.
  const [selected] = useState(props.selected)
  const { messages, recipients } = eligibleFor(action, selected)
  const [progress, setProgress] = useState<BulkProgress>()
  const queries = useQueryClient()
  const run = async () => {
    setRunning(true)
    await runBulk(messages, id => call(OPERATIONS[action], { params: { id } }), setProgress)
    setRunning(false)
    await queries.invalidateQueries({ queryKey: ['listEmails'] })
  }
  const skipped = selected.length - messages.length
  const isDone = progress !== undefined && progress.done === messages.length
  useUnsavedWork(() => progress !== undefined && !isDone)
  return (
    <Stack gap="md">
      <Text fz="sm">
        {t(`messages.bulk.${action}.text`, {
          messages: t('messages.counted', { count: messages.length }),
          recipients: t('messages.bulk.recipients', { count: recipients }),
        })}
        {skipped > 0 ? ` ${t('messages.bulk.skipped', { count: skipped })}` : null}
      </Text>
      {progress ? <BulkState progress={progress} total={messages.length} /> : null}
      <Group justify="flex-end" gap="xs">
        <Button variant="default" onClick={() => close(isDone)} disabled={progress !== undefined && !isDone}>
          {t(isDone || action === 'cancel' ? 'ui.close' : 'ui.cancel')}
        </Button>
        {isDone ? null : (
          <Button
            data-autofocus
            {...(action === 'cancel' ? { color: 'stamp' } : {})}
            disabled={messages.length === 0}
            loading={progress !== undefined}
            onClick={() => void run()}
          >
            {t(`messages.bulk.${action}.action`, { count: messages.length })}
          </Button>
        )}
      </Group>
    </Stack>
  )
}

/** How far it has come, and each message that failed with the reason. */
function BulkState({ progress, total }: { progress: BulkProgress; total: number }) {
  const { t } = useTranslation()
  const { done, failures } = progress
  const text = t('messages.bulk.progress', { done, total })
  return (
    <>
      <div role="status">
        <Text fz="sm" mb={6}>
          {text}
          {failures.length > 0 ? ` · ${t('messages.bulk.failed', { count: failures.length })}` : null}
        </Text>
        <Progress.Root size="sm">
          <Progress.Section value={(100 * done) / Math.max(1, total)} color="ink" aria-label={text} />
        </Progress.Root>
      </div>
      {failures.length > 0 ? (
        <Note tone="bad">
          <List size="sm" spacing={2} className="pw-failures">
            {failures.map(({ message, error }) => (
              <List.Item key={message.id}>
                {message.subject || t('messages.noSubject')} ({message.recipients[0]?.email}): {problemText(error, t)}
              </List.Item>
            ))}
          </List>
        </Note>
      ) : null}
    </>
  )
}

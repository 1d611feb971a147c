/** Actions on the selected subscriptions: extend, turn off renewal, cancel, refund. */
import { Button, Group, Text } from '@mantine/core'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { Dialog } from '../../ui/forms/dialog.tsx'
import { BatchForm, type BatchKind } from './batch-form.tsx'
import type { Selection } from './subscription-table.tsx'
import { MAX_SELECTED } from './use-selection.ts'

const KINDS = ['extend', 'stop', 'cancel', 'refund'] as const satisfies readonly BatchKind[]

export function BatchBar(props: { appKey: string; selection: Selection & { clear: () => void } }) {
  const { t } = useTranslation()
  const { appKey, selection } = props
  // With the number of subscriptions at that time: the selection shrinks when the action is done.
  const [open, setOpen] = useState<{ kind: BatchKind; count: number }>()
  const [running, setRunning] = useState(false)
  const count = selection.chosen.size
  const close = () => setOpen(undefined)
  if (count === 0 && open === undefined) return null
  return (
    <section className="pw-card pw-batch" aria-label={t('subs.selection')}>
      <Group gap="xs" justify="space-between">
        <Text fz="sm" fw={500} role="status">
          {t('subs.selected', { count })}
          {count === MAX_SELECTED ? ` ${t('subs.selectedMost')}` : ''}
        </Text>
        <Group gap="xs">
          {KINDS.map(one => (
            <Button key={one} variant="default" size="xs" onClick={() => setOpen({ kind: one, count })}>
              {t(`subs.batch.${one}`)}
            </Button>
          ))}
          <Button variant="subtle" size="xs" onClick={selection.clear}>
            {t('subs.clearSelection')}
          </Button>
        </Group>
      </Group>
      <Dialog
        opened={open !== undefined}
        close={close}
        title={open ? t(`subs.batchTitle.${open.kind}`, { count: open.count }) : ''}
        size="lg"
        byButtonOnly={running}
      >
        {() =>
          open ? (
            <BatchForm
              appKey={appKey}
              kind={open.kind}
              subscriptions={[...selection.chosen.values()]}
              running={running}
              setRunning={setRunning}
              finished={done => selection.set(done, false)}
              close={close}
            />
          ) : null
        }
      </Dialog>
    </section>
  )
}

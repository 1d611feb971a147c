/** Dialog for secrets that the service returns only once; only its button closes it, and leaving the page asks. */
import { Button, Group, Stack, Text } from '@mantine/core'
import { type ReactNode, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { Note } from '../feedback/status-badge.tsx'
import { CodeBlock } from '../values/code-block.tsx'
import { Dialog } from './dialog.tsx'
import { useUnsavedWork } from './unsaved-work.tsx'

export type ShowSecrets = (entries: [name: string, value: string][]) => void

/** Returns the dialog to render and the function that opens it. */
export function useSecretOnce(title: string): [dialog: ReactNode, show: ShowSecrets] {
  const [entries, setEntries] = useState<[name: string, value: string][]>()
  const close = () => setEntries(undefined)
  const dialog = (
    <Dialog opened={entries !== undefined} close={close} title={title} size="lg" byButtonOnly>
      {() => <Secrets entries={entries ?? []} close={close} />}
    </Dialog>
  )
  return [dialog, setEntries]
}

function Secrets({ entries, close }: { entries: [name: string, value: string][]; close: () => void }) {
  const { t } = useTranslation()
  useUnsavedWork(() => true)
  return (
    <Stack gap="md">
      <Note tone="warn">{t('ui.secretOnce')}</Note>
      {entries.map(([name, value]) => (
        <div key={name}>
          <Text fz="sm" fw={500} mb={4}>
            {name}
          </Text>
          <CodeBlock text={value} what={name} />
        </div>
      ))}
      <Group justify="flex-end">
        <Button onClick={close}>{t('ui.secretKept')}</Button>
      </Group>
    </Stack>
  )
}

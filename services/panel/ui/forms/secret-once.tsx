/** Dialog for the secrets of a record that was just made. */
import { Button, Group, Stack, Text } from '@mantine/core'
import { type ReactNode, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { Note } from '../feedback/status-badge.tsx'
import { CodeBlock } from '../values/code-block.tsx'
import { Dialog } from './dialog.tsx'
import { useUnsavedWork } from './unsaved-work.tsx'

interface Shown {
  entries: [name: string, value: string][]
  /** What is true of these values, where it is not that they are shown only now. */
  note?: string
  /** Shown below the values: how they are used. */
  below?: ReactNode
}

export type ShowSecrets = (entries: Shown['entries'], more?: Omit<Shown, 'entries'>) => void

/** Returns the dialog to render and the function that opens it. Only its button closes it, and leaving the page asks. */
export function useSecretOnce(title: string): [dialog: ReactNode, show: ShowSecrets] {
  const [shown, setShown] = useState<Shown>()
  const close = () => setShown(undefined)
  const dialog = (
    <Dialog opened={shown !== undefined} close={close} title={title} size="lg" byButtonOnly>
      {() => (shown ? <Secrets shown={shown} close={close} /> : null)}
    </Dialog>
  )
  return [dialog, (entries, more) => setShown({ entries, ...more })]
}

function Secrets({ shown: { entries, note, below }, close }: { shown: Shown; close: () => void }) {
  const { t } = useTranslation()
  useUnsavedWork(() => true)
  return (
    <Stack gap="md">
      <Note tone={note ? 'info' : 'warn'}>{note ?? t('ui.secretOnce')}</Note>
      {entries.map(([name, value]) => (
        <div key={name}>
          <Text fz="sm" fw={500} mb={4}>
            {name}
          </Text>
          <CodeBlock text={value} what={name} />
        </div>
      ))}
      {below}
      <Group justify="flex-end">
        <Button onClick={close}>{t('ui.secretKept')}</Button>
      </Group>
    </Stack>
  )
}

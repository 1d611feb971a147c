/** Dialog for the secrets of a record that was just made. */
import { Button, Group, Stack, Text } from '@mantine/core'
import { type ReactNode, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { Note } from '../feedback/status-badge.tsx'
import { CodeBlock } from '../values/code-block.tsx'
import { Dialog } from './dialog.tsx'
import { useUnsavedWork } from './unsaved-work.tsx'

/** `note`: what is true of these values, where it is not that they are shown only now. */
export type ShowSecrets = (entries: [name: string, value: string][], note?: string) => void

interface Shown {
  entries: [name: string, value: string][]
  note: string | undefined
}

/** Returns the dialog to render and the function that opens it. Only its button closes it, and leaving the page asks. */
export function useSecretOnce(title: string): [dialog: ReactNode, show: ShowSecrets] {
  const [shown, setShown] = useState<Shown>()
  const close = () => setShown(undefined)
  const dialog = (
    <Dialog opened={shown !== undefined} close={close} title={title} size="lg" byButtonOnly>
      {() => (shown ? <Secrets shown={shown} close={close} /> : null)}
    </Dialog>
  )
  return [dialog, (entries, note) => setShown({ entries, note })]
}

function Secrets({ shown: { entries, note }, close }: { shown: Shown; close: () => void }) {
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
      <Group justify="flex-end">
        <Button onClick={close}>{t('ui.secretKept')}</Button>
      </Group>
    </Stack>
  )
}

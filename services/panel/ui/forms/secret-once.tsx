/** Dialog for the secrets of a record that was just made. */
import { Button, Group, Stack, Text } from '@mantine/core'
import { type ReactNode, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { Note } from '../feedback/status-badge.tsx'
import { CodeBlock } from '../values/code-block.tsx'
import { Dialog } from './form.tsx'

/** `note`: what is true of these values, where it is not that they are shown only now. */
export type ShowSecrets = (entries: [name: string, value: string][], note?: string) => void

/** Returns the dialog to render and the function that opens it. */
export function useSecretOnce(title: string): [dialog: ReactNode, show: ShowSecrets] {
  const { t } = useTranslation()
  const [shown, setShown] = useState<{ entries: [name: string, value: string][]; note: string | undefined }>()
  const close = () => setShown(undefined)
  const dialog = (
    <Dialog opened={shown !== undefined} close={close} title={title} size="lg">
      {() => (
        <Stack gap="md">
          <Note tone={shown?.note ? 'info' : 'warn'}>{shown?.note ?? t('ui.secretOnce')}</Note>
          {shown?.entries.map(([name, value]) => (
            <div key={name}>
              <Text fz="sm" fw={500} mb={4}>
                {name}
              </Text>
              <CodeBlock text={value} what={name} />
            </div>
          ))}
          <Group justify="flex-end">
            <Button onClick={close}>{t(shown?.note ? 'ui.close' : 'ui.secretKept')}</Button>
          </Group>
        </Stack>
      )}
    </Dialog>
  )
  return [dialog, (entries, note) => setShown({ entries, note })]
}

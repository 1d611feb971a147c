/** A secret that is shown this once: it is copied now or made again. */
import { Button, Group, Modal, Stack, Text } from '@mantine/core'
import { useTranslation } from 'react-i18next'
import { CodeBlock } from './code.tsx'
import { Note } from './status.tsx'

/** The dialog; open while there is something to show. Entries are names and values. */
export function SecretOnce(props: {
  title: string
  entries: readonly [name: string, value: string][] | undefined
  close: () => void
}) {
  const { t } = useTranslation()
  const { title, entries, close } = props
  return (
    <Modal
      opened={entries !== undefined}
      onClose={close}
      title={title}
      closeOnClickOutside={false}
      closeButtonProps={{ 'aria-label': t('ui.closeDialog') }}
      size="lg"
    >
      <Stack gap="md">
        <Note tone="warn">{t('ui.secretOnce')}</Note>
        {entries?.map(([name, value]) => (
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
    </Modal>
  )
}

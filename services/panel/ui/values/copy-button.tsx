/** Copy buttons. */
import { ActionIcon, Group, Tooltip } from '@mantine/core'
import { IconCheck, IconCopy } from '@tabler/icons-react'
import { useTranslation } from 'react-i18next'
import { useCopy } from './use-copy.ts'

/** `what` names the value in the accessible name of the button. */
export function CopyButton({ value, what }: { value: string; what: string }) {
  const { t } = useTranslation()
  const { copy, copied } = useCopy()
  return (
    <Tooltip label={copied ? t('ui.copied') : t('ui.copy')}>
      <ActionIcon
        variant="subtle"
        color={copied ? 'ink' : 'gray'}
        size="md"
        aria-label={copied ? t('ui.copied') : t('ui.copyWhat', { what })}
        aria-live="polite"
        onClick={() => void copy(() => value)}
      >
        {copied ? <IconCheck size={15} /> : <IconCopy size={15} />}
      </ActionIcon>
    </Tooltip>
  )
}

/** Monospaced value with a copy button. */
export function Copyable({ value, what }: { value: string; what: string }) {
  return (
    <Group gap={4} wrap="nowrap" align="flex-start" display="inline-flex" className="pw-copyable">
      <span className="pw-mono">{value}</span>
      <CopyButton value={value} what={what} />
    </Group>
  )
}

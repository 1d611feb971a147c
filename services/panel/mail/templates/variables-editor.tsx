/** The variables of a template as rows of fields. */
import { Button, Checkbox, CloseButton, Group, Select, Stack, TextInput } from '@mantine/core'
import { IconPlus } from '@tabler/icons-react'
import { useTranslation } from 'react-i18next'
import type { VariableRow } from './template-draft.ts'

const TYPES = ['string', 'number', 'boolean', 'list'] as const

export function VariablesEditor({
  rows,
  change,
}: {
  rows: readonly VariableRow[]
  change: (rows: readonly VariableRow[]) => void
}) {
  const { t } = useTranslation()
  const set = (id: number, part: Partial<VariableRow>) =>
    change(rows.map(row => (row.id === id ? { ...row, ...part } : row)))
  const add = () => {
    const id = Math.max(-1, ...rows.map(row => row.id)) + 1
    change([...rows, { id, key: '', type: 'string', default: '', required: false }])
  }
  return (
    <Stack gap="xs">
      {rows.map(row => (
        <Group key={row.id} gap="xs" align="flex-end">
          <TextInput
            label={t('templates.key')}
            autoComplete="off"
            value={row.key}
            onChange={event => set(row.id, { key: event.currentTarget.value })}
          />
          <Select
            label={t('templates.type')}
            w={140}
            data={TYPES.map(value => ({ value, label: t(`templates.types.${value}`) }))}
            allowDeselect={false}
            value={row.type}
            onChange={value => set(row.id, { type: TYPES.find(type => type === value) ?? 'string' })}
          />
          <TextInput
            label={t('templates.default')}
            autoComplete="off"
            value={row.default}
            onChange={event => set(row.id, { default: event.currentTarget.value })}
          />
          <Checkbox
            label={t('templates.required')}
            mb={8}
            checked={row.required}
            onChange={event => set(row.id, { required: event.currentTarget.checked })}
          />
          <CloseButton
            mb={4}
            aria-label={t('templates.removeVariable', { name: row.key })}
            onClick={() => change(rows.filter(other => other.id !== row.id))}
          />
        </Group>
      ))}
      <Group>
        <Button variant="default" size="xs" leftSection={<IconPlus size={14} />} onClick={add}>
          {t('templates.addVariable')}
        </Button>
      </Group>
    </Stack>
  )
}

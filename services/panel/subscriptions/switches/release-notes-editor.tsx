/** Editor of release notes: one card for each version. */
import { ActionIcon, Button, Group, SimpleGrid, Stack, Textarea, TextInput } from '@mantine/core'
import { IconPlus, IconTrash } from '@tabler/icons-react'
import { useTranslation } from 'react-i18next'
import { ListErrors, useNestedErrors } from '../../ui/forms/nested-errors.tsx'
import { type NoteFields, newNote, type SwitchFields } from './switch-fields.ts'

const LISTS = ['features', 'improvements', 'fixes'] as const

/** A changelog always has a title; for other types the title is shown once there are notes. */
export function ReleaseNotesEditor({
  fields,
  set,
}: {
  fields: SwitchFields
  set: (change: Partial<SwitchFields>) => void
}) {
  const { t } = useTranslation()
  const { notes } = fields
  const errorAt = useNestedErrors()
  const change = (key: number, part: Partial<NoteFields>) =>
    set({ notes: notes.map(note => (note.key === key ? { ...note, ...part } : note)) })
  const today = new Date().toISOString().slice(0, 10)
  return (
    <fieldset className="pw-fieldset">
      <legend>{t('subs.notes')}</legend>
      {fields.type === 'changelog' ? <ListErrors of="value" /> : null}
      <ListErrors of="logs" />
      <Stack gap="sm">
        {fields.type === 'changelog' || notes.length > 0 ? (
          <TextInput
            label={t('subs.notesTitle')}
            value={fields.title}
            onChange={event => set({ title: event.currentTarget.value })}
            {...errorAt('title')}
          />
        ) : null}
        {notes.map((note, index) => (
          <ReleaseNote
            key={note.key}
            note={note}
            path={`logs.${index}`}
            change={part => change(note.key, part)}
            remove={() => set({ notes: notes.filter(({ key }) => key !== note.key) })}
          />
        ))}
        <Group>
          <Button
            variant="default"
            size="xs"
            leftSection={<IconPlus size={14} />}
            onClick={() => set({ notes: [newNote(notes, today), ...notes] })}
          >
            {t('subs.addNote')}
          </Button>
        </Group>
      </Stack>
    </fieldset>
  )
}

function ReleaseNote(props: {
  note: NoteFields
  /** Of the note in the request. */
  path: string
  change: (part: Partial<NoteFields>) => void
  remove: () => void
}) {
  const { t } = useTranslation()
  const { note, path, change, remove } = props
  const errorAt = useNestedErrors()
  return (
    <div className="pw-card pw-pad">
      <Group align="flex-end" gap="xs" mb="xs" wrap="nowrap">
        <TextInput
          label={t('subs.version')}
          placeholder="1.2.0"
          value={note.version}
          onChange={event => change({ version: event.currentTarget.value })}
          {...errorAt(`${path}.version`)}
          style={{ flex: 1 }}
        />
        <TextInput
          type="date"
          label={t('subs.date')}
          value={note.date}
          onChange={event => change({ date: event.currentTarget.value })}
          {...errorAt(`${path}.date`)}
          style={{ flex: 1 }}
        />
        <ActionIcon variant="subtle" color="stamp" size="lg" onClick={remove} aria-label={t('subs.removeNote')}>
          <IconTrash size={16} />
        </ActionIcon>
      </Group>
      <TextInput
        label={t('subs.noteTitle')}
        value={note.title}
        onChange={event => change({ title: event.currentTarget.value })}
        {...errorAt(`${path}.title`)}
        mb="xs"
      />
      <SimpleGrid cols={{ base: 1, sm: 3 }} spacing="xs">
        {LISTS.map(list => (
          <Textarea
            key={list}
            label={t(`subs.noteLists.${list}`)}
            autosize
            minRows={2}
            value={note[list]}
            onChange={event => change({ [list]: event.currentTarget.value })}
            {...errorAt(`${path}.${list}`)}
          />
        ))}
      </SimpleGrid>
    </div>
  )
}

/** Saved views: filters that the user keeps under a name, stored by the service. */
import { Button, Menu, TextInput } from '@mantine/core'
import { IconBookmark, IconChevronDown, IconDeviceFloppy, IconTrash } from '@tabler/icons-react'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import type { Output } from '../../api/client.ts'
import { useRead, useWrite } from '../../api/hooks.ts'
import { useNotifyCallbacks } from '../../ui/feedback/save-result.ts'
import { Dialog } from '../../ui/forms/dialog.tsx'
import { SubmitForm } from '../../ui/forms/form.tsx'
import { useFields } from '../../ui/forms/use-fields.ts'
import { filtersOf, isFiltered, type MessageSearch, messageSearch } from './message-search.ts'

type View = Output<'listMessageViews'>['data'][number]

/** `open` shows other filters. */
export function SavedViews({ search, open }: { search: MessageSearch; open: (search: MessageSearch) => void }) {
  const { t } = useTranslation()
  const [saving, setSaving] = useState(false)
  const { data } = useRead('listMessageViews', {})
  const remove = useWrite('deleteMessageView', ['listMessageViews'])
  const report = useNotifyCallbacks()
  const views = data?.data ?? []
  const current = views.find(view => isSame(view, search))
  return (
    <>
      <Menu position="bottom-end" shadow="md" width={260}>
        <Menu.Target>
          <Button
            variant="default"
            title={current?.name}
            leftSection={<IconBookmark size={16} />}
            rightSection={<IconChevronDown size={14} />}
          >
            <span className="pw-ellipsis">{current?.name ?? t('messages.views.title')}</span>
          </Button>
        </Menu.Target>
        <Menu.Dropdown>
          {views.map(view => (
            <Menu.Item
              key={view.id}
              onClick={() => open(messageSearch(view.filters))}
              {...(view === current ? { 'aria-current': true } : {})}
            >
              {view.name}
            </Menu.Item>
          ))}
          {views.length === 0 ? <Menu.Label>{t('messages.views.none')}</Menu.Label> : <Menu.Divider />}
          <Menu.Item
            leftSection={<IconDeviceFloppy size={16} />}
            disabled={!isFiltered(search)}
            onClick={() => setSaving(true)}
          >
            {t('messages.views.save')}
          </Menu.Item>
          {current ? (
            <Menu.Item
              color="stamp"
              leftSection={<IconTrash size={16} />}
              onClick={() => remove.mutate({ params: { id: current.id } }, report)}
            >
              {t('messages.views.delete', { name: current.name })}
            </Menu.Item>
          ) : null}
        </Menu.Dropdown>
      </Menu>
      <Dialog opened={saving} close={() => setSaving(false)} title={t('messages.views.save')}>
        {() => <SaveView search={search} name={current?.name ?? ''} close={() => setSaving(false)} />}
      </Dialog>
    </>
  )
}

function SaveView({ search, name, close }: { search: MessageSearch; name: string; close: () => void }) {
  const { t } = useTranslation()
  const create = useWrite('createMessageView', ['listMessageViews'])
  const fields = useFields({ name }, create.error)
  const submit = () =>
    create.mutate({ body: { name: fields.values.name, filters: filtersOf(search) } }, { onSuccess: close })
  return (
    <SubmitForm state={create} fields={fields} submit={submit} action={t('ui.save')} cancel={close}>
      <TextInput
        data-autofocus
        label={t('messages.views.name')}
        description={t('messages.views.hint')}
        maxLength={60}
        autoComplete="off"
        {...fields.text('name')}
      />
    </SubmitForm>
  )
}

function isSame({ filters }: View, search: MessageSearch): boolean {
  const text = (of: MessageSearch) => JSON.stringify(Object.entries(filtersOf(of)))
  return isFiltered(search) && text(messageSearch(filters)) === text(search)
}

/** The passkeys of the own account: added with the password, renamed, removed. */
import { Badge, Button, Group, Stack, Text, TextInput } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import type { Output } from '../api/client.ts'
import { useRead, useWrite } from '../api/hooks.ts'
import { isPasskeyRefusal, knowsPasskeys, registerPasskey } from '../session/passkey.ts'
import { Loaded } from '../ui/feedback/content-states.tsx'
import { notifySuccess } from '../ui/feedback/notifications.ts'
import { useSaveCallbacks } from '../ui/feedback/save-result.ts'
import { Note } from '../ui/feedback/status-badge.tsx'
import { ConfirmDialog } from '../ui/forms/confirm-dialog.tsx'
import { Dialog } from '../ui/forms/dialog.tsx'
import { SubmitForm } from '../ui/forms/form.tsx'
import { PasswordInput } from '../ui/forms/password-input.tsx'
import { useFields } from '../ui/forms/use-fields.ts'
import { Card } from '../ui/layout/page.tsx'
import { type Column, DataTable } from '../ui/layout/table.tsx'
import { Time } from '../ui/values/time.tsx'

type Passkey = Output<'listMyPasskeys'>['data'][number]

/** Nothing where the address of the installation, or the browser, allows no passkeys. */
export function PasskeysCard() {
  const { t } = useTranslation()
  const { data: methods } = useRead('getLoginMethods', {})
  if (!methods?.passkey || !knowsPasskeys()) return null
  return (
    <Card title={t('ways.passkeys')}>
      <Passkeys />
    </Card>
  )
}

function Passkeys() {
  const { t } = useTranslation()
  const query = useRead('listMyPasskeys', {})
  const [isAdding, setAdding] = useState(false)
  const [renamed, setRenamed] = useState<Passkey>()
  const [removed, setRemoved] = useState<Passkey>()
  const remove = useWrite('deleteMyPasskey', ['listMyPasskeys'])
  return (
    <Stack gap="md">
      <Text fz="sm" c="dimmed">
        {t('ways.passkeysLead')}
      </Text>
      <Loaded query={query}>
        {({ data }) =>
          data.length > 0 ? (
            <PasskeyTable passkeys={data} rename={setRenamed} remove={setRemoved} />
          ) : (
            <Text fz="sm">{t('ways.noPasskeys')}</Text>
          )
        }
      </Loaded>
      <Group>
        <Button variant="default" onClick={() => setAdding(true)}>
          {t('ways.add')}
        </Button>
      </Group>
      <Dialog opened={isAdding} close={() => setAdding(false)} title={t('ways.add')}>
        {() => <AddForm close={() => setAdding(false)} />}
      </Dialog>
      <Dialog opened={renamed !== undefined} close={() => setRenamed(undefined)} title={t('ways.rename')}>
        {() => (renamed ? <RenameForm passkey={renamed} close={() => setRenamed(undefined)} /> : null)}
      </Dialog>
      <ConfirmDialog
        opened={removed !== undefined}
        close={() => setRemoved(undefined)}
        title={t('ways.removeTitle', { name: removed?.name ?? '' })}
        action={t('ways.remove')}
        run={() => remove.mutateAsync({ params: { id: removed?.id ?? '' } })}
      >
        {t('ways.removeText')}
      </ConfirmDialog>
    </Stack>
  )
}

function PasskeyTable(props: {
  passkeys: readonly Passkey[]
  rename: (passkey: Passkey) => void
  remove: (passkey: Passkey) => void
}) {
  const { t } = useTranslation()
  const columns: Column<Passkey>[] = [
    {
      label: t('ways.name'),
      text: true,
      cell: passkey => (
        <Group gap="xs" display="inline-flex">
          {passkey.name}
          {passkey.synced ? <Badge variant="light">{t('ways.synced')}</Badge> : null}
        </Group>
      ),
    },
    { label: t('ways.created'), cell: passkey => <Time at={passkey.created_at} /> },
    {
      label: t('ways.used'),
      cell: passkey => (passkey.last_used_at === null ? t('ways.never') : <Time at={passkey.last_used_at} />),
    },
    {
      label: t('ui.actions'),
      hidden: true,
      end: true,
      cell: passkey => (
        <Group gap="xs" justify="flex-end" wrap="nowrap">
          <Button
            variant="subtle"
            size="compact-sm"
            aria-label={t('ways.renameOf', { name: passkey.name })}
            onClick={() => props.rename(passkey)}
          >
            {t('ways.rename')}
          </Button>
          <Button
            variant="subtle"
            color="stamp"
            size="compact-sm"
            aria-label={t('ways.removeOf', { name: passkey.name })}
            onClick={() => props.remove(passkey)}
          >
            {t('ways.remove')}
          </Button>
        </Group>
      ),
    },
  ]
  return <DataTable name={t('ways.passkeys')} columns={columns} rows={props.passkeys} rowKey={passkey => passkey.id} />
}

function AddForm({ close }: { close: () => void }) {
  const { t } = useTranslation()
  const queries = useQueryClient()
  const add = useMutation({
    mutationFn: registerPasskey,
    async onSuccess() {
      await queries.invalidateQueries({ queryKey: ['listMyPasskeys'] })
      close()
      notifySuccess(t('ways.added'))
    },
  })
  const fields = useFields({ name: '', current_password: '' }, add.error)
  const isRefused = isPasskeyRefusal(add.error)
  return (
    <SubmitForm
      state={isRefused ? { isPending: add.isPending, error: null } : add}
      fields={fields}
      submit={() => add.mutate(fields.values)}
      action={t('ways.add')}
      cancel={close}
    >
      <Text fz="sm">{t('ways.addLead')}</Text>
      <TextInput data-autofocus label={t('ways.name')} description={t('ways.nameHint')} {...fields.text('name')} />
      <PasswordInput
        label={t('account.currentPassword')}
        autoComplete="current-password"
        {...fields.text('current_password')}
      />
      {isRefused ? (
        <div role="alert">
          <Note tone="bad">{t('ways.canceled')}</Note>
        </div>
      ) : null}
    </SubmitForm>
  )
}

function RenameForm({ passkey, close }: { passkey: Passkey; close: () => void }) {
  const { t } = useTranslation()
  const rename = useWrite('renameMyPasskey', ['listMyPasskeys'])
  const fields = useFields({ name: passkey.name }, rename.error)
  const saved = useSaveCallbacks(close)
  return (
    <SubmitForm
      state={rename}
      fields={fields}
      submit={() => rename.mutate({ params: { id: passkey.id }, body: fields.values }, saved)}
      action={t('ways.rename')}
      cancel={close}
    >
      <TextInput data-autofocus label={t('ways.name')} {...fields.text('name')} />
    </SubmitForm>
  )
}

/** Invitations to an account: below the list of accounts. */
import { Button, Group, Menu, Select, Stack, Text, TextInput, Title } from '@mantine/core'
import { IconMailPlus } from '@tabler/icons-react'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import type { Output } from '../api/client.ts'
import { useRead, useWrite } from '../api/hooks.ts'
import { langOf } from '../session/session.ts'
import { LANGUAGES, usePreferences } from '../state/preferences.ts'
import { Loaded } from '../ui/feedback/content-states.tsx'
import { useNotifyCallbacks, useSaveCallbacks } from '../ui/feedback/save-result.ts'
import { StatusBadge } from '../ui/feedback/status-badge.tsx'
import { Dialog } from '../ui/forms/dialog.tsx'
import { SubmitForm } from '../ui/forms/form.tsx'
import { useFields } from '../ui/forms/use-fields.ts'
import { CursorPager, nextCursor } from '../ui/layout/cursor-pager.tsx'
import { INVITATION_LIST, type OrderedSearch, type TableOrder, tableOrder } from '../ui/layout/list-order.ts'
import { Card } from '../ui/layout/page.tsx'
import { RowMenu } from '../ui/layout/row-menu.tsx'
import { omitUndefined } from '../ui/layout/search-params.ts'
import { type Column, DataTable } from '../ui/layout/table.tsx'
import { Time } from '../ui/values/time.tsx'

type Invitation = Output<'listInvitationsOperation'>['data'][number]

const TONES = { waiting: 'info', sent: 'ok', expired: 'bad' } as const

export function Invitations() {
  const { t } = useTranslation()
  const [page, show] = useState<OrderedSearch<(typeof INVITATION_LIST.columns)[number]>>({})
  const [adding, setAdding] = useState(false)
  const query = useRead('listInvitationsOperation', { query: page })
  const close = () => setAdding(false)
  return (
    <Stack gap="md" mt="xl">
      <Group justify="space-between">
        <Title order={2} fz={18}>
          {t('security.invitations')}
        </Title>
        <Button variant="default" leftSection={<IconMailPlus size={16} />} onClick={() => setAdding(true)}>
          {t('security.invite')}
        </Button>
      </Group>
      <Card flush>
        <Loaded query={query}>
          {({ data }) => <InvitationTable invitations={data} order={tableOrder(INVITATION_LIST, page, show)} />}
        </Loaded>
      </Card>
      <CursorPager
        after={page.after}
        next={query.data ? nextCursor(query.data) : undefined}
        go={after => show(omitUndefined({ ...page, after }))}
      />
      <Dialog opened={adding} close={close} title={t('security.invite')}>
        {() => <InviteForm close={close} />}
      </Dialog>
    </Stack>
  )
}

function InvitationTable({ invitations, order }: { invitations: readonly Invitation[]; order: TableOrder }) {
  const { t } = useTranslation()
  const columns: Column<Invitation>[] = [
    { label: t('security.email'), text: true, by: 'email', cell: one => one.email },
    { label: t('operator.role'), cell: one => t(`operator.roles.${one.role}`) },
    {
      label: t('messages.state'),
      cell: one => <StatusBadge tone={TONES[one.status]}>{t(`security.invitationStatus.${one.status}`)}</StatusBadge>,
    },
    { label: t('security.invitedBy'), text: true, cell: one => one.invited_by },
    { label: t('security.validUntil'), cell: one => <Time at={one.expires_at} /> },
    { label: t('ui.actions'), hidden: true, end: true, cell: one => <InvitationMenu invitation={one} /> },
  ]
  if (invitations.length === 0)
    return (
      <Text fz="sm" c="dimmed" p="md">
        {t('security.noInvitations')}
      </Text>
    )
  return (
    <DataTable
      order={order}
      name={t('security.invitations')}
      columns={columns}
      rows={invitations}
      rowKey={({ id }) => id}
    />
  )
}

function InvitationMenu({ invitation }: { invitation: Invitation }) {
  const { t } = useTranslation()
  const resend = useWrite('resendInvitation', ['listInvitationsOperation'])
  const revoke = useWrite('revokeInvitationOperation', ['listInvitationsOperation'])
  const resent = useNotifyCallbacks(t('security.invited'))
  const revoked = useNotifyCallbacks(t('security.revoked'))
  const params = { id: invitation.id }
  return (
    <RowMenu name={invitation.email}>
      <Menu.Item onClick={() => resend.mutate({ params }, resent)}>{t('security.inviteAgain')}</Menu.Item>
      <Menu.Item color="stamp" onClick={() => revoke.mutate({ params }, revoked)}>
        {t('security.revoke')}
      </Menu.Item>
    </RowMenu>
  )
}

function InviteForm({ close }: { close: () => void }) {
  const { t } = useTranslation()
  const { language } = usePreferences()
  const create = useWrite('createInvitation', ['listInvitationsOperation'])
  const saved = useSaveCallbacks(close)
  const fields = useFields({ email: '', role: 'user' as Invitation['role'], lang: langOf(language) }, create.error)
  const submit = () => create.mutate({ body: { ...fields.values, email: fields.values.email.trim() } }, saved)
  return (
    <SubmitForm state={create} fields={fields} submit={submit} action={t('security.invite')} cancel={close}>
      <TextInput
        data-autofocus
        label={t('security.email')}
        description={t('security.inviteHint')}
        type="email"
        autoComplete="off"
        {...fields.text('email')}
      />
      <Select
        label={t('operator.role')}
        description={t('operator.roleHint')}
        data={(['user', 'admin'] as const).map(value => ({ value, label: t(`operator.roles.${value}`) }))}
        allowDeselect={false}
        {...fields.value('role')}
        onChange={value => fields.change({ role: value === 'admin' ? 'admin' : 'user' })}
      />
      <Select
        label={t('ui.language')}
        data={[
          { value: 'en', label: LANGUAGES.en },
          { value: 'zh', label: LANGUAGES['zh-CN'] },
        ]}
        allowDeselect={false}
        {...fields.value('lang')}
        onChange={value => fields.change({ lang: value === 'zh' ? 'zh' : 'en' })}
      />
    </SubmitForm>
  )
}

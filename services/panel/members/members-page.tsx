/** Members of the account: roles, invitations, removal; for members also the way out. */
import { Button, Group, Menu, Select, Stack, Text, TextInput, Title } from '@mantine/core'
import { IconDoorExit, IconMailPlus } from '@tabler/icons-react'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { call, type Output } from '../api/client.ts'
import { useRead, useWrite } from '../api/hooks.ts'
import { langOf, useSession } from '../session/session.ts'
import { useAdoptSession } from '../session/working-account.ts'
import { LANGUAGES, usePreferences } from '../state/preferences.ts'
import { type AccountRole, includesRole } from '../state/roles.ts'
import { Loaded } from '../ui/feedback/content-states.tsx'
import { notifySuccess } from '../ui/feedback/notifications.ts'
import { useNotifyCallbacks, useSaveCallbacks } from '../ui/feedback/save-result.ts'
import { StatusBadge } from '../ui/feedback/status-badge.tsx'
import { ConfirmDialog } from '../ui/forms/confirm-dialog.tsx'
import { Dialog } from '../ui/forms/dialog.tsx'
import { SubmitForm } from '../ui/forms/form.tsx'
import { NeedsRole } from '../ui/forms/needs-role.tsx'
import { useFields } from '../ui/forms/use-fields.ts'
import { Card, Page } from '../ui/layout/page.tsx'
import { RowMenu } from '../ui/layout/row-menu.tsx'
import { type Column, DataTable } from '../ui/layout/table.tsx'
import { Time } from '../ui/values/time.tsx'

type Member = Output<'listMembersOperation'>['data'][number]
type Invitation = Output<'listMemberInvitationsOperation'>['data'][number]
type MemberRole = Invitation['role']

const MEMBER_ROLES: readonly MemberRole[] = ['viewer', 'developer', 'admin']
const TONES = { waiting: 'info', sent: 'ok', expired: 'bad' } as const

/** The roles that a user with this role grants, changes and withdraws. */
function assignable(role: AccountRole): readonly MemberRole[] {
  if (role === 'owner') return MEMBER_ROLES
  return role === 'admin' ? ['viewer', 'developer'] : []
}

export function MembersPage() {
  const { t } = useTranslation()
  const { account, user } = useSession()
  const query = useRead('listMembersOperation', {})
  const [inviting, setInviting] = useState(false)
  const close = () => setInviting(false)
  const isAdmin = includesRole(account.role, 'admin')
  const actions = (
    <>
      {account.id === user.id ? null : <LeaveButton />}
      <NeedsRole needs="admin">
        <Button leftSection={<IconMailPlus size={16} />} onClick={() => setInviting(true)}>
          {t('members.invite')}
        </Button>
      </NeedsRole>
    </>
  )
  return (
    <Page title={t('members.title')} lead={t('members.lead', { name: account.name })} actions={actions}>
      <Card flush>
        <Loaded query={query}>{({ data }) => <Members members={data} />}</Loaded>
      </Card>
      <RoleList />
      {isAdmin ? <Invitations /> : null}
      <Dialog opened={inviting} close={close} title={t('members.invite')}>
        {() => <InviteForm close={close} />}
      </Dialog>
    </Page>
  )
}

function RoleList() {
  const { t } = useTranslation()
  return (
    <Card title={t('members.rolesTitle')}>
      <Stack gap="xs">
        {(['owner', 'admin', 'developer', 'viewer'] as const).map(role => (
          <Text fz="sm" key={role}>
            <b>{t(`members.roles.${role}`)}</b>: {t(`members.may.${role}`)}
          </Text>
        ))}
      </Stack>
    </Card>
  )
}

function Members({ members }: { members: readonly Member[] }) {
  const { t } = useTranslation()
  const columns: Column<Member>[] = [
    {
      label: t('account.username'),
      text: true,
      cell: member => (
        <Group gap="xs" display="inline-flex">
          {member.username}
          {member.status === 'suspended' ? <StatusBadge tone="bad">{t('members.suspended')}</StatusBadge> : null}
        </Group>
      ),
    },
    { label: t('security.email'), text: true, cell: member => member.email ?? '–' },
    { label: t('members.role'), cell: member => t(`members.roles.${member.role}`) },
    { label: t('security.invitedBy'), under: t('account.username'), cell: member => member.added_by ?? '–' },
    { label: t('members.since'), cell: member => <Time at={member.added_at} /> },
    { label: t('ui.actions'), hidden: true, end: true, cell: member => <MemberMenu member={member} /> },
  ]
  return <DataTable name={t('members.title')} columns={columns} rows={members} rowKey={({ id }) => id} />
}

function MemberMenu({ member }: { member: Member }) {
  const { t } = useTranslation()
  const { account, user } = useSession()
  const [asking, setAsking] = useState<'role' | 'remove'>()
  const remove = useWrite('removeMemberOperation', ['listMembersOperation', 'listMemberInvitationsOperation'])
  const close = () => setAsking(undefined)
  const own = assignable(account.role)
  const { role } = member
  if (role === 'owner' || member.id === user.id || !own.includes(role)) return null
  return (
    <>
      <RowMenu name={member.username}>
        <Menu.Item onClick={() => setAsking('role')}>{t('members.changeRole')}</Menu.Item>
        <Menu.Item color="stamp" onClick={() => setAsking('remove')}>
          {t('members.remove')}
        </Menu.Item>
      </RowMenu>
      <Dialog opened={asking === 'role'} close={close} title={t('members.changeRoleOf', { name: member.username })}>
        {() => <RoleForm id={member.id} role={role} roles={own} close={close} />}
      </Dialog>
      <ConfirmDialog
        opened={asking === 'remove'}
        close={close}
        title={t('members.removeTitle', { name: member.username })}
        action={t('members.remove')}
        run={async () => {
          const left = await remove.mutateAsync({ params: { id: member.id } })
          const count = left.tokens + left.smtp_credentials
          notifySuccess(count === 0 ? t('members.removed') : t('members.removedWith', { count }))
        }}
      >
        {t('members.removeText')}
      </ConfirmDialog>
    </>
  )
}

function RoleForm(props: { id: string; role: MemberRole; roles: readonly MemberRole[]; close: () => void }) {
  const { t } = useTranslation()
  const { id, role, roles, close } = props
  const change = useWrite('changeMemberOperation', ['listMembersOperation', 'listMemberInvitationsOperation'])
  const saved = useSaveCallbacks(close)
  const fields = useFields({ role }, change.error)
  const submit = () => change.mutate({ params: { id }, body: fields.values }, saved)
  return (
    <SubmitForm state={change} fields={fields} submit={submit} action={t('members.changeRole')} cancel={close}>
      <RoleSelect roles={roles} {...fields.value('role')} onChange={chosen => fields.change({ role: chosen })} />
    </SubmitForm>
  )
}

function RoleSelect(props: { roles: readonly MemberRole[]; value: MemberRole; onChange: (role: MemberRole) => void }) {
  const { t } = useTranslation()
  const { roles, value, onChange, ...rest } = props
  return (
    <Select
      label={t('members.role')}
      description={t(`members.may.${value}`)}
      data={roles.map(role => ({ value: role, label: t(`members.roles.${role}`) }))}
      allowDeselect={false}
      value={value}
      onChange={chosen => onChange(roles.find(role => role === chosen) ?? value)}
      {...rest}
    />
  )
}

function LeaveButton() {
  const { t } = useTranslation()
  const { account } = useSession()
  const adopt = useAdoptSession()
  const [asking, setAsking] = useState(false)
  const leave = useWrite('leaveAccountOperation')
  return (
    <>
      <Button variant="default" leftSection={<IconDoorExit size={16} />} onClick={() => setAsking(true)}>
        {t('members.leave')}
      </Button>
      <ConfirmDialog
        opened={asking}
        close={() => setAsking(false)}
        title={t('members.leaveTitle', { name: account.name })}
        action={t('members.leave')}
        run={async () => {
          await leave.mutateAsync({ params: { id: account.id } })
          await adopt(await call('getSession', {}))
        }}
      >
        {t('members.leaveText')}
      </ConfirmDialog>
    </>
  )
}

function Invitations() {
  const { t } = useTranslation()
  const query = useRead('listMemberInvitationsOperation', {})
  return (
    <Stack gap="md" mt="md">
      <Title order={2} fz={18}>
        {t('security.invitations')}
      </Title>
      <Card flush>
        <Loaded query={query}>{({ data }) => <InvitationTable invitations={data} />}</Loaded>
      </Card>
    </Stack>
  )
}

function InvitationTable({ invitations }: { invitations: readonly Invitation[] }) {
  const { t } = useTranslation()
  const columns: Column<Invitation>[] = [
    { label: t('security.email'), text: true, cell: one => one.email },
    { label: t('members.role'), cell: one => t(`members.roles.${one.role}`) },
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
  return <DataTable name={t('security.invitations')} columns={columns} rows={invitations} rowKey={({ id }) => id} />
}

function InvitationMenu({ invitation }: { invitation: Invitation }) {
  const { t } = useTranslation()
  const { account } = useSession()
  const resend = useWrite('resendMemberInvitation', ['listMemberInvitationsOperation'])
  const revoke = useWrite('revokeMemberInvitationOperation', ['listMemberInvitationsOperation'])
  const resent = useNotifyCallbacks(t('security.invited'))
  const revoked = useNotifyCallbacks(t('security.revoked'))
  const params = { id: invitation.id }
  if (!assignable(account.role).includes(invitation.role)) return null
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
  const { account } = useSession()
  const { language } = usePreferences()
  const create = useWrite('createMemberInvitation', ['listMemberInvitationsOperation'])
  const saved = useSaveCallbacks(close)
  const role: MemberRole = 'developer'
  const fields = useFields({ email: '', role: role as MemberRole, lang: langOf(language) }, create.error)
  const submit = () => create.mutate({ body: { ...fields.values, email: fields.values.email.trim() } }, saved)
  return (
    <SubmitForm state={create} fields={fields} submit={submit} action={t('members.invite')} cancel={close}>
      <TextInput
        data-autofocus
        label={t('security.email')}
        description={t('members.inviteHint')}
        type="email"
        autoComplete="off"
        {...fields.text('email')}
      />
      <RoleSelect
        roles={assignable(account.role)}
        {...fields.value('role')}
        onChange={chosen => fields.change({ role: chosen })}
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

/** Audit log of the subscriptions module with changed fields: of one app, and of all apps with the changes of administrators. */
import { Button, Group, Text } from '@mantine/core'
import { IconNotebook } from '@tabler/icons-react'
import { getRouteApi, Link } from '@tanstack/react-router'
import { useTranslation } from 'react-i18next'
import { TextFilter } from '../../ui/forms/text-filter.tsx'
import { Page } from '../../ui/layout/page.tsx'
import { omitUndefined } from '../../ui/layout/search-params.ts'
import { AppList, type SearchChange } from '../shared/app-list.tsx'
import { AppScopedPage, useAppScope } from '../shared/app-scope.tsx'
import { SelectFilter } from '../shared/list-filters.tsx'
import { useSubRead } from '../shared/subscriptions-api.ts'
import { allChangesSearch, type ChangesSearch, changesSearch, TARGET_KINDS } from '../shared/subscriptions-search.ts'
import { UserPicker } from '../shared/user-picker.tsx'
import { ChangeTable } from './change-table.tsx'
import { actionName } from './change-values.ts'

const route = getRouteApi('/shell/apps/$key/changes')
const allRoute = getRouteApi('/shell/subscriptions/all-changes')

/** Actions of the log, in the order of the menu. */
const ACTIONS = [
  ...['subscription.create', 'subscription.renew', 'subscription.extend', 'subscription.cancel', 'subscription.refund'],
  ...['subscription.auto_renew', 'subscription.expire', 'subscription.set_end', 'subscription.sync'],
  ...['order.open', 'order.close', 'user.update', 'user.erase'],
  ...['plan.create', 'plan.update', 'plan.restore', 'plan.delete'],
  ...['switch.create', 'switch.update', 'switch.schedule', 'switch.restore', 'switch.delete'],
  ...[
    'app.create',
    'app.update',
    'app.delete',
    'app.purge',
    'credential.create',
    'credential.revoke',
    'channel.update',
  ],
  ...['webhook.create', 'webhook.update', 'webhook.rotate', 'webhook.delete'],
] as const
/** Their changes have no app. */
const ADMIN_ACTIONS = ['admin.create', 'admin.update'] as const

export function ChangeHistoryPage() {
  const { t } = useTranslation()
  const { role } = useAppScope()
  const all =
    role === 'super' ? (
      <Button variant="default" renderRoot={props => <Link {...props} to="/subscriptions/all-changes" />}>
        {t('subs.allChangesTitle')}
      </Button>
    ) : null
  return (
    <AppScopedPage title={t('subs.changesTitle')} lead={t('subs.changesLead')} actions={all}>
      {({ app }) => <Changes appKey={app.app_key} />}
    </AppScopedPage>
  )
}

function Changes({ appKey }: { appKey: string }) {
  const { t } = useTranslation()
  const search = changesSearch({ ...route.useSearch() })
  const navigate = route.useNavigate()
  const { subscription, user, target_kind, action, actor, page } = search
  const target = subscription ? { target_kind: 'subscription', target_id: subscription } : { target_kind }
  const query = useSubRead('auditLog', {
    query: omitUndefined({ app_key: appKey, page, action, actor, user_id: user, ...target }),
  })
  return (
    <>
      {subscription ? <OfSubscription id={subscription} /> : null}
      <AppList
        search={search}
        navigate={next => void navigate({ search: next })}
        query={query}
        filters={go => <ChangeFilters appKey={appKey} search={search} go={go} />}
        empty={{ icon: <IconNotebook size={26} />, title: t('account.auditEmpty') }}
        pages={answer => answer.pagination.total_pages}
        rows={answer => answer.audit_logs}
      >
        {entries => <ChangeTable entries={entries} appKey={appKey} />}
      </AppList>
    </>
  )
}

/** Changes of all apps, those that were deleted included, and of administrators. */
export function AllChangesPage() {
  const { t } = useTranslation()
  const search = allChangesSearch({ ...allRoute.useSearch() })
  const navigate = allRoute.useNavigate()
  const { app, target_kind, action, actor, page } = search
  const query = useSubRead('auditLog', { query: omitUndefined({ app_key: app, page, action, actor, target_kind }) })
  return (
    <Page title={t('subs.allChangesTitle')} lead={t('subs.allChangesLead')}>
      <AppList
        search={search}
        navigate={next => void navigate({ search: next })}
        query={query}
        filters={go => (
          <>
            <TextFilter
              label={t('subs.changeFields.app_key')}
              placeholder={t('messages.any')}
              value={app ?? ''}
              set={key => go({ app: key || undefined })}
            />
            <RecordFilters search={search} go={go} actions={[...ACTIONS, ...ADMIN_ACTIONS]} />
          </>
        )}
        empty={{ icon: <IconNotebook size={26} />, title: t('account.auditEmpty') }}
        pages={answer => answer.pagination.total_pages}
        rows={answer => answer.audit_logs}
      >
        {entries => <ChangeTable entries={entries} />}
      </AppList>
    </Page>
  )
}

function OfSubscription({ id }: { id: string }) {
  const { t } = useTranslation()
  const search = changesSearch({ ...route.useSearch() })
  const navigate = route.useNavigate()
  return (
    <Group gap="xs">
      <Text fz="sm">{t('subs.changesOf', { id })}</Text>
      <Button
        variant="subtle"
        size="compact-sm"
        onClick={() =>
          void navigate({ search: omitUndefined({ ...search, subscription: undefined, page: undefined }) })
        }
      >
        {t('subs.allChanges')}
      </Button>
    </Group>
  )
}

function ChangeFilters(props: {
  appKey: string
  search: ChangesSearch
  go: (change: SearchChange<ChangesSearch>) => void
}) {
  const { t } = useTranslation()
  const { appKey, search, go } = props
  return (
    <>
      <UserPicker
        appKey={appKey}
        label={t('subs.user')}
        value={search.user ?? ''}
        onChange={id => go({ user: id || undefined })}
        clearable
        w={220}
      />
      <RecordFilters search={search} go={go} actions={ACTIONS} />
    </>
  )
}

type RecordSearch = Pick<ChangesSearch, 'target_kind' | 'action' | 'actor'>

function RecordFilters(props: {
  search: RecordSearch
  go: (change: SearchChange<RecordSearch>) => void
  actions: readonly string[]
}) {
  const { t } = useTranslation()
  const { search, go, actions } = props
  return (
    <>
      <SelectFilter
        label={t('account.target')}
        data={TARGET_KINDS.map(value => ({ value, label: t(`subs.targetKinds.${value}`) }))}
        value={search.target_kind}
        set={target_kind => go({ target_kind })}
      />
      <SelectFilter
        label={t('account.action')}
        data={actions.map(value => ({ value, label: actionName(value, t) }))}
        value={search.action}
        set={action => go({ action })}
        width={220}
      />
      <TextFilter
        label={t('account.actor')}
        placeholder={t('subs.actorHint')}
        value={search.actor ?? ''}
        set={actor => go({ actor: actor || undefined })}
      />
    </>
  )
}

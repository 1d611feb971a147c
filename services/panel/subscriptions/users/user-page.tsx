/** One end user: profile, access, subscriptions, payments, switches, change history. */
import { Group } from '@mantine/core'
import { IconArrowLeft } from '@tabler/icons-react'
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router'
import { useTranslation } from 'react-i18next'
import { Empty, Loaded } from '../../ui/feedback/content-states.tsx'
import { Card } from '../../ui/layout/page.tsx'
import { DescriptionList } from '../../ui/values/description-list.tsx'
import { type AppScope, AppScopedPage } from '../shared/app-scope.tsx'
import { BusinessTime } from '../shared/business-time.tsx'
import { useSubRead } from '../shared/subscriptions-api.ts'
import { type EndUser, userName } from '../shared/user-picker.tsx'
import { SubscriptionTable } from '../subscribers/subscription-table.tsx'
import { UserActions, UserStatus } from '../subscribers/user-menu.tsx'
import { UserAccess } from './user-access.tsx'
import { UserChanges } from './user-changes.tsx'
import { UserPayments } from './user-payments.tsx'
import { UserSwitches } from './user-switches.tsx'

const route = getRouteApi('/shell/apps/$key/users/$id')

export function UserPage() {
  const { t } = useTranslation()
  const { key, id } = route.useParams()
  const navigate = useNavigate()
  const query = useSubRead('getUserOperation', { params: { id }, query: { app_key: key } })
  const user = query.data?.users[0]
  const lead = (
    <Group gap="xs">
      <Link to="/apps/$key/users" params={{ key }} className="pw-link">
        <IconArrowLeft size={14} className="pw-inline-icon" /> {t('subs.usersTitle')}
      </Link>
      <span className="pw-mono">#{id}</span>
      {user ? <UserStatus user={user} /> : null}
    </Group>
  )
  return (
    <AppScopedPage
      title={user ? userName(user, t) : t('subs.user')}
      lead={lead}
      actions={scope =>
        user && scope.edit ? (
          <UserActions
            grantButton
            user={user}
            appKey={key}
            erased={() => void navigate({ to: '/apps/$key/users', params: { key } })}
          />
        ) : null
      }
    >
      {scope => <UserBody id={id} scope={scope} />}
    </AppScopedPage>
  )
}

/** Reads the user itself: the page above does not render again when the request fails before its app is known. */
function UserBody({ id, scope }: { id: string; scope: AppScope }) {
  const query = useSubRead('getUserOperation', { params: { id }, query: { app_key: scope.app.app_key } })
  return (
    <Loaded query={query}>
      {({ users }) => users.map(user => <UserContent key={user.id} user={user} scope={scope} />)}
    </Loaded>
  )
}

function UserContent({ user, scope }: { user: EndUser; scope: AppScope }) {
  const { app_key } = scope.app
  return (
    <div className="pw-cards">
      <UserAccess appKey={app_key} id={user.id} />
      <UserSubscriptions id={user.id} scope={scope} />
      <UserPayments appKey={app_key} id={user.id} />
      <UserSwitches appKey={app_key} id={user.id} />
      <UserProfile user={user} />
      <UserChanges appKey={app_key} id={user.id} />
    </div>
  )
}

function UserSubscriptions({ id, scope }: { id: string; scope: AppScope }) {
  const { t } = useTranslation()
  const query = useSubRead('listSubscriptionsOperation', {
    query: { app_key: scope.app.app_key, user_id: id, pageSize: 100 },
  })
  return (
    <Card title={t('subs.listTitle')} flush>
      <Loaded query={query}>
        {({ subscriptions }) =>
          subscriptions.length === 0 ? (
            <Empty title={t('subs.noSubscriptionsOfUser')} />
          ) : (
            <SubscriptionTable ofUser subscriptions={subscriptions} scope={scope} />
          )
        }
      </Loaded>
    </Card>
  )
}

function UserProfile({ user }: { user: EndUser }) {
  const { t } = useTranslation()
  const place = [user.country, user.province, user.city].filter(Boolean).join(' ')
  const login = user.last_login_time ? (
    <>
      <BusinessTime at={user.last_login_time} />
      {user.last_login_ip ? ` · ${user.last_login_ip}` : ''}
    </>
  ) : null
  return (
    <Card title={t('subs.profile')}>
      <DescriptionList
        entries={[
          [t('subs.email'), user.email],
          [t('subs.phone'), user.phone],
          [t('subs.platform'), user.platform],
          [t('subs.place'), place],
          [t('subs.gender'), user.gender],
          ['openid', user.openid],
          ['unionid', user.unionid],
          ['huawei_openid', user.huawei_openid],
          ['huawei_unionid', user.huawei_unionid],
          [t('subs.logins'), user.login_count],
          [t('subs.lastLogin'), login],
          [t('subs.reminders'), t(user.reminder_mail === '1' ? 'ui.yes' : 'ui.no')],
          [t('ui.created'), <BusinessTime key="created" at={user.created_at} />],
        ]}
      />
    </Card>
  )
}

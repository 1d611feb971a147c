/** Entries of the navigation menu and who sees them. */
import {
  type Icon,
  IconAppWindow,
  IconBox,
  IconCertificate,
  IconChartDots,
  IconChartHistogram,
  IconCloudCog,
  IconCreditCard,
  IconGauge,
  IconHeartbeat,
  IconHistory,
  IconInbox,
  IconKey,
  IconMailFast,
  IconMailOff,
  IconNetwork,
  IconNotebook,
  IconPlugConnected,
  IconReceipt2,
  IconRocket,
  IconShieldLock,
  IconStack2,
  IconTemplate,
  IconToggleRight,
  IconUserShield,
  IconUsers,
  IconUsersGroup,
  IconWebhook,
  IconWorld,
  IconWorldCog,
} from '@tabler/icons-react'
import type { Output } from '../api/client.ts'
import type common from '../i18n/en/common.json'
import { type AccountRole, includesRole } from '../state/roles.ts'

type Label = keyof (typeof common)['nav']

export interface NavigationEntry {
  /** Route; `$key` is the key of the app that the menu works on. */
  to: string
  label: Label
  icon: Icon
  /** Visible to admins only. */
  admin?: boolean
  /** Requires this role in the account. */
  role?: AccountRole
  /** Requires a role in the subscriptions module: any role, or `super`. */
  subscriptions?: 'any' | 'super'
  /** Visible in capture mode only. */
  trial?: boolean
}

export interface NavigationGroup {
  heading?: Label
  /** Where the addresses of its pages start. A group that has them may start folded. */
  paths?: readonly string[]
  entries: readonly NavigationEntry[]
}

export const NAVIGATION: readonly NavigationGroup[] = [
  {
    entries: [
      { to: '/', label: 'overview', icon: IconChartHistogram },
      { to: '/start', label: 'start', icon: IconRocket },
      { to: '/domains', label: 'domains', icon: IconWorld },
      { to: '/messages', label: 'messages', icon: IconMailFast },
      { to: '/suppressions', label: 'suppressions', icon: IconMailOff },
      { to: '/templates', label: 'templates', icon: IconTemplate },
      { to: '/inbox', label: 'inbox', icon: IconInbox, trial: true },
    ],
  },
  {
    heading: 'access',
    entries: [
      { to: '/smtp', label: 'smtp', icon: IconPlugConnected },
      { to: '/tokens', label: 'tokens', icon: IconKey },
      { to: '/webhooks', label: 'webhooks', icon: IconWebhook },
      { to: '/dns-accounts', label: 'dnsAccounts', icon: IconCloudCog },
      { to: '/limits', label: 'limits', icon: IconGauge },
      { to: '/members', label: 'members', icon: IconUserShield },
      { to: '/audit', label: 'audit', icon: IconNotebook, role: 'admin' },
    ],
  },
  {
    heading: 'subscriptions',
    paths: ['/apps', '/subscriptions'],
    entries: [
      { to: '/apps/$key', label: 'statistics', icon: IconChartDots, subscriptions: 'any' },
      { to: '/apps/$key/users', label: 'subscribers', icon: IconUsers, subscriptions: 'any' },
      { to: '/apps/$key/plans', label: 'plans', icon: IconReceipt2, subscriptions: 'any' },
      { to: '/apps/$key/subscriptions', label: 'subscriptionList', icon: IconCreditCard, subscriptions: 'any' },
      { to: '/apps/$key/switches', label: 'switches', icon: IconToggleRight, subscriptions: 'any' },
      { to: '/apps/$key/changes', label: 'changes', icon: IconHistory, subscriptions: 'any' },
      { to: '/apps/$key/webhooks', label: 'appWebhooks', icon: IconWebhook, subscriptions: 'super' },
      { to: '/apps', label: 'apps', icon: IconAppWindow, subscriptions: 'any' },
      { to: '/subscriptions/admins', label: 'admins', icon: IconShieldLock, subscriptions: 'super' },
    ],
  },
  {
    heading: 'operator',
    paths: ['/admin'],
    entries: [
      { to: '/admin/health', label: 'health', icon: IconHeartbeat, admin: true },
      { to: '/admin/queues', label: 'queues', icon: IconStack2, admin: true },
      { to: '/admin/addresses', label: 'addresses', icon: IconNetwork, admin: true },
      { to: '/admin/certificates', label: 'certificates', icon: IconCertificate, admin: true },
      { to: '/admin/resources', label: 'resources', icon: IconBox, admin: true },
      { to: '/admin/domains', label: 'allDomains', icon: IconWorldCog, admin: true },
      { to: '/admin/users', label: 'users', icon: IconUsersGroup, admin: true },
    ],
  },
]

/** Whether the menu of this session contains the entry. The service checks permissions itself. */
export function isVisible(place: NavigationEntry, session: Output<'getSession'>): boolean {
  const { user, account, delivery_mode, subscription_role } = session
  if (place.role && !includesRole(account.role, place.role)) return false
  if (place.admin && user.role !== 'admin') return false
  if (place.trial && delivery_mode !== 'capture') return false
  if (place.subscriptions === 'super') return subscription_role === 'super'
  return place.subscriptions === undefined || subscription_role !== null
}

/** Entries for which a window of 768 pixels has room. */
const ROOM = 23

/** A group with the entries that a session has. */
export interface MenuGroup extends NavigationGroup {
  /** What the menu does until the user folds or opens the group. */
  startsFolded: boolean
}

/** The groups of a session's menu. If all entries have no room, those that are not about the own mail open on their pages only. */
export function menuOf(session: Output<'getSession'>, pathname: string): MenuGroup[] {
  const groups = NAVIGATION.map(group => ({
    ...group,
    entries: group.entries.filter(place => isVisible(place, session)),
  })).filter(({ entries }) => entries.length > 0)
  const isLong = groups.flatMap(({ entries }) => entries).length > ROOM
  const isOpenAt = (paths: readonly string[]) => paths.some(path => `${pathname}/`.startsWith(`${path}/`))
  return groups.map(group => ({
    ...group,
    startsFolded: isLong && group.paths !== undefined && !isOpenAt(group.paths),
  }))
}

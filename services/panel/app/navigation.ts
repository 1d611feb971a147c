/** The places of the panel in the order of the menu. */
import {
  type Icon,
  IconAppWindow,
  IconBox,
  IconCertificate,
  IconChartDots,
  IconChartHistogram,
  IconCloudCog,
  IconCreditCard,
  IconHeartbeat,
  IconHistory,
  IconInbox,
  IconKey,
  IconMailFast,
  IconNetwork,
  IconNotebook,
  IconPlugConnected,
  IconReceipt2,
  IconRocket,
  IconShieldLock,
  IconStack2,
  IconToggleRight,
  IconUsers,
  IconUsersGroup,
  IconWorld,
  IconWorldCog,
} from '@tabler/icons-react'
import type { Output } from '../api/client.ts'
import type common from '../i18n/en/common.json'

type Label = keyof (typeof common)['nav']

/** One entry. */
export interface NavigationEntry {
  to: string
  label: Label
  icon: Icon
  /** Shown to admins only. */
  admin?: boolean
  /** Shown to those with rights in the subscription half: `any`, or `super` for the whole of it. */
  subscriptions?: 'any' | 'super'
  /** Shown in the trial mode only. */
  trial?: boolean
}

/** A group of entries under a heading. */
export interface NavigationGroup {
  heading?: Label
  entries: readonly NavigationEntry[]
}

/** The menu. */
export const NAVIGATION: readonly NavigationGroup[] = [
  {
    entries: [
      { to: '/', label: 'overview', icon: IconChartHistogram },
      { to: '/start', label: 'start', icon: IconRocket },
      { to: '/domains', label: 'domains', icon: IconWorld },
      { to: '/messages', label: 'messages', icon: IconMailFast },
      { to: '/inbox', label: 'inbox', icon: IconInbox, trial: true },
    ],
  },
  {
    heading: 'access',
    entries: [
      { to: '/smtp', label: 'smtp', icon: IconPlugConnected },
      { to: '/tokens', label: 'tokens', icon: IconKey },
      { to: '/dns-accounts', label: 'dnsAccounts', icon: IconCloudCog },
      { to: '/audit', label: 'audit', icon: IconNotebook },
    ],
  },
  {
    heading: 'subscriptions',
    entries: [
      { to: '/subscriptions', label: 'figures', icon: IconChartDots, subscriptions: 'any' },
      { to: '/subscriptions/apps', label: 'apps', icon: IconAppWindow, subscriptions: 'any' },
      { to: '/subscriptions/users', label: 'subscribers', icon: IconUsers, subscriptions: 'any' },
      { to: '/subscriptions/plans', label: 'plans', icon: IconReceipt2, subscriptions: 'any' },
      { to: '/subscriptions/list', label: 'subscriptionList', icon: IconCreditCard, subscriptions: 'any' },
      { to: '/subscriptions/switches', label: 'switches', icon: IconToggleRight, subscriptions: 'any' },
      { to: '/subscriptions/changes', label: 'changes', icon: IconHistory, subscriptions: 'any' },
      { to: '/subscriptions/admins', label: 'admins', icon: IconShieldLock, subscriptions: 'super' },
    ],
  },
  {
    heading: 'operator',
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

/** Whether a place belongs in the menu of who is logged in. */
export function isVisible(place: NavigationEntry, session: Output<'getSession'>): boolean {
  const { user, delivery_mode, subscription_role } = session
  if (place.admin && user.role !== 'admin') return false
  if (place.trial && delivery_mode !== 'capture') return false
  if (place.subscriptions === 'super') return subscription_role === 'super'
  return place.subscriptions === undefined || subscription_role !== null
}

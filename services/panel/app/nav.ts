/** The places of the panel in the order of the menu. */
import {
  type Icon,
  IconAppWindow,
  IconChartDots,
  IconChartHistogram,
  IconCloudCog,
  IconCreditCard,
  IconHeartbeat,
  IconHistory,
  IconInbox,
  IconKey,
  IconMailFast,
  IconNotebook,
  IconPlugConnected,
  IconReceipt2,
  IconRocket,
  IconStack2,
  IconToggleRight,
  IconUsers,
  IconUsersGroup,
  IconWorld,
} from '@tabler/icons-react'
import type common from '../i18n/en/common.json'

type Label = keyof (typeof common)['nav']

/** One entry. */
export interface Place {
  to: string
  label: Label
  icon: Icon
  /** Shown to admins only. */
  admin?: boolean
  /** Shown in the trial mode only. */
  trial?: boolean
}

/** A group of entries under a heading. */
export interface PlaceGroup {
  heading?: Label
  places: readonly Place[]
}

/** The menu. */
export const NAVIGATION: readonly PlaceGroup[] = [
  {
    places: [
      { to: '/', label: 'overview', icon: IconChartHistogram },
      { to: '/start', label: 'start', icon: IconRocket },
      { to: '/domains', label: 'domains', icon: IconWorld },
      { to: '/messages', label: 'messages', icon: IconMailFast },
      { to: '/inbox', label: 'inbox', icon: IconInbox, trial: true },
    ],
  },
  {
    heading: 'access',
    places: [
      { to: '/smtp', label: 'smtp', icon: IconPlugConnected },
      { to: '/tokens', label: 'tokens', icon: IconKey },
      { to: '/dns-accounts', label: 'dnsAccounts', icon: IconCloudCog },
      { to: '/audit', label: 'audit', icon: IconNotebook },
    ],
  },
  {
    heading: 'subscriptions',
    places: [
      { to: '/subscriptions', label: 'figures', icon: IconChartDots, admin: true },
      { to: '/subscriptions/apps', label: 'apps', icon: IconAppWindow, admin: true },
      { to: '/subscriptions/users', label: 'subscribers', icon: IconUsers, admin: true },
      { to: '/subscriptions/plans', label: 'plans', icon: IconReceipt2, admin: true },
      { to: '/subscriptions/list', label: 'subscriptionList', icon: IconCreditCard, admin: true },
      { to: '/subscriptions/switches', label: 'switches', icon: IconToggleRight, admin: true },
      { to: '/subscriptions/changes', label: 'changes', icon: IconHistory, admin: true },
    ],
  },
  {
    heading: 'operator',
    places: [
      { to: '/admin/health', label: 'health', icon: IconHeartbeat, admin: true },
      { to: '/admin/queues', label: 'queues', icon: IconStack2, admin: true },
      { to: '/admin/users', label: 'users', icon: IconUsersGroup, admin: true },
    ],
  },
]

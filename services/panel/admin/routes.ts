/** Routes of the pages for admins of the installation. */
import { createRoute } from '@tanstack/react-router'
import { lazyPage } from '../app/lazy-page.tsx'
import { shell } from '../app/shell-route.ts'
import { OLDEST_FIRST, type OrderedSearch, orderedSearch, USER_LIST } from '../ui/layout/list-order.ts'
import { stringParams } from '../ui/layout/search-params.ts'
import { resourceSearch } from './resource-search.ts'

function allDomainsSearch(
  raw: Record<string, unknown>,
): OrderedSearch<'created_at'> & { user?: string; search?: string } {
  return { ...orderedSearch(OLDEST_FIRST)(raw), ...stringParams(raw, ['user', 'search']) }
}

/** With an id: this account alone. */
function usersSearch(
  raw: Record<string, unknown>,
): OrderedSearch<(typeof USER_LIST.columns)[number]> & { id?: string; search?: string } {
  return { ...orderedSearch(USER_LIST)(raw), ...stringParams(raw, ['id', 'search']) }
}

export const adminRoutes = [
  createRoute({
    getParentRoute: () => shell,
    path: '/admin/health',
    component: lazyPage(() => import('./health-page.tsx'), 'HealthPage'),
  }),
  createRoute({
    getParentRoute: () => shell,
    path: '/admin/queues',
    component: lazyPage(() => import('./queue-page.tsx'), 'QueuePage'),
  }),
  createRoute({
    getParentRoute: () => shell,
    path: '/admin/addresses',
    component: lazyPage(() => import('./sending-addresses-page.tsx'), 'SendingAddressesPage'),
  }),
  createRoute({
    getParentRoute: () => shell,
    path: '/admin/certificates',
    component: lazyPage(() => import('./certificates-page.tsx'), 'CertificatesPage'),
  }),
  createRoute({
    getParentRoute: () => shell,
    path: '/admin/resources',
    validateSearch: resourceSearch,
    component: lazyPage(() => import('./resources-page.tsx'), 'ResourcesPage'),
  }),
  createRoute({
    getParentRoute: () => shell,
    path: '/admin/domains',
    validateSearch: allDomainsSearch,
    component: lazyPage(() => import('./all-domains-page.tsx'), 'AllDomainsPage'),
  }),
  createRoute({
    getParentRoute: () => shell,
    path: '/admin/users',
    validateSearch: usersSearch,
    component: lazyPage(() => import('./accounts-page.tsx'), 'AccountsPage'),
  }),
] as const

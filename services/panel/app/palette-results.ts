/** What the palette finds: pages, domains, messages, users of an app and accounts. */
import { useDebouncedValue } from '@mantine/hooks'
import { useTranslation } from 'react-i18next'
import { useRead } from '../api/hooks.ts'
import { useSession } from '../session/session.ts'
import { preferences } from '../state/preferences.ts'
import { pathForApp } from '../subscriptions/shared/app-pages.ts'
import { useAllApps, useUsersOfApps } from '../subscriptions/shared/subscriptions-api.ts'
import { isVisible, NAVIGATION } from './navigation.ts'

/** An entry; `href` is the address that it opens. */
export interface PaletteEntry {
  kind: 'page' | 'domain' | 'message' | 'endUser' | 'user'
  label: string
  hint?: string
  href: string
}

/** Entries of one kind. Those of the kinds below it are not shown while it is pending: what arrives later would move them. */
interface Kind {
  entries: PaletteEntry[]
  isPending: boolean
}

/** Entries of each kind that are shown. */
const EACH = 6
/** Domains and accounts that are read for one word, of which the entries have the other words as well. */
const READ = 50
/** Maximum length of the API. */
const MAX_SEARCH = 100
/** Apps whose users are searched. */
const APPS = 10
/** Everything but pages is searched after this pause in typing (milliseconds). */
const PAUSE_MS = 250

/** The entries whose label has all words of the text, in any case. */
export function matching(entries: readonly PaletteEntry[], text: string): PaletteEntry[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean)
  const found = entries.filter(({ label, hint = '' }) => {
    const lower = `${label} ${hint}`.toLowerCase()
    return words.every(word => lower.includes(word))
  })
  return found.slice(0, EACH)
}

/** The word that leads to the fewest names. */
export function longestWord(text: string): string {
  return text.split(/\s+/).reduce((longest, word) => (word.length > longest.length ? word : longest), '')
}

/** The apps whose users are searched: the one that was opened last, and others. */
export function searchedApps<A extends { app_key: string }>(apps: readonly A[], last: string | undefined): A[] {
  const isLast = ({ app_key }: A) => app_key === last
  return [...apps.filter(isLast), ...apps.filter(app => !isLast(app))].slice(0, APPS)
}

/** True while the answer for the present text is on its way. */
const isAwaited = (query: { data: unknown; isFetching: boolean; isPlaceholderData: boolean }) =>
  query.isFetching && (query.data === undefined || query.isPlaceholderData)

/** Entries for a text, best kinds first; all pages without one. */
export function usePaletteEntries(text: string): PaletteEntry[] {
  const { t } = useTranslation()
  const session = useSession()
  const [q] = useDebouncedValue(text.trim(), PAUSE_MS)
  const isSearch = text.trim().length > 1
  const { domains, users } = useNamed(text, q)
  const messages = useRead('listEmails', { query: { q, limit: EACH } }, { enabled: q.length > 1 && q.length <= 100 })
  const endUsers = useEndUsers(q)
  const pages = NAVIGATION.flatMap(({ heading, entries }) =>
    entries
      .filter(place => isVisible(place, session))
      .map(
        ({ to, label }): PaletteEntry => ({
          kind: 'page',
          label: t(`nav.${label}`),
          ...(heading ? { hint: t(`nav.${heading}`) } : {}),
          href: to.includes('$') || to === '/apps' ? pathForApp(to, preferences().app) : to,
        }),
      ),
  )
  const settings: PaletteEntry = { kind: 'page', label: t('nav.settings'), href: '/settings' }
  // Without entries in the menu: the pages of statistics and of an app's changes lead to them.
  const userStatistics: PaletteEntry = {
    ...{ kind: 'page', label: t('subs.userStatisticsTitle'), hint: t('nav.subscriptions') },
    href: pathForApp('/apps/$key/user-statistics', preferences().app),
  }
  const allChanges: PaletteEntry = {
    ...{ kind: 'page', label: t('subs.allChangesTitle'), hint: t('nav.subscriptions') },
    href: '/subscriptions/all-changes',
  }
  const more = [
    ...(session.subscription_role === null ? [] : [userStatistics]),
    ...(session.subscription_role === 'super' ? [allChanges] : []),
    settings,
  ]
  if (!isSearch) return [...pages, ...more]
  const found = (messages.data?.data ?? []).map(
    ({ id, subject, recipients }): PaletteEntry => ({
      kind: 'message',
      label: subject || t('messages.noSubject'),
      hint: recipients[0]?.email ?? '',
      href: `/messages/${id}`,
    }),
  )
  const kinds: Kind[] = [
    { entries: matching([...pages, ...more], text), isPending: false },
    // In a pause of typing, those that were found before are filtered.
    { ...domains, isPending: domains.isPending || q !== text.trim() },
    { entries: found, isPending: isAwaited(messages) },
    endUsers,
    { entries: users, isPending: false },
  ]
  const pending = kinds.findIndex(({ isPending }) => isPending)
  return kinds.slice(0, pending < 0 ? undefined : pending + 1).flatMap(({ entries }) => entries)
}

/** Users of the apps that the session may read; `q` is the text after the pause. */
function useEndUsers(q: string): Kind {
  const { t } = useTranslation()
  const isAllowed = useSession().subscription_role !== null
  const apps = useAllApps({ enabled: isAllowed })
  const searched = q.length > 1 && q.length <= MAX_SEARCH ? searchedApps(apps.data ?? [], preferences().app) : []
  const keys = searched.map(({ app_key }) => app_key)
  const found = useUsersOfApps(keys, q, EACH)
  // In the order of the apps: an answer that arrives early waits for those before it.
  const pending = found.findIndex(({ isPending }) => isPending)
  const lists = searched.slice(0, pending < 0 ? undefined : pending).map(({ app_key, app_name }, index) =>
    (found[index]?.data?.users ?? []).map(
      ({ id, nickname, email }): PaletteEntry => ({
        kind: 'endUser',
        label: nickname || t('subs.unnamed', { id }),
        hint: [email, app_name || app_key].filter(Boolean).join(' · '),
        href: pathForApp(`/apps/$key/users/${encodeURIComponent(id)}`, app_key),
      }),
    ),
  )
  // One of each app in turn, so that an app with many matches leaves room for the others.
  const turns = Array.from({ length: EACH }, (_, n) => lists.flatMap(list => list.slice(n, n + 1)))
  return { entries: turns.flat().slice(0, EACH), isPending: pending >= 0 || isAwaited(apps) }
}

/** Domains and accounts whose names the service finds for a text; `q` is the text after the pause. */
function useNamed(text: string, q: string): { domains: Kind; users: PaletteEntry[] } {
  const { t } = useTranslation()
  const isAdmin = useSession().user.role === 'admin'
  const query = { search: longestWord(q), limit: READ }
  const enabled = q.length > 1 && q.length <= MAX_SEARCH
  const ownRead = useRead('listDomainsOperation', { query }, { enabled })
  const allRead = useRead('listAllDomainsOperation', { query }, { enabled: enabled && isAdmin })
  const own = ownRead.data?.data ?? []
  // Not before it is known which of them are own ones: these have a page of their own.
  const isEarly = ownRead.data === undefined || (ownRead.isPlaceholderData && !allRead.isPlaceholderData)
  const all = isEarly ? [] : (allRead.data?.data ?? [])
  const users = useRead('listUsersOperation', { query }, { enabled: enabled && isAdmin }).data?.data ?? []
  const ownIds = new Set(own.map(({ id }) => id))
  const domains = [
    ...own.map(({ name }): PaletteEntry => ({ kind: 'domain', label: name, href: `/domains/${name}` })),
    ...all
      .filter(({ id }) => !ownIds.has(id))
      .map(
        ({ name }): PaletteEntry => ({
          ...{ kind: 'domain', label: name, hint: t('operator.domainsTitle') },
          href: `/admin/domains?search=${encodeURIComponent(name)}`,
        }),
      ),
  ]
  return {
    domains: { entries: matching(domains, text), isPending: isAwaited(ownRead) || isAwaited(allRead) },
    users: matching(
      users.map(({ id, username, email }) => ({
        ...{ kind: 'user', label: username, hint: email ?? '', href: `/admin/users?id=${encodeURIComponent(id)}` },
      })),
      text,
    ),
  }
}

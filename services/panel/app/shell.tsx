/** Layout of all pages: header, navigation menu, banner while the browser is offline. */
import { AppShell, Box, Burger, Group, ScrollArea } from '@mantine/core'
import { useDisclosure, useNetwork } from '@mantine/hooks'
import { IconChevronDown, IconCloudOff } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { Link, Outlet, useLocation } from '@tanstack/react-router'
import { lazy, Suspense, useEffect, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { setShownAccount } from '../api/fetch.ts'
import { SessionContext, sessionQuery, useSession, useTrial } from '../session/session.ts'
import { setPreferences, usePreferences } from '../state/preferences.ts'
import { RoleContext } from '../state/roles.ts'
import { useSessionExpired } from '../state/session-expiry.ts'
import { pathForApp } from '../subscriptions/shared/app-pages.ts'
import { Note, StatusBadge } from '../ui/feedback/status-badge.tsx'
import { Logo } from '../ui/layout/logo.tsx'
import { HeaderMenus } from './header-menus.tsx'
import { LeaveGuard } from './leave-guard.tsx'
import { type MenuGroup, menuOf } from './navigation.ts'

const SignInAgain = lazy(() => import('../session/sign-in-again.tsx').then(module => ({ default: module.SignInAgain })))

/** Renders the layout once the session is loaded and provides it to everything inside. */
export function Shell() {
  const { data } = useQuery(sessionQuery)
  if (!data) return null
  // Before the pages are rendered, which read what belongs to the account.
  setShownAccount(data.account.id)
  return (
    <SessionContext value={data}>
      <RoleContext value={data.account.role}>
        <Frame key={data.account.id} />
      </RoleContext>
    </SessionContext>
  )
}

function Frame() {
  const { t } = useTranslation()
  const [opened, menu] = useDisclosure(false)
  const { online } = useNetwork()
  const over = useSessionExpired()
  return (
    <AppShell
      header={{ height: 56 }}
      navbar={{ width: 232, breakpoint: 'md', collapsed: { mobile: !opened } }}
      padding={{ base: 'md', sm: 'xl' }}
      withBorder={false}
    >
      <a className="pw-skip" href="#content">
        {t('ui.skip')}
      </a>
      <AppShell.Header className="pw-shell-header">
        <Header menuOpened={opened} menu={menu} />
      </AppShell.Header>
      <AppShell.Navbar className="pw-shell-nav" bg="var(--pw-ground)" data-closed={!opened || undefined}>
        <ScrollArea px="sm" pb="md" type="auto" scrollbarSize={8}>
          <nav aria-label={t('ui.menu')} className="pw-menu">
            <NavigationMenu close={menu.close} />
          </nav>
        </ScrollArea>
      </AppShell.Navbar>
      <AppShell.Main id="content" tabIndex={-1}>
        {online ? null : (
          <div role="status" className="pw-offline">
            <Note tone="warn" icon={<IconCloudOff size={18} />}>
              {t('ui.offlineBanner')}
            </Note>
          </div>
        )}
        <Outlet />
        <LeaveGuard />
        {over ? (
          <Suspense>
            <SignInAgain />
          </Suspense>
        ) : null}
      </AppShell.Main>
    </AppShell>
  )
}

function Header({ menuOpened, menu }: { menuOpened: boolean; menu: { toggle: () => void; close: () => void } }) {
  const { t } = useTranslation()
  const trial = useTrial()
  return (
    <Group h="100%" px="md" justify="space-between" wrap="nowrap">
      <Group gap="sm" wrap="nowrap">
        <Burger
          opened={menuOpened}
          onClick={menu.toggle}
          hiddenFrom="md"
          size="sm"
          aria-label={menuOpened ? t('ui.closeMenu') : t('ui.openMenu')}
        />
        <Link to="/" className="pw-home" aria-label="Postwright" onClick={menu.close}>
          <Logo />
        </Link>
        {trial ? (
          <Box visibleFrom="sm">
            <StatusBadge tone="warn" title={t('messages.inboxLead')}>
              {t('ui.trial')}
            </StatusBadge>
          </Box>
        ) : null}
      </Group>
      <HeaderMenus />
    </Group>
  )
}

/** Paths that are prefixes of other entries and therefore must match exactly to be active. */
const EXACT_MATCH: ReadonlySet<string> = new Set(['/', '/apps', '/apps/$key'])

const AppSwitcher = lazy(() =>
  import('../subscriptions/shared/app-switcher.tsx').then(module => ({ default: module.AppSwitcher })),
)

function NavigationMenu({ close }: { close: () => void }) {
  const session = useSession()
  const { pathname } = useLocation()
  // The entry of the current page may be outside of the visible part of the menu.
  useEffect(() => {
    document.querySelector(`.pw-nav-link[href="${CSS.escape(pathname)}"]`)?.scrollIntoView({ block: 'nearest' })
  }, [pathname])
  return menuOf(session, pathname).map(group => (
    <NavigationMenuGroup key={group.heading ?? 'first'} group={group} close={close} />
  ))
}

/** A group with a heading folds; what the user chose is kept in this browser. */
function NavigationMenuGroup({ group, close }: { group: MenuGroup; close: () => void }) {
  const { t } = useTranslation()
  const { folded = [], opened = [] } = usePreferences()
  const [app, setApp] = useState<string>()
  const { heading, entries, startsFolded } = group
  const isFolded = heading !== undefined && (folded.includes(heading) || (startsFolded && !opened.includes(heading)))
  const toggle = (name: string) => {
    const without = (names: readonly string[]) => names.filter(one => one !== name)
    setPreferences({
      folded: [...without(folded), ...(isFolded ? [] : [name])],
      opened: [...without(opened), ...(isFolded ? [name] : [])],
    })
  }
  const content = (
    <>
      {heading === 'subscriptions' ? (
        // Takes its place before it is there, so that the entries below do not move under the pointer.
        <div className="pw-app-switcher">
          <Suspense>
            <AppSwitcher onApp={setApp} close={close} />
          </Suspense>
        </div>
      ) : null}
      {entries.map(({ to, label, icon: Icon }) => (
        <Link
          key={to}
          to={pathForApp(to, app)}
          className="pw-nav-link"
          activeOptions={{ exact: EXACT_MATCH.has(to), includeSearch: false }}
          onClick={close}
        >
          <Icon size={18} stroke={1.7} aria-hidden />
          {t(`nav.${label}`)}
        </Link>
      ))}
    </>
  )
  return (
    <div>
      {heading ? (
        <button type="button" className="pw-nav-heading" aria-expanded={!isFolded} onClick={() => toggle(heading)}>
          {t(`nav.${heading}`)}
          <IconChevronDown size={13} aria-hidden />
        </button>
      ) : (
        <div className="pw-nav-heading" />
      )}
      {isFolded ? null : content}
    </div>
  )
}

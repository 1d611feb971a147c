/** Entries of the menu that belong to an app, below the choice of the app. */
import type { ReactNode } from 'react'
import { pathForApp } from '../subscriptions/shared/app-pages.ts'
import { useAppScope } from '../subscriptions/shared/app-scope.tsx'
import { AppSwitcher } from '../subscriptions/shared/app-switcher.tsx'

/** `links` renders the entries with the address of each route. */
export function AppMenu(props: { links: (path: (route: string) => string) => ReactNode; close: () => void }) {
  const { app } = useAppScope()
  return (
    <>
      <AppSwitcher close={props.close} />
      {props.links(route => pathForApp(route, app?.app_key))}
    </>
  )
}

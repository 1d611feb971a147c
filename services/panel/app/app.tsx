/** Root component: theme, query cache, notifications, router. */
import { MantineProvider } from '@mantine/core'
import { QueryClientProvider } from '@tanstack/react-query'
import { RouterProvider } from '@tanstack/react-router'
import { lazy, Suspense } from 'react'
import { cssVariables, theme } from '../theme/theme.ts'
import { notificationsLibrary } from '../ui/feedback/notifications.ts'
import { queries } from './query-cache.ts'
import { router } from './router.ts'

/** A notification that comes earlier waits in the store. */
const Notifications = lazy(() => notificationsLibrary.then(module => ({ default: module.Notifications })))

/** Nonce of the Content-Security-Policy, inserted into the document by the service. */
const nonce = document.querySelector<HTMLMetaElement>('meta[property="csp-nonce"]')?.nonce ?? ''
// Read by the library under Mantine's dialogs (get-nonce), which adds a style tag of its own to lock scrolling.
Object.assign(globalThis, { __webpack_nonce__: nonce })

export function App() {
  return (
    <MantineProvider
      theme={theme}
      cssVariablesResolver={cssVariables}
      defaultColorScheme="auto"
      getStyleNonce={() => nonce}
    >
      <QueryClientProvider client={queries}>
        <Suspense>
          <Notifications position="bottom-right" />
        </Suspense>
        <RouterProvider router={router} />
      </QueryClientProvider>
    </MantineProvider>
  )
}

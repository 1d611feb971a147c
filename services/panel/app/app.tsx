/** Root component: theme, query cache, notifications, router. */
import { MantineProvider } from '@mantine/core'
import { Notifications } from '@mantine/notifications'
import { QueryClientProvider } from '@tanstack/react-query'
import { RouterProvider } from '@tanstack/react-router'
import { cssVariables, theme } from '../theme/theme.ts'
import { queries } from './query-cache.ts'
import { router } from './router.tsx'

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
        <Notifications position="bottom-right" />
        <RouterProvider router={router} />
      </QueryClientProvider>
    </MantineProvider>
  )
}

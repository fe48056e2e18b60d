// The entry point: theme, queries, router.
import './theme/library.css'
import '@fontsource-variable/inter/wght.css'
import '@fontsource-variable/geist-mono/wght.css'
import './theme/tokens.css'
import './theme/global.css'
import './theme/forced-colors.css'
import { MantineProvider } from '@mantine/core'
import { QueryClientProvider } from '@tanstack/react-query'
import { RouterProvider } from '@tanstack/react-router'
import { lazy, StrictMode, Suspense } from 'react'
import { createRoot } from 'react-dom/client'
import { queryClient } from './api/queries.ts'
import { fetchAhead, router } from './router.tsx'
import { preparePrinting } from './theme/print.ts'
import { cssVariables, styleNonce, theme } from './theme/theme.ts'

/** Delay after which a loading state replaces the previous page. */
const emptyMsMax = 400
/** Delay of secondary requests after the first page, so that they do not compete with it. */
const quietMs = 500

const isQuiet = new Promise<void>((resolve) => {
  const unsubscribe = router.subscribe('onRendered', () => {
    unsubscribe()
    setTimeout(resolve, quietMs)
  })
})

const Notifications = lazy(async () => {
  await isQuiet
  return { default: (await import('./ui/notifications.tsx')).NotificationArea }
})

/** Renders once the first page has loaded, or after `emptyMsMax`: an earlier loading state would only flash. */
async function start(): Promise<void> {
  await Promise.race([router.load(), new Promise((resolve) => setTimeout(resolve, emptyMsMax))])
  createRoot(document.getElementById('portal')!).render(
    <StrictMode>
      <MantineProvider
        theme={theme}
        defaultColorScheme="auto"
        cssVariablesResolver={cssVariables}
        getStyleNonce={styleNonce}
      >
        <QueryClientProvider client={queryClient}>
          <RouterProvider router={router} />
          <Suspense>
            <Notifications />
          </Suspense>
        </QueryClientProvider>
      </MantineProvider>
    </StrictMode>,
  )
  await isQuiet
  preparePrinting()
  fetchAhead()
  const { followStream } = await import('./api/stream.ts')
  followStream()
}

void start()

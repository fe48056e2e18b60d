// The portal begins here: the theme, the answers of the API, the session, the pages.
import '@mantine/core/styles.css'
import './ui/global.css'
import { MantineProvider } from '@mantine/core'
import { QueryClientProvider } from '@tanstack/react-query'
import { RouterProvider } from '@tanstack/react-router'
import { lazy, StrictMode, Suspense } from 'react'
import { createRoot } from 'react-dom/client'
import { queryClient } from './api/queries.ts'
import { fetchAhead, router } from './router.tsx'
import { cssVariables, styleNonce, theme } from './ui/theme.ts'

/** After this long it is better to see that something comes. */
const emptyMsMax = 400
/** After the first page is there: what can wait must not be in its way. */
const quietMs = 500

const isQuiet = new Promise<void>((resolve) => {
  const unsubscribe = router.subscribe('onRendered', () => {
    unsubscribe()
    setTimeout(resolve, quietMs)
  })
})

const Messages = lazy(async () => {
  await isQuiet
  return { default: (await import('./ui/messages.tsx')).Messages }
})

/** Rendered once, with the page that the address names: what would be shown before it would be gone at once. */
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
            <Messages />
          </Suspense>
        </QueryClientProvider>
      </MantineProvider>
    </StrictMode>,
  )
  await isQuiet
  fetchAhead()
  const { followStream } = await import('./api/stream.ts')
  followStream()
}

void start()

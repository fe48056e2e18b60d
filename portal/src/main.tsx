// The portal begins here: the theme, the answers of the API, the session, the pages.
import '@mantine/core/styles.css'
import { MantineProvider } from '@mantine/core'
import { QueryClientProvider } from '@tanstack/react-query'
import { RouterProvider } from '@tanstack/react-router'
import { lazy, StrictMode, Suspense } from 'react'
import { createRoot } from 'react-dom/client'
import { queryClient } from './api/queries.ts'
import { fetchAhead, router } from './router.tsx'
import { cssVariables, styleNonce, theme } from './ui/theme.ts'

const Messages = lazy(async () => ({ default: (await import('./ui/messages.tsx')).Messages }))

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

const unsubscribe = router.subscribe('onRendered', () => {
  unsubscribe()
  setTimeout(fetchAhead, 200)
})

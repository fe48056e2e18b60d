// Creates the router from the table of pages: guest pages have no frame, all others that of signed-in users.
import {
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  Outlet,
  redirect,
  type AnyRoute,
} from '@tanstack/react-router'
import { queryClient } from './api/queries.ts'
import { ensureAccess, session } from './api/session.ts'
import { guestPages, pages, type AnyPage, type Page } from './pages.tsx'
import { NotFound, PageFailed, PageWaiting } from './shell/page-states.tsx'
import { parseSearch, stringifySearch } from './ui/search-text.ts'

const root = createRootRoute({ component: Outlet, notFoundComponent: NotFound, errorComponent: PageFailed })

const frame = createRoute({
  getParentRoute: () => root,
  id: 'frame',
  beforeLoad: async ({ location, matches }) => {
    // The page is loaded while the session is requested.
    for (const { routeId } of matches) void router.loadRouteChunk(router.routesById[routeId])?.catch(() => {})
    await ensureAccess()
    if (session.get().kind !== 'in') throw redirect({ to: '/sign-in', search: { to: location.href } })
  },
  component: lazyRouteComponent(() => import('./shell/shell.tsx'), 'Shell'),
})

function routeOf<Parent extends AnyRoute, const Path extends string, Written, Read>(
  parent: Parent,
  { path, search, component, redirectTo }: Page<Path, Written, Read>,
) {
  return createRoute({
    getParentRoute: () => parent,
    path,
    validateSearch: search ?? (() => ({}) as Read),
    ...(component ? { component } : {}),
    beforeLoad: () => {
      if (redirectTo !== undefined) throw redirect({ href: redirectTo, replace: true })
    },
  })
}

type RoutesOf<Parent extends AnyRoute, Pages extends readonly unknown[]> = {
  readonly [At in keyof Pages]: Pages[At] extends Page<infer Path, infer Written, infer Read>
    ? ReturnType<typeof routeOf<Parent, Path, Written, Read>>
    : never
}

/** Keeps the type of each page, so that links are checked. */
const routesOf = <Parent extends AnyRoute, const Pages extends readonly AnyPage[]>(
  parent: Parent,
  list: Pages,
): RoutesOf<Parent, Pages> => list.map((one) => routeOf(parent, one)) as unknown as RoutesOf<Parent, Pages>

const framed = routesOf(frame, pages)
/** Any other address, within the frame. */
const unknown = createRoute({ getParentRoute: () => frame, path: '$', component: NotFound })
const [overview] = framed

/** Preloads the frame and its first page during sign-in. */
export function fetchAhead(): void {
  for (const { id } of [frame, overview]) void router.loadRouteChunk(router.routesById[id])?.catch(() => {})
}

export const router = createRouter({
  routeTree: root.addChildren([...routesOf(root, guestPages), frame.addChildren([...framed, unknown])]),
  context: { queryClient },
  parseSearch,
  stringifySearch,
  defaultPreload: 'intent',
  defaultPendingComponent: PageWaiting,
  defaultErrorComponent: PageFailed,
  scrollRestoration: true,
})

declare module '@tanstack/react-router' {
  // eslint-disable-next-line typescript/consistent-type-definitions -- the library requires an interface
  interface Register {
    router: typeof router
  }
}

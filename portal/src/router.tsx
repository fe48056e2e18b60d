// Which address shows which page. Pages are loaded when they are first looked at; what an address says of a list (its
// filters, its order) is read by the page itself, so that every view can be sent to a colleague.
import {
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  Outlet,
  redirect,
} from '@tanstack/react-router'
import { queryClient } from './api/queries.ts'
import { ensureAccess, session } from './api/session.ts'
import { NotFound, PageFailed, PageWaiting } from './shell/states.tsx'

const root = createRootRoute({ component: Outlet, notFoundComponent: NotFound, errorComponent: PageFailed })

/** Pages that need nobody signed in. */
const signIn = createRoute({
  getParentRoute: () => root,
  path: '/sign-in',
  validateSearch: (search): { to?: string } => {
    const { to } = search
    // A path of ours, never an address of somebody else's, and not this page again.
    return typeof to === 'string' && /^\/(?![/\\]|sign-in)/.test(to) ? { to } : {}
  },
  component: lazyRouteComponent(() => import('./session/sign-in.tsx'), 'SignIn'),
})

const confirmEmail = createRoute({
  getParentRoute: () => root,
  path: '/confirm-email',
  component: lazyRouteComponent(() => import('./session/confirm-email.tsx'), 'ConfirmEmail'),
})
const resetPassword = createRoute({
  getParentRoute: () => root,
  path: '/reset-password',
  component: lazyRouteComponent(() => import('./session/reset-password.tsx'), 'ResetPassword'),
})
const invitation = createRoute({
  getParentRoute: () => root,
  path: '/invitation',
  component: lazyRouteComponent(() => import('./session/invitation.tsx'), 'InvitationPage'),
})

/** Everything else stands in the frame, for whoever is signed in. */
const frame = createRoute({
  getParentRoute: () => root,
  id: 'frame',
  beforeLoad: async ({ location, matches }) => {
    // The page is fetched while the session is asked for.
    for (const { routeId } of matches) void router.loadRouteChunk(router.routesById[routeId])?.catch(() => {})
    await ensureAccess()
    if (session.get().kind !== 'in') throw redirect({ to: '/sign-in', search: { to: location.href } })
  },
  component: lazyRouteComponent(() => import('./shell/shell.tsx'), 'Shell'),
})

export type Search = Readonly<Record<string, string | number | boolean | readonly string[] | undefined>>
const anySearch = (search: Record<string, unknown>) => search as Search

const overview = createRoute({
  getParentRoute: () => frame,
  path: '/',
  component: lazyRouteComponent(() => import('./overview/overview.tsx'), 'Overview'),
})
const announcements = createRoute({
  getParentRoute: () => frame,
  path: '/announcements',
  validateSearch: anySearch,
  component: lazyRouteComponent(() => import('./announcements/announcements.tsx'), 'Announcements'),
})
const newAnnouncement = createRoute({
  getParentRoute: () => frame,
  path: '/announcements/new',
  validateSearch: anySearch,
  component: lazyRouteComponent(() => import('./announcements/new-announcement.tsx'), 'NewAnnouncement'),
})
const announcement = createRoute({
  getParentRoute: () => frame,
  path: '/announcements/$id',
  validateSearch: anySearch,
  component: lazyRouteComponent(() => import('./announcements/announcement.tsx'), 'AnnouncementPage'),
})
const asns = createRoute({
  getParentRoute: () => frame,
  path: '/asns',
  validateSearch: anySearch,
  component: lazyRouteComponent(() => import('./asns/asns.tsx'), 'Asns'),
})
const asn = createRoute({
  getParentRoute: () => frame,
  path: '/asns/$asn',
  validateSearch: anySearch,
  component: lazyRouteComponent(() => import('./asns/asn.tsx'), 'AsnPage'),
})
const events = createRoute({
  getParentRoute: () => frame,
  path: '/events',
  validateSearch: anySearch,
  component: lazyRouteComponent(() => import('./events/events.tsx'), 'Events'),
})
const event = createRoute({
  getParentRoute: () => frame,
  path: '/events/$id',
  component: lazyRouteComponent(() => import('./events/event.tsx'), 'EventPage'),
})

const team = createRoute({
  getParentRoute: () => frame,
  path: '/team',
  beforeLoad: () => {
    throw redirect({ to: '/team/$room', params: { room: 'members' }, replace: true })
  },
})
const teamRoom = createRoute({
  getParentRoute: () => frame,
  path: '/team/$room',
  component: lazyRouteComponent(() => import('./team/team.tsx'), 'TeamPage'),
  validateSearch: anySearch,
})
const teamThing = createRoute({
  getParentRoute: () => frame,
  path: '/team/$room/$id',
  component: lazyRouteComponent(() => import('./team/team.tsx'), 'TeamPage'),
  validateSearch: anySearch,
})
const profile = createRoute({
  getParentRoute: () => frame,
  path: '/profile',
  component: lazyRouteComponent(() => import('./profile/profile.tsx'), 'Profile'),
})
const holds = createRoute({
  getParentRoute: () => frame,
  path: '/staff/holds',
  validateSearch: anySearch,
  component: lazyRouteComponent(() => import('./staff/holds.tsx'), 'Holds'),
})
const regions = createRoute({
  getParentRoute: () => frame,
  path: '/staff/regions',
  validateSearch: anySearch,
  component: lazyRouteComponent(() => import('./staff/regions.tsx'), 'Regions'),
})
const letters = createRoute({
  getParentRoute: () => frame,
  path: '/staff/letters',
  validateSearch: anySearch,
  component: lazyRouteComponent(() => import('./staff/letters.tsx'), 'LettersToReview'),
})

/** What most people look at next, fetched while they type: the frame and its first page. */
export function fetchAhead(): void {
  for (const { id } of [frame, overview]) void router.loadRouteChunk(router.routesById[id])?.catch(() => {})
}

export const router = createRouter({
  routeTree: root.addChildren([
    signIn,
    confirmEmail,
    resetPassword,
    invitation,
    frame.addChildren([
      overview,
      announcements,
      newAnnouncement,
      announcement,
      asns,
      asn,
      events,
      event,
      team,
      teamRoom,
      teamThing,
      profile,
      holds,
      regions,
      letters,
    ]),
  ]),
  context: { queryClient },
  defaultPreload: 'intent',
  defaultPendingComponent: PageWaiting,
  defaultErrorComponent: PageFailed,
  scrollRestoration: true,
})

declare module '@tanstack/react-router' {
  // eslint-disable-next-line typescript/consistent-type-definitions -- the library asks for an interface
  interface Register {
    router: typeof router
  }
}

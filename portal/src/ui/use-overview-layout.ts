// The panels of the overview: those of the user, else the default of the team, else the built-in ones. The last answer is kept in this
// browser, so that the page is drawn before the next one.
import {
  createViewRoute,
  listViewsRoute,
  overviewPage,
  updateViewRoute,
  type SavedView,
  type ViewPanel,
} from '@pharos/contract/team/view'
import { useQuery } from '@tanstack/react-query'
import { useEffect, useMemo } from 'react'
import { call } from '../api/call.ts'
import { answerOf, invalidate, queryClient, teamIdNow } from '../api/queries.ts'
import { useSeenModules } from '../api/use-grant.ts'
import { useUser } from '../api/use-session.ts'
import { forgetPins, pinnedBrowserViews } from './browser-views.ts'
import { builtInPanels, canAdd, newPanel } from './overview-panels.ts'
import { storedChoice, useStoredChoice, type StoredChoice } from './stored-choice.ts'
import { deleteView, shareView } from './use-saved-views.ts'

type Layouts = { readonly own?: SavedView | undefined; readonly ofTeam?: SavedView | undefined }

export type OverviewLayout = Layouts & {
  readonly panels: readonly ViewPanel[]
  /** They were not chosen: an empty panel takes no room. */
  readonly isBuiltIn: boolean
  /** The stored panels have been read. */
  readonly isKnown: boolean
  readonly error: unknown
  readonly retry: () => void
}

/** Null before the first answer in this browser. */
type Cache = StoredChoice<Layouts | null>

const caches = new Map<string, Cache>()
function cacheOf(person: number): Cache {
  const key = `pharos-overview-${person}-${teamIdNow()}`
  const store = caches.get(key) ?? storedChoice<Layouts | null>(key, null)
  caches.set(key, store)
  return store
}

const query = () => answerOf(listViewsRoute, { query: { page: overviewPage, limit: 2 } })

const layoutsOf = (views: readonly SavedView[]): Layouts => {
  const find = (wanted: boolean) =>
    views.find(({ page, shared }) => page === overviewPage && shared === wanted)
  return { own: find(false), ofTeam: find(true) }
}

export function useOverviewLayout(): OverviewLayout {
  const person = useUser()?.id ?? 0
  const has = useSeenModules()
  const cache = cacheOf(person)
  const cached = useStoredChoice(cache)
  const answer = useQuery({ ...query(), staleTime: 60_000 })
  const views = answer.data?.results
  useEffect(() => {
    const read = views && layoutsOf(views)
    if (read && JSON.stringify(read) !== JSON.stringify(cache.get())) cache.set(read)
  }, [views, cache])
  const { own, ofTeam } = (views ? layoutsOf(views) : cached) ?? {}
  // The first panel alone until it is known which others the user has.
  const isWaiting = answer.isPending && cached === null
  const panels = useMemo(() => {
    const all = panelsOf(person, has, { own, ofTeam })
    return isWaiting ? all.slice(0, 1) : all
  }, [person, has, own, ofTeam, isWaiting])
  return {
    own,
    ofTeam,
    panels,
    isBuiltIn: own === undefined && ofTeam === undefined,
    isKnown: answer.data !== undefined,
    error: answer.data ? undefined : answer.error,
    retry: () => void answer.refetch(),
  }
}

const panelsOf = (
  person: number,
  has: (module: string) => boolean,
  { own, ofTeam }: Layouts,
): readonly ViewPanel[] =>
  own?.panels ?? [
    ...(ofTeam?.panels ?? builtInPanels(has)),
    ...pinnedBrowserViews(person).map(({ name, search }) => newPanel('traffic', { title: name, search })),
  ]

/** Names of the stored views in the audit log and in exports. */
const names = { own: 'My overview', ofTeam: 'Overview of the team' }

/** Stores the panels of the user. */
export async function saveOwnPanels(
  { own }: Layouts,
  person: number,
  panels: readonly ViewPanel[],
): Promise<void> {
  if (own) await call(updateViewRoute, { params: { view_id: own.id }, body: { panels: [...panels] } })
  else await call(createViewRoute, { body: { page: overviewPage, name: names.own, panels: [...panels] } })
  forgetPins(person)
  await invalidate(listViewsRoute)
}

/** Stores the panels as the default of the team; the user follows it from then on. */
export async function savePanelsOfTeam(
  { own, ofTeam }: Layouts,
  person: number,
  panels: readonly ViewPanel[],
): Promise<void> {
  const body = { name: names.ofTeam, panels: [...panels] }
  if (ofTeam) {
    await call(updateViewRoute, { params: { view_id: ofTeam.id }, body })
    if (own) await deleteView(own.id)
  } else {
    const id =
      own?.id ??
      ((await call(createViewRoute, { body: { page: overviewPage, ...body } })).body as SavedView).id
    if (own) await call(updateViewRoute, { params: { view_id: id }, body })
    await shareView(id, true)
  }
  forgetPins(person)
  await invalidate(listViewsRoute)
}

/** Removes the panels of the user: the default of the team applies, or the built-in panels. */
export async function resetOwnPanels({ own }: Layouts, person: number): Promise<void> {
  if (own) await deleteView(own.id)
  forgetPins(person)
  await invalidate(listViewsRoute)
}

/** Adds a panel to the overview of the user. Returns false if it is full. */
export function useAddPanel(): (panel: ViewPanel) => Promise<boolean> {
  const person = useUser()?.id ?? 0
  const has = useSeenModules()
  return async (panel) => {
    const layouts = layoutsOf((await queryClient.fetchQuery({ ...query(), staleTime: 0 })).results)
    const panels = panelsOf(person, has, layouts)
    if (!canAdd(panels)) return false
    await saveOwnPanels(layouts, person, [...panels, panel])
    return true
  }
}

// The saved views of a page: of the user and of the team, stored by the server (decision 177). Which of them the page opens with is a
// choice of this browser.
import {
  createViewRoute,
  deleteViewRoute,
  getViewRoute,
  listViewsRoute,
  shareViewRoute,
  updateViewRoute,
  type SavedView,
} from '@pharos/contract/team/view'
import { useQuery } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { call } from '../api/call.ts'
import { answerOf, invalidate, teamIdNow } from '../api/queries.ts'
import { useMay } from '../api/use-grant.ts'
import { useUser } from '../api/use-session.ts'
import { copyBrowserViews } from './browser-views.ts'
import { storedChoice, useStoredChoice, type StoredChoice } from './stored-choice.ts'

/** As much as a list of the API returns. */
const viewsMax = 1000

/** The view that a page opens with, as it was last read. */
type DefaultView = Pick<SavedView, 'id' | 'name' | 'search'>

const defaultView = ({ id, name, search }: SavedView): DefaultView => ({ id, name, search })

const defaults = new Map<string, StoredChoice<DefaultView | null>>()

function defaultOf(page: string, person: number | undefined): StoredChoice<DefaultView | null> {
  const key = `pharos-default-view-${person ?? 0}-${teamIdNow()}-${page}`
  const store = defaults.get(key) ?? storedChoice<DefaultView | null>(key, null)
  defaults.set(key, store)
  return store
}

export type SavedViewsOfPage = {
  readonly own: readonly SavedView[]
  readonly shared: readonly SavedView[]
  readonly isLoading: boolean
  readonly error: unknown
  readonly retry: () => void
  readonly byDefault: DefaultView | null
  readonly setDefault: (view: SavedView | undefined) => void
  /** Whether the user may change, share and delete the view. */
  readonly mayChange: (view: SavedView) => boolean
  readonly mayTakeBack: (view: SavedView) => boolean
  readonly mayShare: boolean
}

/** `isWanted`: whether the views are requested; the default is known without them. */
export function useSavedViews(page: string, isWanted: boolean): SavedViewsOfPage {
  const user = useUser()
  const may = useMay()
  const store = defaultOf(page, user?.id)
  const byDefault = useStoredChoice(store)
  // First the views of this browser: an answer without them would else be the last one.
  const [isCopied, setCopied] = useState(false)
  const answer = useQuery({
    ...answerOf(listViewsRoute, { query: { page, limit: viewsMax } }),
    enabled: isCopied,
  })
  const views = answer.data?.results
  const known = views?.find(({ id }) => id === byDefault?.id)
  useEffect(() => {
    if (!views || byDefault === null) return
    if (!known) store.set(null)
    else if (known.search !== byDefault.search || known.name !== byDefault.name) store.set(defaultView(known))
  }, [views, known, byDefault])
  useEffect(() => {
    if (!isWanted || user === undefined) return
    void copyBrowserViews(page, user.id, ({ name, search }) =>
      call(createViewRoute, { body: { page, name, search } }),
    ).then(() => setCopied(true))
  }, [isWanted, page, user?.id])
  const isAuthor = (view: SavedView) => view.created_by === `user:${user?.id}`
  return {
    own: views?.filter(({ shared }) => !shared) ?? [],
    shared: views?.filter(({ shared }) => shared) ?? [],
    isLoading: isWanted && answer.isPending,
    error: answer.data ? undefined : answer.error,
    retry: () => void answer.refetch(),
    byDefault,
    setDefault: (view) => store.set(view ? defaultView(view) : null),
    mayChange: (view) => !view.shared || may('team.manage') || (isAuthor(view) && may('views.share')),
    mayTakeBack: (view) => isAuthor(view) && may('views.share'),
    mayShare: may('views.share'),
  }
}

/** Stores a view under a name: the one of that name that the user may change gets the address, else a new one is created. */
export async function saveView(
  { own, shared, mayChange }: SavedViewsOfPage,
  wanted: {
    readonly page: string
    readonly name: string
    readonly search: string
    readonly isShared: boolean
  },
): Promise<void> {
  const { page, name, search, isShared } = wanted
  const same = (isShared ? shared : own).find((one) => one.name.toLowerCase() === name.toLowerCase())
  if (same && mayChange(same)) {
    await call(updateViewRoute, { params: { view_id: same.id }, body: { search } })
  } else {
    const { body } = await call(createViewRoute, { body: { page, name, search } })
    if (isShared) await shareView((body as SavedView).id, true)
  }
  await invalidate(listViewsRoute)
}

export async function shareView(id: number, shared: boolean): Promise<void> {
  await call(shareViewRoute, { params: { view_id: id }, body: { shared } })
  await invalidate(listViewsRoute)
}

export async function deleteView(id: number): Promise<void> {
  await call(deleteViewRoute, { params: { view_id: id } })
  await invalidate(listViewsRoute)
}

export async function findView(id: number): Promise<SavedView> {
  return (await call(getViewRoute, { params: { view_id: id } })).body as SavedView
}

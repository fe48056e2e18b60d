// Saved views that an example server keeps, for tests that save, share and delete them.
import {
  createViewRoute,
  deleteViewRoute,
  getViewRoute,
  listViewsRoute,
  shareViewRoute,
  updateViewRoute,
  type SavedView,
} from '@pharos/contract/team/view'
import { admin, Refusal, type ExampleServer } from './example-server.ts'

export const view = (id: number, rest: Partial<SavedView>): SavedView => ({
  id,
  page: 'overview',
  name: `View ${id}`,
  search: '',
  panels: [],
  shared: false,
  created: '2026-03-02T09:10:31.870Z',
  created_by: `user:${admin.id}`,
  ...rest,
})

/** Keeps views as the server does, without its rules. */
export function keepViews(
  server: ExampleServer,
  first: readonly SavedView[] = [],
): { views: readonly SavedView[] } {
  const state = { views: first }
  const change = (id: number, to: Partial<SavedView>): SavedView => {
    const found = state.views.find((one) => one.id === id)
    if (!found) throw new Refusal(404, 'not_found')
    const changed = { ...found, ...to }
    state.views = state.views.map((one) => (one === found ? changed : one))
    return changed
  }
  server.answer(listViewsRoute, ({ query }) => {
    const results = state.views.filter(({ page }) => page === query.get('page'))
    return { results, count: results.length }
  })
  server.answer(getViewRoute, ({ params }) => change(Number(params.view_id), {}))
  server.answer(createViewRoute, ({ body }) => {
    const created = view(100 + state.views.length, body)
    state.views = [...state.views, created]
    return created
  })
  server.answer(updateViewRoute, ({ params, body }) => change(Number(params.view_id), body))
  server.answer(shareViewRoute, ({ params, body }) => change(Number(params.view_id), body))
  server.answer(deleteViewRoute, ({ params }) => {
    state.views = state.views.filter(({ id }) => id !== Number(params.view_id))
    return null as never
  })
  return state
}

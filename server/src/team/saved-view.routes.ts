// The HTTP side of saved views: one line per operation.
import {
  createViewRoute,
  deleteViewRoute,
  getViewRoute,
  listViewsRoute,
  shareViewRoute,
  updateViewRoute,
} from '@pharos/contract/team/view'
import type { Postgres } from '../db/postgres.ts'
import { handle, type Mounted } from '../http/mount.ts'
import { createView, deleteView, getView, listViews, shareView, updateView } from './saved-view.ts'

export const savedViewRoutes = (deps: { readonly postgres: Postgres }): Mounted[] => [
  handle(listViewsRoute, listViews, deps),
  handle(getViewRoute, getView, deps),
  handle(createViewRoute, createView, deps),
  handle(updateViewRoute, updateView, deps),
  handle(shareViewRoute, shareView, deps),
  handle(deleteViewRoute, deleteView, deps),
]

// Saved views: what a page of the portal shows, under a name, for one member or for the whole team. A list has a search part of its
// address; the overview has panels.
import { Type, type Static } from 'typebox'
import { route } from '../route.ts'
import {
  Actor,
  Component,
  Enumeration,
  Id,
  Limit,
  Offset,
  Optional,
  Ordering,
  Page,
  Strict,
  Time,
} from '../scalar.ts'
import { Line } from '../text.ts'

/** Most panels of an overview. */
export const panelsMax = 24
/** The page whose views have panels. A member and a team have at most one view of it. */
export const overviewPage = 'overview'

export const panelWidths = ['third', 'half', 'two_thirds', 'full'] as const
export const panelHeights = ['normal', 'tall'] as const

const Search = Line({
  maxLength: 2000,
  pattern: '^($|\\?)',
  expects: 'the search part of an address, such as ?range=7d, or empty',
})

export const ViewPanel = Component('ViewPanel', {
  kind: Type.String({
    pattern: '^[a-z][a-z_]{0,39}$',
    maxLength: 40,
    expects: 'a kind of panel, such as traffic',
    description:
      'what it shows, such as `traffic`. The portal shows a note in place of a kind that it does not know',
  }),
  width: { ...Enumeration('ViewPanelWidth', panelWidths), description: 'part of the width of the page' },
  height: { ...Enumeration('ViewPanelHeight', panelHeights), description: 'height of its picture' },
  title: { ...Line({ maxLength: 60 }), description: 'title; empty for that of its kind' },
  search: { ...Search, description: 'its filters, as the search part of an address' },
})
export type ViewPanel = Static<typeof ViewPanel>

const fields = {
  page: Type.String({
    pattern: '^[a-z][a-z/-]{0,59}$',
    maxLength: 60,
    expects: 'the name of a page, such as events',
    description: 'the list or page that it is of, such as `events` or `traffic`; `overview`: the first page',
  }),
  name: {
    ...Line({ minLength: 1, maxLength: 60, pattern: '\\S', expects: 'a name that is not blank' }),
    description: 'name for people, unique for the page among the views of the member or of the team',
  },
  search: { ...Search, description: 'the search part of the address of the page' },
  panels: Type.Array(ViewPanel, {
    maxItems: panelsMax,
    description: 'panels of the overview, in their order',
  }),
} as const

export const SavedView = Component('SavedView', {
  id: { ...Id, description: 'id of the view' },
  ...fields,
  shared: Type.Boolean({ description: 'whether it belongs to the team; false: to the caller alone' }),
  created: { ...Time, description: 'when it was created' },
  created_by: Actor,
})
export type SavedView = Static<typeof SavedView>

const permission = { credential: 'web' } as const
const params = Strict({ view_id: Id })
const orderings = ['name', 'id', 'created'] as const
const who =
  'A view of the team is changed and deleted by the member who created it while a role has the grant `views.share`, and by admins.'

export const listViewsRoute = route({
  name: 'listViews',
  group: 'Team',
  method: 'GET',
  path: '/v3/views',
  summary: 'List saved views',
  description: 'The views of the caller in the current team, and those of the team.',
  permission,
  query: Strict({
    page: Optional({ ...fields.page, description: 'the page that the views are of' }),
    shared: Optional(Type.Boolean({ description: 'only views of the team, or only those of the caller' })),
    ordering: Ordering(orderings, 'name'),
    limit: Limit,
    offset: Offset,
  }),
  response: Page(SavedView),
  success: 200,
})

export const getViewRoute = route({
  name: 'getView',
  group: 'Team',
  method: 'GET',
  path: '/v3/views/{view_id}',
  summary: 'Get saved view',
  description: 'Returns one view. A view of another member is not found.',
  permission,
  params,
  response: SavedView,
  success: 200,
  conditional: true,
})

export const createViewRoute = route({
  name: 'createView',
  group: 'Team',
  method: 'POST',
  path: '/v3/views',
  summary: 'Create saved view',
  description: `Creates a view of the caller in the current team; \`shareView\` makes it one of the team. Of the page \`${overviewPage}\` a member has at most one.`,
  permission,
  body: Strict({
    page: fields.page,
    name: fields.name,
    search: Optional(fields.search),
    panels: Optional(fields.panels),
  }),
  response: SavedView,
  success: 201,
  creates: getViewRoute,
  errors: ['exists', 'quota_exceeded'],
  conditional: true,
})

export const updateViewRoute = route({
  name: 'updateView',
  group: 'Team',
  method: 'PATCH',
  path: '/v3/views/{view_id}',
  summary: 'Update saved view',
  description: `Changes the given fields. ${who}`,
  permission,
  params,
  body: Strict({
    name: Optional(fields.name),
    search: Optional(fields.search),
    panels: Optional(fields.panels),
  }),
  response: SavedView,
  success: 200,
  errors: ['exists', 'forbidden'],
  conditional: true,
})

export const shareViewRoute = route({
  name: 'shareView',
  group: 'Team',
  method: 'POST',
  path: '/v3/views/{view_id}/share',
  summary: 'Share saved view',
  description:
    'Makes a view of the caller one of the team, which every member can use, or with `shared: false` takes it back; only the member who created ' +
    `it takes it back. Of the page \`${overviewPage}\` a team has at most one, for members without their own; only admins share it.`,
  permission: { credential: 'web', grant: 'views.share' },
  params,
  body: Strict({ shared: Type.Boolean({ description: 'whether it belongs to the team' }) }),
  response: SavedView,
  success: 200,
  errors: ['exists', 'quota_exceeded'],
  conditional: true,
  ifMatch: true,
})

export const deleteViewRoute = route({
  name: 'deleteView',
  group: 'Team',
  method: 'DELETE',
  path: '/v3/views/{view_id}',
  summary: 'Delete saved view',
  description: `Deletes the view. ${who}`,
  permission,
  params,
  success: 204,
  errors: ['forbidden'],
  conditional: true,
})

export const viewRoutes = [
  listViewsRoute,
  getViewRoute,
  createViewRoute,
  updateViewRoute,
  shareViewRoute,
  deleteViewRoute,
]

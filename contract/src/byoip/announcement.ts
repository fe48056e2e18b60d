// BYOIP: a team's announcements, and the regions in which it may announce.
import { Type } from 'typebox'
import type { Static } from 'typebox'
import { regionReasons } from '../reason/region-reason.ts'
import {
  AnnouncementDetails,
  AsSet,
  asSetDescription,
  HistoryEntry,
  HistoryKind,
  requestedDetails,
  Validation,
} from './announcement-checks.ts'
import { StateMessage } from '../reason/state-message.ts'
import { route, staffChanging, staffReading } from '../route.ts'
import {
  Id,
  Include,
  Limit,
  Nullable,
  NullableTime,
  Offset,
  Optional,
  Ordering,
  Page,
  Repeatable,
  AsnNumber,
  Strict,
  Time,
  Component,
  Enumeration,
} from '../scalar.ts'
import { Paragraphs } from '../text.ts'
import { Visibility } from './visibility.ts'

/** Observed state of an announcement over all regions. */
export const announcementStatuses = [
  'pending_validation',
  'validating',
  'validation_failed',
  'ready',
  'announcing',
  'announced',
  'partially_announced',
  'withdrawing',
  'withdrawn',
  'suspended',
  'error',
] as const
export type AnnouncementStatus = (typeof announcementStatuses)[number]

/**
 * State of an announcement compared with the team's settings; exactly one applies. `off`: disabled, and on no router.
 * `blocked`: it cannot be announced, because checks have not passed or it is suspended.
 */
export const announcementConditions = ['in_sync', 'out_of_sync', 'off', 'blocked'] as const
export type AnnouncementCondition = (typeof announcementConditions)[number]

/** Observed state of an announcement in one region, including transitions. */
export const regionStates = ['withdrawn', 'announcing', 'announced', 'withdrawing', 'error'] as const
export type RegionState = (typeof regionStates)[number]

const announcementIncludes = [
  'region_states',
  'validations',
  'state_messages',
  'details',
  'visibility',
] as const

const Slug = Type.String({ description: 'slug of the region' })

/** How far the route of a region gets: each level implies those before. */
const evidenceLevels = ['rib', 'best', 'advertised'] as const

const RegionEvidence = Component('RegionEvidence', {
  level: {
    ...Enumeration('EvidenceLevel', evidenceLevels),
    description:
      '`rib`: the routers show the route; `best`: it is their best path; `advertised`: a BGP neighbor receives it with its origin',
  },
  heard: Type.Integer({ minimum: 0, description: 'neighbors that received it at their last check' }),
  neighbors: Type.Integer({
    minimum: 0,
    description: 'neighbors with an established session for its address family, of all routers of the region',
  }),
  unchecked: Type.Integer({
    minimum: 0,
    description: 'neighbors that were not checked since it was enabled, or whose router has too many paths',
  }),
})
export type RegionEvidence = Static<typeof RegionEvidence>

export const RegionStateOfAnnouncement = Component('AnnouncementRegionState', {
  region: Slug,
  desired: Type.Boolean({ description: 'whether it should be announced in this region' }),
  state: { ...Enumeration('RegionState', regionStates), description: 'observed state in the region' },
  since: { ...Time, description: 'since when it has this state' },
  reason: Nullable({ ...Enumeration('RegionReason', regionReasons), description: 'shown to the team' }),
  message: Nullable(Type.String({ description: 'the reason as text, if the state is not the desired one' })),
  requested: { ...NullableTime, description: 'when the desired state was last changed' },
  took_ms: Nullable(
    Type.Integer({
      minimum: 0,
      description: 'milliseconds from the last request to the observation on the routers',
    }),
  ),
  heard_by: Optional(
    Nullable({
      ...RegionEvidence,
      description:
        'for staff, with `include=region_states,evidence`: which neighbors receive the route; null if no router is known to show it',
    }),
  ),
})
export type RegionStateOfAnnouncement = Static<typeof RegionStateOfAnnouncement>

export const Announcement = Component('Announcement', {
  id: { ...Id, description: 'id of the announcement' },
  cidr: Type.String({ description: 'such as 203.0.113.0/24; IPv6 in RFC 5952 form' }),
  prefix: Type.String({ description: 'the address part of cidr' }),
  prefixlen: Type.Integer({ minimum: 0, maximum: 128, description: 'length of the prefix' }),
  origin_asn: { ...AsnNumber, description: 'AS number without AS, such as 64496; the origin of the route' },
  regions: Type.Array(Slug, { description: 'regions in which it is announced while enabled' }),
  status: {
    ...Enumeration('AnnouncementStatus', announcementStatuses),
    description: 'observed state over all regions',
  },
  irr_validated: Nullable({
    ...Time,
    description: 'when the check of the routing registries last passed; null if never, or no longer valid',
  }),
  rpki_validated: Nullable({
    ...Time,
    description: 'when the check of the RPKI last passed; null if never, or no longer valid',
  }),
  loa_validated: Nullable({
    ...Time,
    description: 'when the authorization last passed; null if never, or no longer valid',
  }),
  last_check: Nullable({ ...Time, description: 'last comparison with the routers' }),
  last_check_result: Nullable(Type.Boolean()),
  enabled: Type.Boolean({ description: 'whether it should be announced in its regions' }),
  created: { ...Time, description: 'when the announcement was created' },
  region_states: Optional(
    Type.Array(RegionStateOfAnnouncement, {
      description: 'with `include=region_states`: the state in each region',
    }),
  ),
  validations: Optional(
    Type.Array(Validation, { description: 'with `include=validations`: the checks, with what to create' }),
  ),
  state_messages: Optional(
    Type.Array(StateMessage, {
      description: 'with `include=state_messages`: deviations from the desired state',
    }),
  ),
  details: Optional(AnnouncementDetails),
  visibility: Optional({
    ...Visibility,
    description: 'with `include=visibility`: how route collectors in other networks see the prefix',
  }),
})
export type Announcement = Static<typeof Announcement>

export const Region = Component('Region', {
  slug: Slug,
  name: Type.String({ description: 'name for people' }),
  location: Type.String({ description: 'name of the place' }),
  country: Type.String({ description: 'ISO 3166-1 alpha-2' }),
  timezone: Type.String({ description: 'IANA name' }),
  last_check: { ...NullableTime, description: 'last comparison with the routers' },
  last_check_result: Nullable(
    Type.Boolean({ description: 'false if the last check failed or the next one is overdue' }),
  ),
})
export type Region = Static<typeof Region>

const ipam = { credential: 'any', module: 'ipam' } as const

export const updateAnnouncementRoute = route({
  name: 'updateAnnouncement',
  group: 'BYOIP',
  method: 'PATCH',
  path: '/v3/ipam/announcements/{announcement_id}',
  summary: 'Update IP announcement',
  description:
    'Enables or disables an announcement. With `region`: in that region only; `true` adds it to `regions` or, ' +
    'if the announcement is disabled, makes it the only one; `false` removes it, and removing the last one ' +
    'sets `enabled` to false. Without `region`: in all of its regions. `regions` is kept when disabled; if ' +
    'every region was disabled one by one, enabling restores the last set that was not empty, as far as it is ' +
    'still open. Only an announcement that never had a region uses all regions open to the team. The change ' +
    'is stored at once and applied by the reconciler; `status` is the observed state. Repeating a request ' +
    'succeeds and changes nothing. Failed checks never prevent disabling.\n\n' +
    '`regions` sets the whole set at once, also while disabled: then enabling uses it. It keeps `enabled` unless that is sent ' +
    'too, and must not be empty while enabled. Adding regions needs passed checks, removing some does not. `description`, ' +
    '`as_set`, `delegate_loa` and `loa_signatory` may be changed by admins at any time, and are shown with ' +
    '`include=details`; a changed `as_set` is checked at once, and a check that then fails withdraws nothing. A body needs ' +
    '`enabled` or one of these fields.\n\n' +
    '`If-Match` compares what callers and staff have changed. What the routers and the checks report changes the part of the ' +
    '`ETag` after the dot, which `If-Match` ignores.',
  permission: { ...ipam, scope: 'ipam:write', grant: 'ipam.operate', limitedBy: 'prefix' },
  params: Strict({ announcement_id: Id }),
  query: Strict({ include: Optional(Include('AnnouncementInclude', announcementIncludes)) }),
  body: Strict({
    enabled: Optional(Type.Boolean({ description: 'enable or disable the announcement' })),
    region: Optional(
      Type.String({ maxLength: 255, description: 'region to announce; a valid region slug; with `enabled`' }),
    ),
    regions: Optional(
      Type.Array(Type.String({ maxLength: 255 }), {
        maxItems: 100,
        description: 'all regions, as slugs, in any order; not with `region`',
      }),
    ),
    ...requestedDetails,
    as_set: Optional(Nullable({ ...AsSet, description: `${asSetDescription}; null for none` })),
  }),
  response: Announcement,
  success: 200,
  errors: ['forbidden', 'not_validated', 'suspended', 'conflict'],
  dryRun: true,
  conditional: true,
})

export const getAnnouncementRoute = route({
  name: 'getAnnouncement',
  group: 'BYOIP',
  method: 'GET',
  path: '/v3/ipam/announcements/{announcement_id}',
  summary: 'Get IP announcement',
  description:
    'Returns one announcement. `last_check` is the oldest comparison with the routers among the regions in ' +
    'which it is desired or was observed. `last_check_result` is true if the last check found each of those ' +
    'regions in the desired state, and false if one is not, could not be checked, or is overdue. While the ' +
    'routers of a region cannot be read, the region is shown as `announcing` instead of `announced`, with ' +
    'the reason in `message`. `include=visibility` adds how BGP route collectors in other networks see the ' +
    'prefix; without current data its state is `unavailable`.',
  // No module: links of security events lead here, and every team with events follows them.
  permission: { credential: 'any', scope: 'ipam:read', grant: 'ipam.see', limitedBy: 'prefix' },
  params: Strict({ announcement_id: Id }),
  query: Strict({ include: Optional(Include('AnnouncementInclude', announcementIncludes)) }),
  response: Announcement,
  success: 200,
  conditional: true,
})

const announcementOrderings = ['id', 'cidr', 'origin_asn', 'created', 'status', 'last_check'] as const

export const listAnnouncementsRoute = route({
  name: 'listAnnouncements',
  group: 'BYOIP',
  method: 'GET',
  path: '/v3/ipam/announcements',
  summary: 'Get IP announcements',
  description:
    "The team's announcements. `cidr` takes an address or a CIDR and selects overlapping prefixes. Ordering " +
    'by `cidr` is numeric, IPv4 before IPv6. Values of a repeated filter are combined with or, different ' +
    'filters with and.',
  permission: { ...ipam, scope: 'ipam:read', grant: 'ipam.see', limitedBy: 'prefix' },
  query: Strict({
    search: Optional(
      Type.String({
        minLength: 1,
        maxLength: 200,
        description:
          'contained in the prefix, description or origin such as AS64496, case-insensitive; or an address or CIDR: overlapping prefixes',
      }),
    ),
    cidr: Optional(
      Repeatable(
        Type.String({
          minLength: 1,
          maxLength: 64,
          description: 'an address or a CIDR: overlapping prefixes',
        }),
      ),
    ),
    origin_asn: Optional(Repeatable(AsnNumber)),
    region: Optional(
      Repeatable(Type.String({ minLength: 1, maxLength: 255, description: 'slug of a region in `regions`' })),
    ),
    status: Optional(Repeatable(Enumeration('AnnouncementStatus', announcementStatuses))),
    condition: Optional(
      Repeatable({
        ...Enumeration('AnnouncementCondition', announcementConditions),
        description:
          'how it stands against what the team asked for: `in_sync`: enabled and announced; `out_of_sync`: enabled and ' +
          'not announced, or disabled and still on a router; `off`: disabled, and on no router; `blocked`: checks have ' +
          'not passed, or it is suspended',
      }),
    ),
    enabled: Optional(Type.Boolean({ description: 'whether it should be announced in its regions' })),
    family: Optional({ ...Enumeration('IpVersion', ['4', '6']), description: 'IP version of the prefix' }),
    deleted: Optional(Type.Boolean({ description: 'true: only deleted announcements that can be restored' })),
    include: Optional(Include('AnnouncementInclude', announcementIncludes)),
    ordering: Ordering(announcementOrderings, 'id'),
    limit: Limit,
    offset: Offset,
  }),
  response: Page(Announcement),
  success: 200,
})

/** Maximum number of announcements in one request. */
export const announcementsAtOnce = 50

const NewAnnouncement = Component('NewAnnouncement', {
  cidr: Type.String({ minLength: 1, maxLength: 64, description: 'such as 203.0.113.0/24 or 2001:db8::/32' }),
  origin_asn: { ...AsnNumber, description: 'AS number without AS, such as 64496; the origin of the route' },
  regions: Optional(
    Type.Array(Type.String({ minLength: 1, maxLength: 255 }), {
      maxItems: 100,
      description: 'slug of the region',
    }),
  ),
  ...requestedDetails,
})
export type NewAnnouncement = Static<typeof NewAnnouncement>

const Count = (description: string) => Type.Integer({ minimum: 0, description })

export const AnnouncementCounts = Component('AnnouncementCounts', {
  total: Count('all announcements: the sum of the four conditions, and of the statuses'),
  in_sync: Count('enabled and announced'),
  out_of_sync: Count('enabled and not announced, or disabled and still on a router'),
  off: Count('disabled, and on no router'),
  blocked: Count('checks have not passed, or it is suspended'),
  statuses: Component(
    'AnnouncementStatusCounts',
    Object.fromEntries(
      announcementStatuses.map((status) => [status, Count(`announcements that are ${status}`)]),
    ) as Record<AnnouncementStatus, ReturnType<typeof Count>>,
  ),
})
export type AnnouncementCounts = Static<typeof AnnouncementCounts>

export const countAnnouncementsRoute = route({
  name: 'countAnnouncements',
  group: 'BYOIP',
  method: 'GET',
  path: '/v3/ipam/announcements/summary',
  summary: 'Count IP announcements',
  description:
    'The number of announcements by condition and by status. The list with the filter `condition` or `status` has ' +
    'exactly the announcements that a number counts.',
  permission: { ...ipam, scope: 'ipam:read', grant: 'ipam.see', limitedBy: 'prefix' },
  response: AnnouncementCounts,
  success: 200,
  conditional: true,
})

export const createAnnouncementsRoute = route({
  name: 'createAnnouncements',
  group: 'BYOIP',
  method: 'POST',
  path: '/v3/ipam/announcements',
  summary: 'Create IP announcements',
  description:
    `Creates up to ${announcementsAtOnce} announcements, all or none; a single one may be sent without the list. New ` +
    'announcements start disabled and are checked at once: `include=validations` returns the results, with the literal ' +
    'text of what to create. `enabled` is set by updateAnnouncement. With `dry_run=true` the checks run and nothing is stored. 409 `prefix_claimed`: the team is ' +
    'authorized to announce the prefix, by a ROA for a verified ASN or another accepted proof, but another customer holds ' +
    'it. Without such a proof the answer does not depend on other customers, and the check `overlap` is `pending`.',
  permission: { ...ipam, scope: 'ipam:write', grant: 'ipam.manage', limitedBy: 'prefix' },
  query: Strict({ include: Optional(Include('AnnouncementInclude', announcementIncludes)) }),
  body: Type.Union([
    Component('NewAnnouncements', {
      announcements: Type.Array(NewAnnouncement, { minItems: 1, maxItems: announcementsAtOnce }),
    }),
    NewAnnouncement,
  ]),
  response: Page(Announcement),
  success: 201,
  creates: getAnnouncementRoute,
  errors: ['forbidden', 'prefix_claimed', 'quota_exceeded'],
  dryRun: true,
})

export const deleteAnnouncementRoute = route({
  name: 'deleteAnnouncement',
  group: 'BYOIP',
  method: 'DELETE',
  path: '/v3/ipam/announcements/{announcement_id}',
  summary: 'Delete IP announcement',
  description:
    'Deletes a disabled announcement. Returns 409 `still_announced`, with the regions, while it is enabled ' +
    'or a router still announces it, and `in_use` with the zones of reverse DNS and the shield rules that depend on it. It can be restored for seven days and is listed with `deleted=true` ' +
    'until then.',
  permission: { ...ipam, scope: 'ipam:write', grant: 'ipam.manage', limitedBy: 'prefix' },
  params: Strict({ announcement_id: Id }),
  query: Strict({
    force: Type.Boolean({
      default: false,
      description: 'also if zones or shield rules depend on the prefix',
    }),
  }),
  success: 204,
  dryRun: true,
  errors: ['forbidden', 'still_announced', 'in_use'],
  conditional: true,
})

export const restoreAnnouncementRoute = route({
  name: 'restoreAnnouncement',
  group: 'BYOIP',
  method: 'POST',
  path: '/v3/ipam/announcements/{announcement_id}/restore',
  summary: 'Restore IP announcement',
  description:
    'Restores an announcement that was deleted in the last seven days: disabled, with its regions, letters ' +
    'and history. An announcement that is not deleted is not changed. Returns 409 `prefix_claimed` if ' +
    'the team was authorized to announce the prefix, but another customer now holds it.',
  permission: { ...ipam, scope: 'ipam:write', grant: 'ipam.manage', limitedBy: 'prefix' },
  params: Strict({ announcement_id: Id }),
  query: Strict({ include: Optional(Include('AnnouncementInclude', announcementIncludes)) }),
  response: Announcement,
  success: 200,
  errors: ['forbidden', 'prefix_claimed', 'quota_exceeded', 'conflict'],
  dryRun: true,
  conditional: true,
})

export const validateAnnouncementRoute = route({
  name: 'validateAnnouncement',
  group: 'BYOIP',
  method: 'POST',
  path: '/v3/ipam/announcements/{announcement_id}/validate',
  summary: 'Validate IP announcement now',
  description:
    'Starts the checks at once instead of at the next scheduled time. The answer contains the last results; ' +
    'new results follow within seconds.',
  permission: { ...ipam, scope: 'ipam:write', grant: 'ipam.operate', limitedBy: 'prefix' },
  params: Strict({ announcement_id: Id }),
  query: Strict({ include: Optional(Include('AnnouncementInclude', announcementIncludes)) }),
  response: Announcement,
  success: 202,
  dryRun: true,
  conditional: true,
})

export const listAnnouncementHistoryRoute = route({
  name: 'listAnnouncementHistory',
  group: 'BYOIP',
  method: 'GET',
  path: '/v3/ipam/announcements/{announcement_id}/history',
  summary: 'Get history of IP announcement',
  description: 'Requests, observed changes and their durations, newest first by default.',
  permission: { ...ipam, scope: 'ipam:read', grant: 'ipam.see', limitedBy: 'prefix' },
  params: Strict({ announcement_id: Id }),
  query: Strict({
    kind: Optional(Repeatable(HistoryKind)),
    ordering: Ordering(['id', 'at'], '-id'),
    limit: Limit,
    offset: Offset,
  }),
  response: Page(HistoryEntry),
  success: 200,
})

export const suspendAnnouncementRoute = route({
  name: 'suspendAnnouncement',
  group: 'Operator',
  method: 'POST',
  path: '/v3/admin/announcements/{announcement_id}/suspend',
  summary: 'Suspend IP announcement',
  description:
    'Withdraws an announcement of any team and keeps it withdrawn, whatever the team requests. The guard ' +
    'applies, as to every withdrawal. The team sees the reason. Suspending again changes only the reason.',
  permission: staffChanging('requests.decide'),
  params: Strict({ announcement_id: Id }),
  body: Strict({ reason: Paragraphs({ minLength: 1, maxLength: 500 }) }),
  response: Announcement,
  success: 200,
  dryRun: true,
})

export const resumeAnnouncementRoute = route({
  name: 'resumeAnnouncement',
  group: 'Operator',
  method: 'POST',
  path: '/v3/admin/announcements/{announcement_id}/resume',
  summary: 'Resume IP announcement',
  description: 'Ends a suspension: the announcement is announced again as the team requested.',
  permission: staffChanging('requests.decide'),
  params: Strict({ announcement_id: Id }),
  response: Announcement,
  success: 200,
  dryRun: true,
})

export const listAnnouncementsOfTeamRoute = route({
  name: 'listAnnouncementsOfTeam',
  group: 'Operator',
  method: 'GET',
  path: '/v3/admin/teams/{team_id}/announcements',
  summary: 'List IP announcements of a team',
  description:
    "The announcements of any team, as listAnnouncements returns those of the caller's team. `cidr` takes an address or a " +
    'CIDR and selects overlapping prefixes.',
  permission: staffReading('operator.see'),
  params: Strict({ team_id: Id }),
  query: Strict({
    cidr: Optional(
      Repeatable(
        Type.String({
          minLength: 1,
          maxLength: 64,
          description: 'an address or a CIDR: overlapping prefixes',
        }),
      ),
    ),
    status: Optional(Repeatable(Enumeration('AnnouncementStatus', announcementStatuses))),
    include: Optional(Include('StaffAnnouncementInclude', [...announcementIncludes, 'evidence'])),
    ordering: Ordering(announcementOrderings, 'id'),
    limit: Limit,
    offset: Offset,
  }),
  response: Page(Announcement),
  success: 200,
})

export const listRegionsRoute = route({
  name: 'listRegions',
  group: 'BYOIP',
  method: 'GET',
  path: '/v3/ipam/regions',
  summary: 'List regions',
  description: 'The regions in which the team may announce. updateAnnouncement takes their slugs.',
  permission: { ...ipam, scope: 'ipam:read', grant: 'ipam.see', limitedBy: 'nothing' },
  query: Strict({ ordering: Ordering(['slug', 'name'], 'slug'), limit: Limit, offset: Offset }),
  response: Page(Region),
  success: 200,
})

export const byoipRoutes = [
  updateAnnouncementRoute,
  getAnnouncementRoute,
  listAnnouncementsRoute,
  countAnnouncementsRoute,
  createAnnouncementsRoute,
  deleteAnnouncementRoute,
  restoreAnnouncementRoute,
  validateAnnouncementRoute,
  listAnnouncementHistoryRoute,
  suspendAnnouncementRoute,
  resumeAnnouncementRoute,
  listAnnouncementsOfTeamRoute,
  listRegionsRoute,
]

// BYOIP: a team's announcements, the regions where it may announce, and the holds that staff decide on.
import { Type } from 'typebox'
import type { Static, TUnsafe } from 'typebox'
import { regionReasons } from './region-reason.ts'
import { AnnouncementDetails, HistoryEntry, StateMessage, Validation } from './announcement-checks.ts'
import { route } from './route.ts'
import {
  Id,
  Limit,
  Nullable,
  NullableTime,
  Offset,
  OneOf,
  Optional,
  Ordering,
  Page,
  Repeatable,
  Strict,
  Time,
} from './scalar.ts'
import { Line, Paragraphs } from './text.ts'

/** What was observed of an announcement as a whole, never what was asked for. */
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

/** What was observed of an announcement in one region, with the direction it is moving in. */
export const regionStates = ['withdrawn', 'announcing', 'announced', 'withdrawing', 'error'] as const
export type RegionState = (typeof regionStates)[number]

const announcementIncludes = ['region_states', 'validations', 'state_messages', 'details'] as const

/** A comma list of what an answer holds beyond its default fields. */
const Include = (names: readonly string[]): TUnsafe<string> =>
  Type.Unsafe<string>({
    type: 'string',
    pattern: `^(${names.join('|')})(,(${names.join('|')}))*$`,
    description: `Comma list of ${names.join(', ')}.`,
    expects: `a comma-separated list of ${names.join(', ')}`,
  })

const Asn = Type.Integer({ minimum: 1, maximum: 4_294_967_295 })
const Slug = Type.String({ description: 'region slug' })

export const RegionStateOfAnnouncement = Strict({
  region: Slug,
  desired: Type.Boolean({ description: 'whether it should be announced here' }),
  state: OneOf(...regionStates),
  since: Time,
  reason: Nullable(OneOf(...regionReasons)),
  message: Nullable(Type.String({ description: 'the reason in words: why it is not as desired' })),
  requested: NullableTime,
  took_ms: Nullable(
    Type.Integer({
      minimum: 0,
      description: 'from the last request to what was seen on the router, milliseconds',
    }),
  ),
})
export type RegionStateOfAnnouncement = Static<typeof RegionStateOfAnnouncement>

export const Announcement = Strict({
  id: Id,
  cidr: Type.String({ description: 'such as 203.0.113.0/24; IPv6 in RFC 5952 form' }),
  prefix: Type.String({ description: 'the address part of cidr' }),
  prefixlen: Type.Integer({ minimum: 0, maximum: 128 }),
  origin_asn: Asn,
  regions: Type.Array(Slug, { description: 'where it is announced while enabled' }),
  status: OneOf(...announcementStatuses),
  irr_validated: Nullable(Time),
  rpki_validated: Nullable(Time),
  loa_validated: Nullable(Time),
  last_check: Nullable(Time),
  last_check_result: Nullable(Type.Boolean()),
  enabled: Type.Boolean(),
  created: Time,
  region_states: Optional(Type.Array(RegionStateOfAnnouncement)),
  validations: Optional(Type.Array(Validation)),
  state_messages: Optional(Type.Array(StateMessage)),
  details: Optional(AnnouncementDetails),
})
export type Announcement = Static<typeof Announcement>

export const Region = Strict({
  slug: Slug,
  name: Type.String(),
  location: Type.String(),
  country: Type.String({ description: 'ISO 3166-1 alpha-2' }),
  timezone: Type.String({ description: 'IANA name' }),
  last_check: NullableTime,
  last_check_result: Nullable(
    Type.Boolean({ description: 'false when the last check failed or the next one is overdue' }),
  ),
})
export type Region = Static<typeof Region>

const ipam = { credential: 'any', module: 'ipam' } as const
const staff = { credential: 'web', role: 'staff' } as const

export const updateAnnouncementRoute = route({
  name: 'updateAnnouncement',
  group: 'BYOIP',
  method: 'PATCH',
  path: '/v3/ipam/announcements/{announcement_id}',
  summary: 'Update IP announcement',
  description:
    'Switches an announcement. With `region`: in that region only; `true` adds it to `regions` and sets `enabled`, ' +
    '`false` removes it, and with the last one gone `enabled` is false. Without `region`: everywhere; `regions` is kept ' +
    'when disabled, and enabling with none configured means all regions open to the team. It is stored at once and ' +
    'made true by the reconciler; `status` says what has been observed so far. Asking for what is already so succeeds ' +
    'and changes nothing. Disabling is never blocked by validation.',
  permission: { ...ipam, scope: 'ipam:write' },
  params: Strict({ announcement_id: Id }),
  query: Strict({ include: Optional(Include(announcementIncludes)) }),
  body: Strict({
    enabled: Type.Boolean({ description: 'enable or disable the announcement' }),
    region: Optional(Type.String({ maxLength: 255, description: 'region to announce; a valid region slug' })),
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
    'One announcement. `last_check` is the oldest comparison with the routers among the regions where it should be or ' +
    'was seen; `last_check_result` is true when the last check found each of those regions as wanted, and false when one ' +
    'is not, could not be checked, or is overdue. While the router of a region cannot be read, the region is shown as ' +
    '`announcing` instead of `announced`, with the reason in `message`.',
  permission: { ...ipam, scope: 'ipam:read' },
  params: Strict({ announcement_id: Id }),
  query: Strict({ include: Optional(Include(announcementIncludes)) }),
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
    "The team's announcements. `cidr` takes an address or a CIDR and means overlaps; ordering by `cidr` is numeric, " +
    'IPv4 before IPv6. A repeated filter means or, different ones and.',
  permission: { ...ipam, scope: 'ipam:read' },
  query: Strict({
    cidr: Optional(Repeatable(Type.String({ minLength: 1, maxLength: 64 }))),
    origin_asn: Optional(Repeatable(Asn)),
    region: Optional(Repeatable(Type.String({ minLength: 1, maxLength: 255 }))),
    status: Optional(Repeatable(OneOf(...announcementStatuses))),
    enabled: Optional(Type.Boolean()),
    family: Optional(OneOf('4', '6')),
    deleted: Optional(Type.Boolean({ description: 'true: those that can be restored, and no others' })),
    include: Optional(Include(announcementIncludes)),
    ordering: Ordering(announcementOrderings, 'id'),
    limit: Limit,
    offset: Offset,
  }),
  response: Page(Announcement),
  success: 200,
})

/** Announcements in one request. */
export const announcementsAtOnce = 50

const NewAnnouncement = Strict({
  cidr: Type.String({ minLength: 1, maxLength: 64, description: 'such as 203.0.113.0/24 or 2001:db8::/32' }),
  origin_asn: Asn,
  regions: Optional(
    Type.Array(Type.String({ minLength: 1, maxLength: 255 }), { maxItems: 100, description: 'region slugs' }),
  ),
  description: Optional(Paragraphs({ maxLength: 500 })),
  as_set: Optional(
    Type.String({
      pattern: '^(AS[0-9]+:)*AS-[A-Za-z0-9_-]+(:(AS[0-9]+|AS-[A-Za-z0-9_-]+))*$',
      maxLength: 200,
      description: 'AS-SET whose members may originate the prefix in the IRR, such as AS-EXAMPLE',
      expects: 'an AS-SET name such as AS-EXAMPLE or AS64500:AS-CUSTOMERS',
    }),
  ),
  delegate_loa: Optional(Type.Boolean({ description: 'the provider drafts the letter of authorization' })),
  loa_signatory: Optional(Line({ maxLength: 200, description: 'who signs the letter' })),
})
export type NewAnnouncement = Static<typeof NewAnnouncement>

export const createAnnouncementsRoute = route({
  name: 'createAnnouncements',
  group: 'BYOIP',
  method: 'POST',
  path: '/v3/ipam/announcements',
  summary: 'Create IP announcements',
  description:
    `Up to ${announcementsAtOnce} announcements, all or nothing; a single one may stand without the list. They begin ` +
    'disabled and are checked at once: `include=validations` says what is missing, with the literal text of what to ' +
    'create. With `dry_run=true` the answer is the preflight: the same checks, and nothing is stored.',
  permission: { ...ipam, scope: 'ipam:write', role: 'admin' },
  query: Strict({ include: Optional(Include(announcementIncludes)) }),
  body: Type.Union([
    Strict({ announcements: Type.Array(NewAnnouncement, { minItems: 1, maxItems: announcementsAtOnce }) }),
    NewAnnouncement,
  ]),
  response: Page(Announcement),
  success: 201,
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
    'Only while it is disabled and no router shows it: otherwise 409 `still_announced`, with the regions. For seven days ' +
    'it can be restored; it is listed with `deleted=true` until then.',
  permission: { ...ipam, scope: 'ipam:write', role: 'admin' },
  params: Strict({ announcement_id: Id }),
  query: Strict({
    force: Type.Boolean({
      default: false,
      description: 'also when zones or shield rules lean on the prefix',
    }),
  }),
  success: 204,
  errors: ['forbidden', 'still_announced'],
  conditional: true,
})

export const restoreAnnouncementRoute = route({
  name: 'restoreAnnouncement',
  group: 'BYOIP',
  method: 'POST',
  path: '/v3/ipam/announcements/{announcement_id}/restore',
  summary: 'Restore IP announcement',
  description:
    'Brings a deleted announcement back, disabled, with its regions, its letters and its history, within seven days of ' +
    'its deletion. One that is not deleted stays as it is. 409 `prefix_claimed` when another team holds the prefix now.',
  permission: { ...ipam, scope: 'ipam:write', role: 'admin' },
  params: Strict({ announcement_id: Id }),
  query: Strict({ include: Optional(Include(announcementIncludes)) }),
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
    'Asks the registries again at once instead of at the next turn. The answer shows what is known so far; the new ' +
    'results follow within seconds.',
  permission: { ...ipam, scope: 'ipam:write' },
  params: Strict({ announcement_id: Id }),
  query: Strict({ include: Optional(Include(announcementIncludes)) }),
  response: Announcement,
  success: 202,
  conditional: true,
})

export const listAnnouncementHistoryRoute = route({
  name: 'listAnnouncementHistory',
  group: 'BYOIP',
  method: 'GET',
  path: '/v3/ipam/announcements/{announcement_id}/history',
  summary: 'Get history of IP announcement',
  description: 'What was asked, what was seen and how long it took, newest first unless ordered otherwise.',
  permission: { ...ipam, scope: 'ipam:read' },
  params: Strict({ announcement_id: Id }),
  query: Strict({
    kind: Optional(Repeatable(Type.String({ minLength: 1, maxLength: 64 }))),
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
    'Withdraws an announcement of any team and keeps it withdrawn, whatever the team asks for; the guard stands between, ' +
    'as for every withdrawal. The team reads the reason. Suspending twice changes the reason only.',
  permission: staff,
  params: Strict({ announcement_id: Id }),
  body: Strict({ reason: Paragraphs({ minLength: 1, maxLength: 500 }) }),
  response: Announcement,
  success: 200,
})

export const resumeAnnouncementRoute = route({
  name: 'resumeAnnouncement',
  group: 'Operator',
  method: 'POST',
  path: '/v3/admin/announcements/{announcement_id}/resume',
  summary: 'Resume IP announcement',
  description: 'Ends a suspension: what the team wants is announced again.',
  permission: staff,
  params: Strict({ announcement_id: Id }),
  response: Announcement,
  success: 200,
})

export const listRegionsRoute = route({
  name: 'listRegions',
  group: 'BYOIP',
  method: 'GET',
  path: '/v3/ipam/regions',
  summary: 'List regions',
  description: 'The regions where the team may announce: their slugs are what updateAnnouncement takes.',
  permission: { ...ipam, scope: 'ipam:read' },
  query: Strict({ ordering: Ordering(['slug', 'name'], 'slug'), limit: Limit, offset: Offset }),
  response: Page(Region),
  success: 200,
})

export const byoipRoutes = [
  updateAnnouncementRoute,
  getAnnouncementRoute,
  listAnnouncementsRoute,
  createAnnouncementsRoute,
  deleteAnnouncementRoute,
  restoreAnnouncementRoute,
  validateAnnouncementRoute,
  listAnnouncementHistoryRoute,
  suspendAnnouncementRoute,
  resumeAnnouncementRoute,
  listRegionsRoute,
]

// BYOIP: a team's announcements, the regions where it may announce, and the holds that staff decide on.
import { Type } from 'typebox'
import type { Static, TUnsafe } from 'typebox'
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

export const holdStates = ['open', 'approved', 'rejected', 'closed'] as const
export type HoldState = (typeof holdStates)[number]

export const announcementIncludes = ['region_states'] as const

/** A comma list of what an answer holds beyond its default fields. */
const Include = (names: readonly string[]): TUnsafe<string> =>
  Type.Unsafe<string>({
    type: 'string',
    pattern: `^(${names.join('|')})(,(${names.join('|')}))*$`,
    description: `Comma list of ${names.join(', ')}.`,
  })

const Asn = Type.Integer({ minimum: 1, maximum: 4_294_967_295 })
const Slug = Type.String({ description: 'region slug' })

export const RegionStateOfAnnouncement = Strict({
  region: Slug,
  desired: Type.Boolean({ description: 'whether it should be announced here' }),
  state: OneOf(...regionStates),
  since: Time,
  message: Nullable(Type.String({ description: 'why it is not yet as desired' })),
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
})
export type Announcement = Static<typeof Announcement>

export const Region = Strict({
  slug: Slug,
  name: Type.String(),
  location: Type.String(),
  country: Type.String({ description: 'ISO 3166-1 alpha-2' }),
  timezone: Type.String({ description: 'IANA name' }),
  last_check: NullableTime,
  last_check_result: Nullable(Type.Boolean()),
})
export type Region = Static<typeof Region>

export const Hold = Strict({
  id: Id,
  region: Slug,
  reason: Type.String(),
  detail: Type.String(),
  withdrawals: Type.Array(Type.String(), { description: 'what would be withdrawn, as CIDR' }),
  state: OneOf(...holdStates),
  created: Time,
  decided: NullableTime,
  decided_by: Nullable(Id),
})
export type Hold = Static<typeof Hold>

const ipam = { credential: 'any', module: 'ipam' } as const
const staff = { credential: 'web', role: 'staff' } as const

export const updateAnnouncement = route({
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

export const getAnnouncement = route({
  name: 'getAnnouncement',
  group: 'BYOIP',
  method: 'GET',
  path: '/v3/ipam/announcements/{announcement_id}',
  summary: 'Get IP announcement',
  description:
    'One announcement. `last_check` is the oldest comparison with the routers among the regions where it should be or ' +
    'was seen; `last_check_result` is true when each of those routers answered and none refused it.',
  permission: { ...ipam, scope: 'ipam:read' },
  params: Strict({ announcement_id: Id }),
  query: Strict({ include: Optional(Include(announcementIncludes)) }),
  response: Announcement,
  success: 200,
  conditional: true,
})

export const announcementOrderings = ['id', 'cidr', 'origin_asn', 'created', 'status', 'last_check'] as const

export const listAnnouncements = route({
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
    include: Optional(Include(announcementIncludes)),
    ordering: Ordering(announcementOrderings, 'id'),
    limit: Limit,
    offset: Offset,
  }),
  response: Page(Announcement),
  success: 200,
})

export const listRegions = route({
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

export const listHolds = route({
  name: 'listHolds',
  group: 'Operator',
  method: 'GET',
  path: '/v3/admin/holds',
  summary: 'List holds',
  description:
    'Withdrawals that the reconciler does not send without a human: too many at once, or routes without a row that ' +
    'says "not here". Newest first unless ordered otherwise.',
  permission: staff,
  query: Strict({
    region: Optional(Repeatable(Type.String({ minLength: 1, maxLength: 255 }))),
    state: Optional(Repeatable(OneOf(...holdStates))),
    ordering: Ordering(['id', 'created'], '-id'),
    limit: Limit,
    offset: Offset,
  }),
  response: Page(Hold),
  success: 200,
})

export const getHold = route({
  name: 'getHold',
  group: 'Operator',
  method: 'GET',
  path: '/v3/admin/holds/{hold_id}',
  summary: 'Get hold',
  description: 'One hold.',
  permission: staff,
  params: Strict({ hold_id: Id }),
  response: Hold,
  success: 200,
})

export const approveHold = route({
  name: 'approveHold',
  group: 'Operator',
  method: 'POST',
  path: '/v3/admin/holds/{hold_id}/approve',
  summary: 'Approve hold',
  description:
    'Lets the named withdrawals go out, and no others, for a bounded time. A hold whose list has changed since is ' +
    'closed and replaced by another: approving it is a 409. Approving twice changes nothing.',
  permission: staff,
  params: Strict({ hold_id: Id }),
  response: Hold,
  success: 200,
  errors: ['conflict'],
})

export const rejectHold = route({
  name: 'rejectHold',
  group: 'Operator',
  method: 'POST',
  path: '/v3/admin/holds/{hold_id}/reject',
  summary: 'Reject hold',
  description:
    'Keeps the named routes announced, and does not ask about them again for a day, unless they are switched anew. ' +
    'Rejecting twice changes nothing.',
  permission: staff,
  params: Strict({ hold_id: Id }),
  response: Hold,
  success: 200,
  errors: ['conflict'],
})

export const byoipRoutes = [
  updateAnnouncement,
  getAnnouncement,
  listAnnouncements,
  listRegions,
  listHolds,
  getHold,
  approveHold,
  rejectHold,
]

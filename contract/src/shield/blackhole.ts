// Black holes (RTBH): all packets to one host are discarded, at the neighbors of the provider and on its edge, until an end.
import { Type, type Static } from 'typebox'
import { regionStates } from '../byoip/announcement.ts'
import { regionReasons } from '../reason/region-reason.ts'
import { route } from '../route.ts'
import {
  Component,
  Enumeration,
  Id,
  Limit,
  Nullable,
  NullableTime,
  Offset,
  Optional,
  Ordering,
  Page,
  Repeatable,
  Strict,
  Time,
} from '../scalar.ts'
import { shieldReading, ShieldVolume, ShieldWhatIf, shieldWriting } from './shield.ts'
import { Line } from '../text.ts'

/** Most hosts of a team that are black-holed at the same time. */
export const blackholesPerTeam = 4
/** Most hosts of all teams in one region at the same time. */
export const blackholesPerRegion = 32
/** How long a black hole lasts, in hours: by default, and at most. */
export const blackholeHours = { byDefault: 1, max: 24 } as const

/**
 * `pending`: no router has it yet; `partial`: not in all regions yet; `ending`: it has ended, and a router still has it.
 */
export const blackholeStatuses = ['pending', 'partial', 'active', 'ending', 'ended'] as const
export type BlackholeStatus = (typeof blackholeStatuses)[number]

const Slug = Type.String({ minLength: 1, maxLength: 32, description: 'slug of the region' })
const Host = Type.String({
  minLength: 2,
  maxLength: 50,
  description: 'one address, such as 203.0.113.77; IPv6 in RFC 5952 form',
})
const EventId = Type.String({
  minLength: 1,
  maxLength: 64,
  description: 'id of a security event of the team',
})
const Comment = Line({ maxLength: 500, description: 'text of the team' })

const BlackholeRegion = Component('BlackholeRegion', {
  region: Slug,
  desired: Type.Boolean({
    description:
      'whether it should be announced in this region: it has not ended, and an announcement of the team that covers the host is enabled here',
  }),
  state: { ...Enumeration('RegionState', regionStates), description: 'observed state on the routers' },
  since: { ...Time, description: 'since when it has this state' },
  reason: Nullable({ ...Enumeration('RegionReason', regionReasons), description: 'shown to the team' }),
  message: Nullable(Type.String({ description: 'the reason as text, if the state is not the desired one' })),
})

const OnHost = Component('BlackholeOnHost', {
  attacked: Type.Boolean({
    description:
      'whether an ongoing event of the team targets exactly this address; `force` is needed otherwise',
  }),
  announcements: Type.Array(
    Component('BlackholeAnnouncement', {
      id: { ...Id, description: 'id of the announcement' },
      cidr: Type.String({ description: 'its prefix, which stays announced' }),
      regions: Type.Array(Slug, { description: 'regions in which it is enabled' }),
    }),
    { description: 'announcements of the team that cover the host' },
  ),
  ptr: Type.Array(Type.String(), { description: 'names of the host in reverse DNS' }),
  traffic: Component('BlackholeTraffic', {
    state: ShieldWhatIf.properties.state,
    start: { ...Time, description: 'beginning of the window: the last hour' },
    end: { ...Time, description: 'end of the window' },
    normal: ShieldVolume('traffic towards the host outside of security events: what legitimate users lose'),
    attack: ShieldVolume('traffic towards the host while a security event targeted it'),
    sampled: Type.Boolean({ description: 'whether an exporter sends only a sample of the packets' }),
  }),
})
export type BlackholeOnHost = Static<typeof OnHost>

export const Blackhole = Component('Blackhole', {
  id: { ...Id, description: 'id of the black hole' },
  host: Host,
  status: {
    ...Enumeration('BlackholeStatus', blackholeStatuses),
    description:
      'observed: `pending`: no router has it yet; `partial`: not in all desired regions; `active`: in all of them; `ending`: it has ' +
      'ended, and a router still has it; `ended`: no router has it',
  },
  event_id: Nullable(EventId),
  comment: Type.String({ description: 'text of the team' }),
  regions: Type.Array(BlackholeRegion, { description: 'state in each region' }),
  created: { ...Time, description: 'when it was requested' },
  expires: { ...Time, description: 'when it ends' },
  ended: { ...NullableTime, description: 'when it ended; null while it has not' },
  forced: Type.Boolean({ description: 'it was requested with `force`' }),
  on_host: Optional({ ...OnHost, description: 'with `dry_run=true`: what is on the host' }),
})
export type Blackhole = Static<typeof Blackhole>

export const NewBlackhole = Component('NewBlackhole', {
  host: Host,
  expires: Optional({
    ...Time,
    description: `when it ends; at most ${blackholeHours.max} hours from now. Default: in ${blackholeHours.byDefault} hour`,
  }),
  event_id: Optional({
    ...EventId,
    description:
      'event whose target the host is. Default: the ongoing event that targets exactly this address',
  }),
  regions: Optional(
    Type.Array(Slug, {
      minItems: 1,
      maxItems: 100,
      uniqueItems: true,
      description: 'regions in which the prefix of the host is announced. Default: all of them',
    }),
  ),
  comment: Optional(Comment),
  force: Optional(Type.Boolean({ description: 'also if no ongoing event targets the host. Default: false' })),
})
export type NewBlackhole = Static<typeof NewBlackhole>

const params = Strict({ blackhole_id: Id })
const collection = '/v3/lighthouse/security/shield/blackholes'

export const listBlackholesRoute = route({
  name: 'listBlackholes',
  group: 'Shield',
  method: 'GET',
  path: collection,
  summary: 'List black holes',
  description: 'The black holes of the team, also those that have ended, with their state in each region.',
  permission: shieldReading,
  query: Strict({
    host: Optional(
      Repeatable(
        Type.String({ minLength: 2, maxLength: 50, description: 'address or prefix that contains the host' }),
      ),
    ),
    event_id: Optional(Repeatable(EventId)),
    ongoing: Optional(
      Type.Boolean({
        description: 'true: those that have not ended, or that a router still has; false: the others',
      }),
    ),
    ordering: Ordering(['id', 'host', 'created', 'expires'], '-created'),
    limit: Limit,
    offset: Offset,
  }),
  response: Page(Blackhole),
  success: 200,
})

export const getBlackholeRoute = route({
  name: 'getBlackhole',
  group: 'Shield',
  method: 'GET',
  path: `${collection}/{blackhole_id}`,
  summary: 'Get black hole',
  description: 'Returns one black hole of the team.',
  permission: shieldReading,
  params,
  response: Blackhole,
  success: 200,
  errors: ['not_found'],
  conditional: true,
})

export const createBlackholeRoute = route({
  name: 'createBlackhole',
  group: 'Shield',
  method: 'POST',
  path: collection,
  summary: 'Black-hole a host',
  description:
    'The last resort against an attack that fills the links before any filter: all packets to the host are discarded, also those of ' +
    'legitimate users. The routers announce its /32 or /128 with the community BLACKHOLE (RFC 7999) until `expires`; nothing extends it. ' +
    'The host must be one address inside an announced prefix of the team. Returns 409 `not_attacked` unless an ongoing event targets ' +
    'exactly this address: see `on_host` of a dry run with `force`, then repeat without the dry run. A further black hole of the same host ' +
    `replaces the one before. At most ${blackholesPerTeam} hosts of a team, and ${blackholesPerRegion} in a region, at the same time.`,
  permission: shieldWriting,
  body: NewBlackhole,
  response: Blackhole,
  success: 201,
  creates: getBlackholeRoute,
  dryRun: true,
  errors: ['not_attacked', 'quota_exceeded'],
})

export const deleteBlackholeRoute = route({
  name: 'deleteBlackhole',
  group: 'Shield',
  method: 'DELETE',
  path: `${collection}/{blackhole_id}`,
  summary: 'End black hole',
  description:
    'Ends the black hole now: the routers withdraw it. It stays in the list. One that has ended is not changed.',
  permission: shieldWriting,
  params,
  success: 204,
  dryRun: true,
  errors: ['not_found'],
  conditional: true,
})

export const blackholeRoutes = [
  listBlackholesRoute,
  getBlackholeRoute,
  createBlackholeRoute,
  deleteBlackholeRoute,
]

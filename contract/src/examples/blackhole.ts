// Examples of black holes: the last resort against the attack of the other examples.
import {
  createBlackholeRoute,
  deleteBlackholeRoute,
  getBlackholeRoute,
  listBlackholesRoute,
  type Blackhole,
} from '../shield/blackhole.ts'
import { example } from '../example.ts'
import { changesBetween } from '../field-change.ts'
import { eventId, web } from './world.ts'

const region = {
  region: 'ams',
  desired: true,
  state: 'announcing',
  since: '2026-04-01T10:06:12.083Z',
  reason: null,
  message: null,
} as const
const requested: Blackhole = {
  id: 12,
  host: '203.0.113.77',
  status: 'pending',
  event_id: eventId,
  comment: 'Ticket 4711',
  regions: [region, { ...region, region: 'fra' }],
  created: '2026-04-01T10:06:12.083Z',
  expires: '2026-04-01T11:06:12.083Z',
  ended: null,
  forced: false,
}
const announced = { ...region, state: 'announced', since: '2026-04-01T10:06:12.391Z' } as const
const active: Blackhole = {
  ...requested,
  status: 'active',
  regions: [announced, { ...announced, region: 'fra' }],
}
const withdrawing = {
  ...announced,
  desired: false,
  state: 'withdrawing',
  since: '2026-04-01T10:41:03.550Z',
} as const
const ended: Blackhole = {
  ...active,
  status: 'ending',
  regions: [withdrawing, { ...withdrawing, region: 'fra' }],
  ended: '2026-04-01T10:41:03.550Z',
}
const onHost: NonNullable<Blackhole['on_host']> = {
  attacked: true,
  announcements: [{ id: web.id, cidr: web.cidr, regions: ['ams', 'fra'] }],
  ptr: ['play.lindholm.example.'],
  traffic: {
    state: 'complete',
    start: '2026-04-01T09:06:12.000Z',
    end: '2026-04-01T10:06:12.000Z',
    normal: { packets: 1_904_200, bytes: 1_310_400_000, flows: 1_870 },
    attack: { packets: 48_300_000, bytes: 68_103_000_000, flows: 46_900 },
    sampled: true,
  },
}
const one = { params: { blackhole_id: requested.id } }

export const blackholeExamples = [
  example(listBlackholesRoute, { query: { ongoing: true }, response: { results: [active], count: 1 } }),
  example(getBlackholeRoute, { ...one, response: active }),
  example(createBlackholeRoute, {
    body: { host: '203.0.113.77', expires: '2026-04-01T11:06:12.083Z', comment: 'Ticket 4711' },
    response: requested,
    changes: changesBetween({}, { ...requested, on_host: onHost }),
  }),
  example(deleteBlackholeRoute, { ...one, changes: changesBetween(active, ended) }),
]

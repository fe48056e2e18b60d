// An announcement and its regions: what is desired, what was observed, and how one moves the other. Pure: no SQL, no
// HTTP, no clock. Who may switch one is said in patch-announcement.ts, who makes it true in reconcile.ts.
import type { AnnouncementStatus, RegionState } from '@pharos/contract/byoip'
import type { ReasonAttrs, RegionReason } from '@pharos/contract/region-reason'
import type { Asn } from '../../net/asn.ts'
import type { Prefix } from '../../net/prefix.ts'
import type { Details } from './announcement-details.ts'

export type { AnnouncementStatus, RegionState }

export type Announcement = {
  readonly id: number
  readonly teamId: number
  readonly prefix: Prefix
  readonly originAsn: Asn
  readonly enabled: boolean
  readonly suspended: boolean
  readonly irrValidated: Date | null
  readonly rpkiValidated: Date | null
  readonly loaValidated: Date | null
  /** How far its checks are, as the validator left them. */
  readonly clearance: Clearance
  /** When every check had passed for the first time: since then it holds its prefix against other teams. */
  readonly claimed: Date | null
  readonly status: AnnouncementStatus
  readonly version: number
  readonly created: Date
  readonly details: Details
  /** Every region that was ever configured, by slug: a row that says "not here" stays as evidence. */
  readonly regions: readonly AnnouncementRegion[]
}

export type AnnouncementRegion = {
  readonly regionId: number
  readonly slug: string
  readonly configured: boolean
  readonly state: RegionState
  readonly since: Date
  /** Why the routers do not carry it as desired; null while nothing is known to be wrong. */
  readonly reason: RegionReason | null
  readonly attrs: ReasonAttrs | null
  /** When the desired state changed, oldest first; the newest `changesKept` only. */
  readonly changes: readonly Date[]
  /** When the region's router was last compared with what is desired there; false when that failed since or is overdue. */
  readonly lastCheck: Date | null
  readonly lastCheckResult: boolean | null
  /** Whether a quorum of its routers has an established BGP session for the prefix's family. */
  readonly reached: boolean
  /** Of a region as it is shown: the state is not the stored one, since that cannot be confirmed. */
  readonly isAssumed?: true
}

/** What an announcement needs to know of a region that is open to the team. */
export type OpenRegion = Pick<
  AnnouncementRegion,
  'regionId' | 'slug' | 'lastCheck' | 'lastCheckResult' | 'reached'
>

/** What can be asked of an announcement: the switches, and where. */
export type Intent = {
  readonly enabled: boolean
  readonly suspended: boolean
  readonly configured: ReadonlySet<number>
}

/** Changes of the desired state within an hour that are still carried out at once. */
export const changesPerHourMax = 12

/** One more than the limit: the oldest of them then says until when the prefix waits. */
export const changesKept = changesPerHourMax + 1

/** Whether the announcement should be on the region's router. Validation is not asked: losing it withdraws nothing. */
export function isDesired(
  announcement: Pick<Announcement, 'enabled' | 'suspended'>,
  region: Pick<AnnouncementRegion, 'configured'>,
): boolean {
  return announcement.enabled && !announcement.suspended && region.configured
}

export const validationNames = ['irr', 'rpki', 'loa'] as const
export type ValidationName = (typeof validationNames)[number]

/** The validations without a valid pass. */
export function missingValidations(
  announcement: Pick<Announcement, `${ValidationName}Validated`>,
): ValidationName[] {
  return validationNames.filter((name) => announcement[`${name}Validated`] === null)
}

/** The state of a region right after its desired state was stored: nothing was observed yet, only the direction changes. */
export const stateAfterSwitch: Record<RegionState, Record<'desired' | 'undesired', RegionState>> = {
  withdrawn: { desired: 'announcing', undesired: 'withdrawn' },
  announcing: { desired: 'announcing', undesired: 'withdrawing' },
  announced: { desired: 'announced', undesired: 'withdrawing' },
  withdrawing: { desired: 'announcing', undesired: 'withdrawing' },
  error: { desired: 'announcing', undesired: 'withdrawing' },
}

/**
 * The announcement with another intent: regions in their new direction, status and version following. A region that is
 * no longer configured keeps its row; one that is configured for the first time is taken from `known`.
 */
export function withIntent(
  announcement: Announcement,
  intent: Intent,
  known: readonly OpenRegion[],
  now: Date,
): Announcement {
  const { enabled, suspended } = intent
  const switched = [...announcement.regions, ...newRegions(announcement, intent, known, now)].map(
    (region) => {
      const configured = intent.configured.has(region.regionId)
      const before = isDesired(announcement, region)
      const after = isDesired({ enabled, suspended }, { configured })
      return switchRegion(region, configured, before, after, now)
    },
  )
  const regions = switched.sort((a, b) => (a.slug < b.slug ? -1 : 1))
  const next = { ...announcement, enabled, suspended, regions, version: announcement.version + 1 }
  return { ...next, status: statusOf(next) }
}

function newRegions(
  announcement: Announcement,
  intent: Intent,
  known: readonly OpenRegion[],
  now: Date,
): AnnouncementRegion[] {
  const present = new Set(announcement.regions.map((region) => region.regionId))
  return known
    .filter(({ regionId }) => intent.configured.has(regionId) && !present.has(regionId))
    .map(({ regionId, slug, lastCheck, lastCheckResult, reached }) => ({
      regionId,
      slug,
      lastCheck,
      lastCheckResult,
      reached,
      configured: false,
      state: 'withdrawn',
      since: now,
      reason: null,
      attrs: null,
      changes: [],
    }))
}

/** The very same object where nothing changes: only what differs is saved. */
function switchRegion(
  region: AnnouncementRegion,
  configured: boolean,
  before: boolean,
  after: boolean,
  now: Date,
): AnnouncementRegion {
  if (before === after) return configured === region.configured ? region : { ...region, configured }
  const state = stateAfterSwitch[region.state][after ? 'desired' : 'undesired']
  const since = state === region.state ? region.since : now
  const changes = [...region.changes, now].slice(-changesKept)
  return { ...region, configured, state, since, reason: null, attrs: null, changes }
}

/**
 * How far the checks are: `pending` waits for the team, `running` for a registry or a reviewer, `failed` was told no,
 * `passed` exactly while irr, rpki and loa are valid.
 */
export type Clearance = 'pending' | 'running' | 'failed' | 'passed'

/** Where the announcement is seen, as seen from where it should be. */
export type Presence = 'everywhere' | 'somewhere' | 'arriving' | 'failing' | 'leaving' | 'stuck' | 'nowhere'

type Past = 'suspended' | 'used' | 'unused'

/** What there is to say about an announcement that is on no router and should be on none. */
const atRest: Record<Clearance, Record<Past, AnnouncementStatus>> = {
  pending: { suspended: 'suspended', used: 'pending_validation', unused: 'pending_validation' },
  running: { suspended: 'suspended', used: 'validating', unused: 'validating' },
  failed: { suspended: 'suspended', used: 'validation_failed', unused: 'validation_failed' },
  passed: { suspended: 'suspended', used: 'withdrawn', unused: 'ready' },
}

const inMotion: Record<Exclude<Presence, 'nowhere'>, AnnouncementStatus> = {
  everywhere: 'announced',
  somewhere: 'partially_announced',
  arriving: 'announcing',
  failing: 'error',
  leaving: 'withdrawing',
  stuck: 'error',
}

type Observed = Pick<Announcement, 'enabled' | 'suspended' | 'clearance'> & {
  readonly regions: readonly Pick<AnnouncementRegion, 'configured' | 'state' | 'changes'>[]
}

/** The status that follows from what was observed. Total: every combination has one. */
export function statusOf(announcement: Observed): AnnouncementStatus {
  const presence = presenceOf(announcement)
  return presence === 'nowhere' ? atRest[announcement.clearance][pastOf(announcement)] : inMotion[presence]
}

function presenceOf(announcement: Observed): Presence {
  const { desired = [], undesired = [] } = Object.groupBy(announcement.regions, (region) =>
    isDesired(announcement, region) ? 'desired' : 'undesired',
  )
  return desired.length > 0 ? presenceWhereDesired(statesOf(desired)) : presenceElsewhere(statesOf(undesired))
}

const statesOf = (regions: readonly Pick<AnnouncementRegion, 'state'>[]): RegionState[] =>
  regions.map((region) => region.state)

function presenceWhereDesired(states: readonly RegionState[]): Presence {
  if (states.every((state) => state === 'announced')) return 'everywhere'
  if (states.includes('announced')) return 'somewhere'
  return states.every((state) => state === 'error') ? 'failing' : 'arriving'
}

function presenceElsewhere(states: readonly RegionState[]): Presence {
  if (states.every((state) => state === 'withdrawn')) return 'nowhere'
  return states.every((state) => state === 'withdrawn' || state === 'error') ? 'stuck' : 'leaving'
}

function pastOf(announcement: Observed): Past {
  if (announcement.suspended) return 'suspended'
  return announcement.regions.some((region) => region.changes.length > 0) ? 'used' : 'unused'
}

// An announcement and its regions: the desired state, the observed state, and the transitions between states. Pure: no SQL,
// no HTTP, no clock. patch-announcement.ts decides which changes are allowed, reconcile.ts applies them.
import type { AnnouncementStatus, RegionState } from '@pharos/contract/byoip/announcement'
import type { ReasonAttrs, RegionReason } from '@pharos/contract/reason/region-reason'
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
  /** The progress of its checks, as the validator stored it. */
  readonly clearance: Clearance
  /** When all checks passed for the first time: since then other teams cannot announce its prefix. */
  readonly claimed: Date | null
  readonly status: AnnouncementStatus
  /** Incremented by every change of the desired side, and by no observation: the part of the ETag that If-Match compares. */
  readonly version: number
  readonly created: Date
  readonly details: Details
  /** Every region that was ever configured, by slug: a region that is no longer desired stays as evidence. */
  readonly regions: readonly AnnouncementRegion[]
}

export type AnnouncementRegion = {
  readonly regionId: number
  readonly slug: string
  readonly configured: boolean
  /** No region is configured now, and this region was in the last set that was not empty. */
  readonly restorable: boolean
  readonly state: RegionState
  readonly since: Date
  /** When the routers first showed the last change; null or before the last of `changes` if they have not, or if it is not known. */
  readonly settled: Date | null
  /** Why the routers do not carry it as desired; null if no problem is known. */
  readonly reason: RegionReason | null
  readonly attrs: ReasonAttrs | null
  /** When the desired state changed, oldest first; the newest `changesKept` only. */
  readonly changes: readonly Date[]
  /** When the region's routers were last compared with the desired state; false if the last check failed or is overdue. */
  readonly lastCheck: Date | null
  readonly lastCheckResult: boolean | null
  /** Whether a quorum of its routers has an established BGP session for the prefix's family. */
  readonly reached: boolean
  /** Set if the shown state is not the stored one, because the stored one cannot be confirmed. */
  readonly isAssumed?: true
}

/** A region that is open to the team, as announcements use it. */
export type OpenRegion = Pick<
  AnnouncementRegion,
  'regionId' | 'slug' | 'lastCheck' | 'lastCheckResult' | 'reached'
>

/** The desired state that a request can set. */
export type Intent = {
  readonly enabled: boolean
  readonly suspended: boolean
  readonly configured: ReadonlySet<number>
}

/** Maximum changes of the desired state within an hour that are applied immediately. */
export const changesPerHourMax = 12

/** One more than the limit: the oldest change then determines until when the prefix is damped. */
export const changesKept = changesPerHourMax + 1

/** Whether the announcement should be on the region's routers. Ignores validation: losing it withdraws no route. */
export function isDesired(
  announcement: Pick<Announcement, 'enabled' | 'suspended'>,
  region: Pick<AnnouncementRegion, 'configured'>,
): boolean {
  return announcement.enabled && !announcement.suspended && region.configured
}

/**
 * Returns the regions (slugs) about which an operation of the announcement itself decides, with their desired state:
 * changed regions, or all if the announcement is disabled or suspended. Written to the audit log as `desired`; the
 * guard accepts no other explanation of a withdrawal.
 */
export function desiredChanges(before: Announcement, after: Announcement): Record<string, boolean> {
  const isOff = (before.enabled && !after.enabled) || (!before.suspended && after.suspended)
  const had = new Set(
    before.regions.filter((region) => isDesired(before, region)).map(({ regionId }) => regionId),
  )
  const about = after.regions.filter(
    (region) => isOff || had.has(region.regionId) !== isDesired(after, region),
  )
  return Object.fromEntries(about.map((region) => [region.slug, isDesired(after, region)]))
}

/** Like desiredChanges(), for a deleted announcement. */
export const undesiredIn = (regions: readonly AnnouncementRegion[]): Record<string, boolean> =>
  Object.fromEntries(regions.map(({ slug }) => [slug, false]))

export const storedValidationNames = ['irr', 'rpki', 'loa'] as const
export type StoredValidationName = (typeof storedValidationNames)[number]

/** Returns the validations that have not passed. */
export function missingValidations(
  announcement: Pick<Announcement, `${StoredValidationName}Validated`>,
): StoredValidationName[] {
  return storedValidationNames.filter((name) => announcement[`${name}Validated`] === null)
}

/**
 * The state of a region right after its desired state was stored, before any observation: only the direction changes.
 */
export const stateAfterChange: Record<RegionState, Record<'desired' | 'undesired', RegionState>> = {
  withdrawn: { desired: 'announcing', undesired: 'withdrawn' },
  announcing: { desired: 'announcing', undesired: 'withdrawing' },
  announced: { desired: 'announced', undesired: 'withdrawing' },
  withdrawing: { desired: 'announcing', undesired: 'withdrawing' },
  error: { desired: 'announcing', undesired: 'withdrawing' },
}

/**
 * Returns the announcement with another intent: regions in their new direction, and the resulting status and version. A
 * region that is no longer configured keeps its row; a newly configured region is taken from `known`.
 */
export function withIntent(
  announcement: Announcement,
  intent: Intent,
  known: readonly OpenRegion[],
  now: Date,
): Announcement {
  const { enabled, suspended } = intent
  const hadRegions = announcement.regions.some(({ configured }) => configured)
  const changed = [...announcement.regions, ...newRegions(announcement, intent, known, now)].map((region) => {
    const configured = intent.configured.has(region.regionId)
    const restorable = intent.configured.size === 0 && (hadRegions ? region.configured : region.restorable)
    const before = isDesired(announcement, region)
    const after = isDesired({ enabled, suspended }, { configured })
    return changeRegion(region, { configured, restorable }, before, after, now)
  })
  const regions = changed.sort((a, b) => (a.slug < b.slug ? -1 : 1))
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
      restorable: false,
      state: 'withdrawn',
      since: now,
      settled: null,
      reason: null,
      attrs: null,
      changes: [],
    }))
}

/**
 * Returns the regions in which enabling without a region announces: the configured ones; if every region was disabled
 * one by one, the open regions of the last set; all open ones only for an announcement that never had a region.
 */
export function regionsToEnable(
  { regions }: Pick<Announcement, 'regions'>,
  open: readonly Pick<OpenRegion, 'regionId'>[],
): Set<number> {
  const configured = regions.filter((region) => region.configured)
  if (configured.length > 0) return idsOf(configured)
  if (regions.length === 0) return idsOf(open)
  return idsOf(regions.filter((region) => region.restorable)).intersection(idsOf(open))
}

const idsOf = (regions: readonly Pick<OpenRegion, 'regionId'>[]): Set<number> =>
  new Set(regions.map(({ regionId }) => regionId))

/** Returns the same object without a change, so that only changed regions are saved. */
function changeRegion(
  region: AnnouncementRegion,
  flags: Pick<AnnouncementRegion, 'configured' | 'restorable'>,
  before: boolean,
  after: boolean,
  now: Date,
): AnnouncementRegion {
  const isSame = flags.configured === region.configured && flags.restorable === region.restorable
  if (before === after) return isSame ? region : { ...region, ...flags }
  const state = stateAfterChange[region.state][after ? 'desired' : 'undesired']
  const since = state === region.state ? region.since : now
  const changes = [...region.changes, now].slice(-changesKept)
  return { ...region, ...flags, state, since, reason: null, attrs: null, changes }
}

/**
 * The progress of the checks: `pending` waits for the team, `running` for a registry or a reviewer, `failed` means that a check
 * failed, `passed` that all are valid.
 */
export type Clearance = 'pending' | 'running' | 'failed' | 'passed'

/** Where the announcement was observed, compared with where it should be. */
export type Presence = 'everywhere' | 'somewhere' | 'arriving' | 'failing' | 'leaving' | 'stuck' | 'nowhere'

type Past = 'suspended' | 'used' | 'unused'

/** The status of an announcement that is on no router and should be on no router. */
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

/** Returns the status that follows from the observed states. Total: every combination has one. */
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

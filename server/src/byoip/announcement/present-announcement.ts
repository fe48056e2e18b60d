// Converts an announcement to its API representation, with the optional parts that `include` requests.
import type {
  AnnouncementDetails,
  AuthorizationProof,
  Validation,
} from '@pharos/contract/byoip/announcement-checks'
import type {
  Announcement as Wire,
  RegionEvidence,
  RegionStateOfAnnouncement,
} from '@pharos/contract/byoip/announcement'
import { regionReasonText, type RegionReason } from '@pharos/contract/reason/region-reason'
import { lengthOf, networkOf, type Prefix } from '../../net/prefix.ts'
import {
  isDesired,
  type Announcement,
  type AnnouncementRegion,
  type RegionState,
} from '../status/announcement.ts'
import { etagOf } from '../../operation/etag.ts'
import { reportedAnnouncement } from '../status/reported-announcement.ts'
import { stateMessages } from './state-messages.ts'
import { completeChecks, type Check } from '../validation/validation.ts'
import type { ShownVisibility } from '../visibility/present-visibility.ts'

type RegionRoute = {
  readonly slug: string
  readonly prefix: Prefix
  readonly state: RegionState
  readonly reason: RegionReason | null
  /** The last changes of the desired state, oldest first. */
  readonly changes: readonly Date[]
}

/** Returns how far a route of a region gets; null if no router is known to show it. */
export type EvidenceReader = (route: RegionRoute) => RegionEvidence | null

export type IncludedParts = {
  readonly regionStates?: boolean
  readonly validations?: boolean
  readonly stateMessages?: boolean
  readonly details?: boolean
  readonly visibility?: boolean
  /** For staff only. */
  readonly evidence?: boolean
}

/** The query of operations that return announcements. */
export type AnnouncementIncludeQuery = { readonly include?: string }

/** Parses the include parameter, which the contract has already validated. */
export function parseInclude(text: string | undefined): IncludedParts {
  const names = new Set(text?.split(','))
  return {
    regionStates: names.has('region_states'),
    validations: names.has('validations'),
    stateMessages: names.has('state_messages'),
    details: names.has('details'),
    visibility: names.has('visibility'),
    evidence: names.has('evidence'),
  }
}

/** Whether the stored checks are needed to present it. */
export const needsChecks = ({ validations, stateMessages }: IncludedParts): boolean =>
  validations === true || stateMessages === true

/** Whether the stored visibility is needed to present it. */
export const needsVisibility = ({ visibility, stateMessages }: IncludedParts): boolean =>
  visibility === true || stateMessages === true

/** Values besides the announcement that its representation needs; `visibility` is null if it is not needed. */
export type PresentContext = {
  readonly checks: readonly Check[]
  readonly visibility: ShownVisibility | null
  readonly evidence?: EvidenceReader | null
  readonly now: Date
}

/** Returns the response body of GET, list and PATCH. */
export function presentAnnouncement(
  stored: Announcement,
  include: IncludedParts,
  context?: PresentContext,
): Wire {
  const announcement = reportedAnnouncement(stored)
  const check = checkOf(announcement)
  return {
    id: announcement.id,
    cidr: announcement.prefix,
    prefix: networkOf(announcement.prefix),
    prefixlen: lengthOf(announcement.prefix),
    origin_asn: announcement.originAsn,
    regions: announcement.regions.filter((region) => region.configured).map((region) => region.slug),
    status: announcement.status,
    irr_validated: isoOf(announcement.irrValidated),
    rpki_validated: isoOf(announcement.rpkiValidated),
    loa_validated: isoOf(announcement.loaValidated),
    last_check: isoOf(check.at),
    last_check_result: check.result,
    enabled: announcement.enabled,
    created: announcement.created.toISOString(),
    ...(include.regionStates
      ? { region_states: regionStatesOf(announcement, context?.evidence ?? null) }
      : {}),
    ...(context ? checksOf(announcement, include, context) : {}),
    ...(include.details ? { details: detailsOf(announcement) } : {}),
    ...(include.visibility && context?.visibility ? { visibility: context.visibility.wire } : {}),
  }
}

/**
 * Returns the ETag of a shown announcement: its version, then a digest of all that is shown, which If-Match ignores. `last_check`
 * alone does not count: it changes every 30 seconds.
 */
export function shownEtag({ version }: Announcement, shown: Wire): string {
  return etagOf(version, { ...shown, last_check: null })
}

function checksOf(announcement: Announcement, include: IncludedParts, context: PresentContext) {
  const complete = completeChecks(context.checks)
  return {
    ...(include.validations ? { validations: Object.values(complete).map(validationOf) } : {}),
    ...(include.stateMessages ? { state_messages: stateMessages(announcement, complete, context) } : {}),
  }
}

/** The proofs of the check `loa` are stored in its evidence. */
function validationOf({ name, state, reason, attrs, note, evidence: kept, fix, checked }: Check): Validation {
  const { proofs, ...evidence } = kept as { proofs?: AuthorizationProof[] }
  const why = { reason, attrs, note }
  return { name, state, ...why, evidence, fix, checked: isoOf(checked), ...(proofs && { proofs }) }
}

function detailsOf({ suspended, claimed, details }: Announcement): AnnouncementDetails {
  return {
    ...details,
    suspended,
    claimed: isoOf(claimed),
    deleted: isoOf(details.deleted),
  }
}

/**
 * Returns the time of the oldest of the last checks of its regions, and true if all of these found the region as desired.
 * Regions where the announcement neither should be nor was observed do not count, unless there are no
 * others.
 */
function checkOf(announcement: Announcement): { at: Date | null; result: boolean | null } {
  const concerned = announcement.regions.filter(
    (region) => isDesired(announcement, region) || region.state !== 'withdrawn',
  )
  const regions = concerned.length > 0 ? concerned : announcement.regions
  return { at: oldestCheck(regions), result: resultOf(announcement, regions) }
}

function oldestCheck(regions: readonly AnnouncementRegion[]): Date | null {
  const times = regions.map((region) => region.lastCheck)
  if (times.length === 0 || times.includes(null)) return null
  return times.reduce((oldest, time) => (time! < oldest! ? time : oldest))
}

function resultOf(announcement: Announcement, regions: readonly AnnouncementRegion[]): boolean | null {
  const results = regions.map((region) => region.lastCheckResult && isAsDesired(announcement, region))
  if (results.includes(false)) return false
  return results.length === 0 || results.includes(null) ? null : true
}

const isAsDesired = (announcement: Announcement, region: AnnouncementRegion): boolean =>
  region.state === (isDesired(announcement, region) ? 'announced' : 'withdrawn')

function regionStatesOf(
  announcement: Announcement,
  evidence: EvidenceReader | null,
): RegionStateOfAnnouncement[] {
  return announcement.regions.map((region) => ({
    region: region.slug,
    desired: isDesired(announcement, region),
    state: region.state,
    since: region.since.toISOString(),
    reason: region.reason,
    message: region.reason ? regionReasonText(region.reason, region.attrs) : unreadableReason(region),
    requested: isoOf(region.changes.at(-1) ?? null),
    took_ms: tookMs(announcement, region),
    ...(evidence ? { heard_by: evidence({ ...region, prefix: announcement.prefix }) } : {}),
  }))
}

/**
 * Returns the time from the last request until it was first observed on the routers; null if it has not been observed yet. Rows that
 * an older release has saved have only the time of the last observation.
 */
function tookMs(announcement: Announcement, region: AnnouncementRegion): number | null {
  const { changes, since, settled } = region
  const requested = changes.at(-1)
  if (!requested || !isAsDesired(announcement, region)) return null
  const shown = settled && settled >= requested ? settled : since
  return shown < requested ? null : shown.getTime() - requested.getTime()
}

/** Explains why the last known states are shown, while a router does not answer. */
function unreadableReason({ lastCheck, lastCheckResult }: AnnouncementRegion): string | null {
  if (lastCheckResult !== false) return null
  const since = lastCheck ? `has not been read since ${lastCheck.toISOString()}` : 'has not been read yet'
  return `The region's router ${since}. Nothing is withdrawn because of that.`
}

const isoOf = (time: Date | null): string | null => time && time.toISOString()

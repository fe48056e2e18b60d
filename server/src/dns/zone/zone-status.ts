// The status of a zone: the worst status of its parts, each with the reason. Pure. `statusOfZone` of
// zone-status.store.ts is the same in SQL, for filters and for the messages of changes; a test compares both over all
// combinations.
import type { DnssecState } from '@pharos/contract/dns/term'
import type { DelegationStatus, ZoneStatus } from '@pharos/contract/dns/zone'
import type { StateMessageTag } from '@pharos/contract/reason/state-message'

type Attrs = Readonly<Record<string, unknown>>

export type ZoneFacts = {
  /** State of publication, transfers and name servers, stored by their loops. */
  readonly publication: {
    readonly status: ZoneStatus
    readonly reason: string | null
    readonly attrs: Attrs
  }
  readonly dnssec: { readonly state: DnssecState; readonly reason: string | null }
  readonly delegation: {
    readonly status: DelegationStatus
    /** Whether the parent has delegated to the assigned servers before. */
    readonly wasDelegated: boolean
    readonly assigned: readonly string[]
    readonly delegated: readonly string[]
  }
  /** `leaving`: deleted, and still served; `held`: and the provider must approve that it leaves the name servers; `gone`: no longer served. */
  readonly deletion: 'none' | 'leaving' | 'held' | 'gone'
  /** ALIAS records whose targets are not resolved: the last addresses stay; `isUnserved` if there are no addresses. */
  readonly failingAliases: readonly (Readonly<Record<string, unknown>> & { readonly isUnserved: boolean })[]
}

/** `level` is the status that the reason alone makes; `ok` for a hint. */
export type ZoneReason = {
  readonly tag: StateMessageTag
  readonly level: ZoneStatus
  readonly severity: 'error' | 'warning' | 'info'
  readonly attrs: Attrs
}

/** From the worst to the best. A zone that waits for its name is not served, so other problems do not count. */
const levels = ['pending_verification', 'error', 'updating', 'ok'] as const satisfies readonly ZoneStatus[]

const severities = {
  pending_verification: 'warning',
  error: 'error',
  updating: 'info',
  ok: 'warning',
} as const satisfies Record<ZoneStatus, ZoneReason['severity']>

/** Returns the status with its reasons, the worst first; hints follow. A status other than `ok` has a reason. */
export function zoneStatus(facts: ZoneFacts): {
  readonly status: ZoneStatus
  readonly reasons: readonly ZoneReason[]
} {
  const found = reasonsOf(facts).map(([tag, level, attrs = {}]): ZoneReason => ({
    tag,
    level,
    severity: severities[level],
    attrs,
  }))
  const reasons = found.toSorted((a, b) => levels.indexOf(a.level) - levels.indexOf(b.level))
  return { status: reasons[0]?.level ?? 'ok', reasons }
}

type Found = readonly [tag: StateMessageTag, level: ZoneStatus, attrs?: Attrs]

/** Aliases that a message lists. */
const aliasesShownMax = 5

function reasonsOf({ publication, dnssec, delegation, deletion, failingAliases }: ZoneFacts): Found[] {
  if (deletion !== 'none') return deletionReasons[deletion]
  const { status, reason, attrs } = publication
  if (status === 'pending_verification') return [['zone_claimed', status]]
  return [
    ...(status === 'ok' ? [] : [[(reason ?? 'zone_updating') as StateMessageTag, status, attrs] as const]),
    ...(dnssec.state === 'error' ? [['zone_dnssec_error', 'error', { reason: dnssec.reason }] as const] : []),
    ...delegationReasons(delegation),
    ...aliasReasons(failingAliases),
  ]
}

function aliasReasons(failing: ZoneFacts['failingAliases']): Found[] {
  const { unserved = [], served = [] } = Object.groupBy(failing, ({ isUnserved }) =>
    isUnserved ? 'unserved' : 'served',
  )
  return [
    ...aliasReason('zone_aliases_unserved', 'error', unserved),
    ...aliasReason('zone_aliases_failing', 'ok', served),
  ]
}

const aliasReason = (tag: StateMessageTag, level: ZoneStatus, failing: readonly object[]): Found[] =>
  failing.length === 0
    ? []
    : [[tag, level, { count: failing.length, aliases: failing.slice(0, aliasesShownMax) }]]

const deletionReasons: Readonly<Record<Exclude<ZoneFacts['deletion'], 'none'>, Found[]>> = {
  leaving: [['zone_deleting', 'updating']],
  held: [['zone_deletion_held', 'error']],
  gone: [],
}

/**
 * A zone that was never delegated works as requested, and waits for its holder; a zone that lost its delegation does
 * not.
 */
function delegationReasons({ status, wasDelegated, assigned, delegated }: ZoneFacts['delegation']): Found[] {
  switch (status) {
    case 'elsewhere':
    case 'absent':
      return wasDelegated
        ? [['zone_delegation_lost', 'error', { assigned, delegated }]]
        : [['zone_not_delegated', 'ok', { assigned }]]
    case 'partial':
      return [['zone_delegation_differs', 'ok', { assigned, delegated }]]
    case 'delegated':
    case 'unavailable':
    case 'unknown':
      return []
  }
}

// The states of DNSSEC of a zone, as a pure function of the stored state and the observations. A state moves forward
// only when no resolver can have a cached record that contradicts the next state. All times are Unix seconds, all
// durations seconds.
import type { DnssecState } from '@pharos/contract/dns/term'

export type KeyState = 'introduced' | 'active' | 'retiring' | 'removed'

/** A key as stored. Every key that is not removed is published and signs. */
export type ZoneKey = {
  readonly id: number
  /** `introduced`: not in every cache yet; `active`: the parent is to have its DS record; `retiring`: replaced. */
  readonly state: KeyState
  /** When all name servers had the key. */
  readonly introduced: number | undefined
  /** When all servers of the parent had a DS record of the key. */
  readonly dsSeen: number | undefined
  /** When no server of the parent had a DS record of the retiring key any more. */
  readonly retired: number | undefined
}

export type ZoneDnssec = {
  readonly status: DnssecState
  /** Whether the parent still had DS records when the removal was requested; only while `pending_disabled`. */
  readonly isRemovalRequested: boolean
  readonly keys: readonly ZoneKey[]
}

/** The answers of the servers of the parent about DS records. */
export type ParentFacts = {
  /** Time of the last check. */
  readonly checked: number
  /** All servers gave the same answer, three times in a row. Silence is never an answer. */
  readonly isSettled: boolean
  /** Some server has a DS record, of whatever key. */
  readonly hasDs: boolean
  /** Keys with a DS record at some server, and at all of them. */
  readonly dsAnywhere: readonly number[]
  readonly dsEverywhere: readonly number[]
  /** The largest TTL of DS records that was observed; 0 if no DS record was. */
  readonly dsTtl: number
  /** When a DS record was last seen at any server; undefined if never. */
  readonly dsLastSeen: number | undefined
}

export type DnssecFacts = {
  /** All name servers serve the zone with its current keys. */
  readonly isServed: boolean
  /** The private keys can be opened. */
  readonly canSign: boolean
  /** The published signatures are valid. */
  readonly isValid: boolean
  /** Largest TTL in the zone. */
  readonly zoneTtl: number
  /** Largest TTL of DNSKEY since the DS was last seen. */
  readonly keyTtl: number
  /** Time of the slowest name server for a publication. */
  readonly propagation: number
  /** Undefined until the parent was asked. */
  readonly parent: ParentFacts | undefined
}

/** Reasons why a state waits or fails; texts are in the contract. */
export type DnssecReason =
  | 'name_servers'
  | 'caches'
  | 'ds_missing'
  | 'ds_removed'
  | 'ds_present'
  | 'ds_caches'
  | 'parent_unavailable'
  | 'keys_not_readable'
  | 'signatures_invalid'
  | 'ds_mismatch'

export type NextState = ZoneDnssec & {
  readonly reason: DnssecReason | undefined
  /** When time alone may change the state; undefined if it waits for an observation. */
  readonly due: number | undefined
}

/**
 * How long caches may have records that contradict the next step. A parameter, so that tests can show that shorter
 * waits fail.
 */
export type Waits = {
  /** Wait between the key at all name servers and its DS record at the parent. */
  readonly introduce: (facts: Pick<DnssecFacts, 'zoneTtl' | 'keyTtl'>) => number
  /** Wait between the last DS record of a replaced key and the removal of the key. */
  readonly retire: (parent: ParentFacts) => number
  /**
   * From the last DS record to the removal of the signatures. The sum: a resolver keeps the DS record for its TTL, may validate the keys at the
   * end of it, and then keeps the keys for theirs. After the greater of both, Unbound was seen to return SERVFAIL.
   */
  readonly unsign: (facts: Pick<DnssecFacts, 'keyTtl' | 'propagation'>, parent: ParentFacts) => number
}

/** Returns the waits for resolvers that cache for at most `cacheSeconds`, whatever the TTL. */
export function waitsFor(cacheSeconds: number): Waits {
  const kept = (...ttls: readonly number[]): number => Math.min(cacheSeconds, Math.max(...ttls))
  return {
    introduce: ({ zoneTtl, keyTtl }) => kept(zoneTtl, keyTtl),
    retire: ({ dsTtl }) => kept(dsTtl),
    unsign: ({ keyTtl, propagation }, { dsTtl }) => kept(dsTtl) + kept(keyTtl) + propagation,
  }
}

/** RFC 8767 section 4 recommends that resolvers cache for at most a week. */
const weekSeconds = 604_800

export const defaultWaits: Waits = waitsFor(weekSeconds)

const unchanged = (zone: ZoneDnssec, reason?: DnssecReason, due?: number): NextState => ({
  ...zone,
  reason,
  due,
})

/** Returns the state after `zone`. Idempotent for the same facts and time. */
export function nextState(
  zone: ZoneDnssec,
  facts: DnssecFacts,
  now: number,
  waits: Waits = defaultWaits,
): NextState {
  if (zone.status === 'disabled') return unchanged(zone)
  if (!facts.canSign) return unchanged({ ...zone, status: 'error' }, 'keys_not_readable')
  if (!facts.isValid) return unchanged({ ...zone, status: 'error' }, 'signatures_invalid')
  return steps[zone.status](zone, facts, now, waits)
}

type Step = (zone: ZoneDnssec, facts: DnssecFacts, now: number, waits: Waits) => NextState

const steps: Record<Exclude<DnssecState, 'disabled'>, Step> = {
  signing: stepSigning,
  pending_ds: (zone, facts, now, waits) => stepSigned(zone, facts, now, waits),
  active: (zone, facts, now, waits) => stepSigned(zone, facts, now, waits),
  pending_disabled: stepDisabling,
  error: stepError,
}

/** Waits until the signed zone is served everywhere and no cache has it unsigned. */
function stepSigning(zone: ZoneDnssec, facts: DnssecFacts, now: number, waits: Waits): NextState {
  const keys = introduceServed(zone.keys, facts, now)
  const introduced = keys.map((key) => key.introduced)
  if (introduced.includes(undefined)) return unchanged({ ...zone, keys }, 'name_servers')
  const due = Math.max(...(introduced as number[])) + waits.introduce(facts)
  if (now < due) return unchanged({ ...zone, keys }, 'caches', due)
  const active = keys.map((key): ZoneKey => ({ ...key, state: 'active' }))
  return stepSigned({ ...zone, status: 'pending_ds', keys: active }, facts, now, waits)
}

const introduceServed = (keys: readonly ZoneKey[], { isServed }: DnssecFacts, now: number): ZoneKey[] =>
  keys.map((key) => (key.introduced === undefined && isServed ? { ...key, introduced: now } : key))

/** `pending_ds` and `active`, which differ only by the DS records at the parent, and a rollover in either of them. */
function stepSigned(zone: ZoneDnssec, facts: DnssecFacts, now: number, waits: Waits): NextState {
  const { status, reason } = dsStatus(zone, facts.parent)
  const rolled = rollOver({ ...zone, status }, facts, now, waits)
  return { ...rolled, reason: reason ?? rolled.reason }
}

type DsStatus = { readonly status: DnssecState; readonly reason?: DnssecReason }

/** Returns the state that the DS records at the parent mean; the same as before while they are unsettled. */
function dsStatus({ status, keys }: ZoneDnssec, parent: ParentFacts | undefined): DsStatus {
  const waiting = status === 'pending_ds' ? 'ds_missing' : undefined
  if (!parent) return { status, ...(waiting && { reason: 'parent_unavailable' }) }
  if (!parent.isSettled) return { status, ...(waiting && { reason: waiting }) }
  const ours = new Set(keys.filter(({ state }) => state !== 'removed').map(({ id }) => id))
  if (parent.dsEverywhere.some((id) => ours.has(id))) return { status: 'active' }
  if (!parent.hasDs)
    return { status: 'pending_ds', reason: status === 'active' ? 'ds_removed' : 'ds_missing' }
  // Validating resolvers fail: no DS record matches a key of the zone.
  if (parent.dsAnywhere.length === 0) return { status: 'error', reason: 'ds_mismatch' }
  return { status, ...(waiting && { reason: waiting }) }
}

/** A new key becomes active when it is in every cache, the old ones retire, and are removed when no cache has their DS records. */
function rollOver(zone: ZoneDnssec, facts: DnssecFacts, now: number, waits: Waits): NextState {
  const served = introduceServed(zone.keys, facts, now)
  const pending = served.filter(({ state }) => state === 'introduced')
  if (pending.length > 0) {
    if (pending.some(({ introduced }) => introduced === undefined))
      return unchanged({ ...zone, keys: served }, 'name_servers')
    const due = Math.max(...pending.map(({ introduced }) => introduced!)) + waits.introduce(facts)
    if (now < due) return unchanged({ ...zone, keys: served }, 'caches', due)
    const replaced: Record<KeyState, KeyState> = {
      introduced: 'active',
      active: 'retiring',
      retiring: 'retiring',
      removed: 'removed',
    }
    return unchanged(
      { ...zone, keys: served.map((key) => ({ ...key, state: replaced[key.state] })) },
      'ds_missing',
    )
  }
  return retire({ ...zone, keys: served }, facts.parent, now, waits)
}

function retire(zone: ZoneDnssec, parent: ParentFacts | undefined, now: number, waits: Waits): NextState {
  const keys = zone.keys.map((key) => noteDs(key, zone, parent, now))
  const retiring = keys.filter(({ state }) => state === 'retiring')
  if (retiring.length === 0) return unchanged({ ...zone, keys })
  if (!parent || retiring.some(({ retired }) => retired === undefined))
    return unchanged({ ...zone, keys }, parent ? 'ds_missing' : 'parent_unavailable')
  const due = Math.max(...retiring.map(({ retired }) => retired!)) + waits.retire(parent)
  if (now < due) return unchanged({ ...zone, keys }, 'ds_caches', due)
  const removed = keys.map((key): ZoneKey => (key.state === 'retiring' ? { ...key, state: 'removed' } : key))
  return unchanged({ ...zone, keys: removed })
}

/** Notes since when the parent has the DS record of an active key, and no longer has that of a retiring one. */
function noteDs(key: ZoneKey, { keys }: ZoneDnssec, parent: ParentFacts | undefined, now: number): ZoneKey {
  if (!parent?.isSettled) return key
  const { dsEverywhere, dsAnywhere, hasDs } = parent
  if (key.state === 'active')
    return { ...key, dsSeen: dsEverywhere.includes(key.id) ? (key.dsSeen ?? now) : undefined }
  if (key.state !== 'retiring') return key
  const isReplaced = keys.some(({ id, state }) => state === 'active' && dsEverywhere.includes(id)) || !hasDs
  const isGone = isReplaced && !dsAnywhere.includes(key.id)
  return { ...key, retired: isGone ? (key.retired ?? now) : undefined }
}

/** Waits until no cache has a DS record, or a key that was validated with a DS record. */
function stepDisabling(zone: ZoneDnssec, facts: DnssecFacts, now: number, waits: Waits): NextState {
  const { parent } = facts
  if (!parent) return unchanged(zone, 'parent_unavailable')
  if (parent.hasDs) {
    if (zone.isRemovalRequested) return unchanged(zone, 'ds_present')
    return stepSigned({ ...zone, status: 'active' }, facts, now, waits)
  }
  if (!parent.isSettled) return unchanged(zone, 'parent_unavailable')
  const absent = { ...zone, isRemovalRequested: false }
  const due = unsignedAfter(facts, parent, waits)
  // The last word is an answer of the parent from after the wait.
  if (due !== undefined && (now < due || parent.checked < due)) return unchanged(absent, 'ds_caches', due)
  return unchanged({ ...absent, ...disabled(zone) })
}

/** Returns when the signatures of a zone without DS records may be removed; undefined if it never had one. */
export function unsignedAfter(
  facts: Pick<DnssecFacts, 'keyTtl' | 'propagation'>,
  parent: ParentFacts,
  waits: Waits = defaultWaits,
): number | undefined {
  return parent.dsLastSeen === undefined ? undefined : parent.dsLastSeen + waits.unsign(facts, parent)
}

/** Returns the zone without DNSSEC: all keys removed. */
export const disabled = ({ keys }: ZoneDnssec): ZoneDnssec => ({
  status: 'disabled',
  isRemovalRequested: false,
  keys: keys.map((key) => ({ ...key, state: 'removed' })),
})

/** The cause is gone, as far as keys and signatures are concerned: the state follows from the keys and the parent. */
function stepError(zone: ZoneDnssec, facts: DnssecFacts, now: number, waits: Waits): NextState {
  const isNew = zone.keys.every(({ state }) => state === 'introduced' || state === 'removed')
  if (isNew) return stepSigning({ ...zone, status: 'signing' }, facts, now, waits)
  const { parent } = facts
  const isMismatched = parent !== undefined && parent.hasDs && parent.dsAnywhere.length === 0
  if (isMismatched) return unchanged(zone, 'ds_mismatch')
  return stepSigned({ ...zone, status: 'pending_ds' }, facts, now, waits)
}

/** The request of CDS and CDNSKEY to the parent: DS records of these keys, their removal, or no request. */
export function parentRequestOf({
  status,
  keys,
}: Pick<ZoneDnssec, 'status'> & { readonly keys: readonly Pick<ZoneKey, 'id' | 'state'>[] }):
  | { readonly request: 'keys'; readonly ids: readonly number[] }
  | { readonly request: 'delete' }
  | { readonly request: 'none' } {
  if (status === 'pending_disabled') return { request: 'delete' }
  const ids = keys.filter(({ state }) => state === 'active').map(({ id }) => id)
  return ids.length === 0 || status === 'disabled' ? { request: 'none' } : { request: 'keys', ids }
}

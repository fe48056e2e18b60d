// The operations of DNSSEC: enable, get, roll over, disable. They store the request; the loop of evaluate-dnssec.ts
// moves the state when caches and the parent allow it.
import type { disableDnssecRoute, enableDnssecRoute, Dnssec } from '@pharos/contract/dns/dnssec'
import type { ProblemError } from '@pharos/contract/problem'
import type { BodyOf, QueryOf } from '@pharos/contract/route'
import { auditOf, writeAudit } from '../../db/audit.ts'
import type { Postgres, Trx } from '../../db/postgres.ts'
import { runChange, type ChangeAnswer, type ChangeResult } from '../../db/run-change.ts'
import { requireMatch } from '../../operation/etag.ts'
import { actorName, type Operation } from '../../operation/operation.ts'
import { parseRdata, RdataError } from '../../net/dns/rdata/rdata.ts'
import { recordType } from '../../net/dns/type.ts'
import { errorAt, fail, failWith, invalid } from '../../runtime/error.ts'
import type { KeyRing } from '../../runtime/secrets.ts'
import { algorithmNames, type Algorithm } from '../sign/algorithm.ts'
import { keyFlags } from '../sign/dnskey.ts'
import { importSigningKey, KeyImportError } from '../sign/signing-key.ts'
import { auditOthers, besideOthers, updateDelegation } from '../zone/delegate-zone.ts'
import { getZoneOf, lockZoneOf, requirePrimary } from '../zone/find-zone.ts'
import type { EnableDnssec } from '../zone/create-zone.ts'
import { requestDelegationCheck } from '../zone/zone.store.ts'
import { shownZoneName } from '../zone/zone-name.ts'
import type { Zone } from '../zone/zone.ts'
import {
  insertKey,
  listTags,
  readDnssec,
  saveDnssecOptions,
  saveState,
  type StoredDnssec,
} from './dnssec.store.ts'
import { createKey, sealKey, type NewKey } from './key.ts'
import { dnssecEtag, presentDnssec, withoutNewKeys } from './present-dnssec.ts'
import { disabled, type Waits } from '../sign/key-state.ts'

export type DnssecDeps = {
  readonly postgres: Postgres
  readonly ring: KeyRing
  readonly now: () => Date
  readonly waits?: Waits
}

type EnableBody = BodyOf<typeof enableDnssecRoute>

const algorithmOf = (name: string): Algorithm =>
  Number(Object.entries(algorithmNames).find(([, known]) => known === name)![0]) as Algorithm

/**
 * Returns the state with the DS records. Answers 200 without a change if DNSSEC is already enabled with these options;
 * starts a rollover if the algorithm differs.
 */
export function enableDnssec(
  deps: DnssecDeps,
  operation: Operation,
  text: string,
  body: EnableBody | undefined,
): Promise<ChangeAnswer<Dnssec>> {
  const areKeysGiven = body?.keys !== undefined
  return change(
    deps,
    operation,
    text,
    { action: 'dnssec.enable', areKeysGiven },
    async (trx, zone, before) => {
      const { nsec3 = before.options.nsec3 ?? false, cds = before.options.cds ?? true } = body ?? {}
      const algorithm = body?.algorithm === undefined ? undefined : algorithmOf(body.algorithm)
      const options = { nsec3, cds }
      if (before.status === 'disabled') {
        // External signers do not serve these signatures, so the state would wait forever.
        if (before.signer === 'external')
          throw fail('conflict', 'signedElsewhere', { zone: shownZoneName(zone.name) })
        const keys = body?.keys && importKeys(deps.ring, zone.id, body.keys)
        await startSigning(deps, trx, zone.id, { algorithm: algorithm ?? 13, keys, ...options })
        return 202
      }
      const isSame = (before.options.nsec3 ?? false) === nsec3 && (before.options.cds ?? true) === cds
      const isOtherAlgorithm =
        algorithm !== undefined &&
        before.keys.every((key) => key.algorithm !== algorithm || key.state === 'retiring')
      const isCancelled = before.status === 'pending_disabled'
      if (isSame && !isOtherAlgorithm && !isCancelled) return 200
      if (isOtherAlgorithm) await addKey(deps, trx, zone, before, algorithm)
      await saveDnssecOptions(trx, zone.id, options)
      await requestDelegationCheck(trx, zone.id)
      // The next evaluation finds out whether the parent has the DS record.
      const status = isCancelled ? 'pending_ds' : before.status
      await saveState(
        trx,
        before,
        { ...before, status, isRemovalRequested: false, reason: undefined, due: deps.now() },
        true,
      )
      return 202
    },
  )
}

type SigningRequest = {
  readonly algorithm: Algorithm
  /** Imported keys, instead of a new one. */
  readonly keys?: readonly NewKey[] | undefined
  readonly nsec3?: boolean
  readonly cds?: boolean
}

/** Throws `invalid` with every key that cannot be imported. */
function importKeys(
  ring: KeyRing,
  zoneId: number,
  imported: NonNullable<NonNullable<EnableBody>['keys']>,
): NewKey[] {
  const errors: ProblemError[] = []
  const keys = imported.flatMap(({ dnskey, private_key: privateKey }, index) => {
    try {
      return [
        sealKey(ring, zoneId, importSigningKey('csk', parseRdata(recordType.DNSKEY, dnskey), privateKey)),
      ]
    } catch (error) {
      if (!(error instanceof KeyImportError || error instanceof RdataError || error instanceof RangeError))
        throw error
      errors.push(errorAt(['body', 'keys', index], 'dnssecKey', { reason: error.message }))
      return []
    }
  })
  if (errors.length > 0) throw failWith('invalid', errors)
  const isComplete = keys.some(({ flags }) => (flags & keyFlags.secureEntryPoint) !== 0)
  if (!isComplete) throw invalid(['body', 'keys'], 'dnssecKey', { reason: 'one key needs the flags 257' })
  if (new Set(keys.map(({ algorithm, tag }) => `${algorithm} ${tag}`)).size < keys.length)
    throw invalid(['body', 'keys'], 'dnssecKey', { reason: 'two keys have the same algorithm and tag' })
  return keys
}

/** Creates the key of a zone without DNSSEC and has it signed; also for a zone that is being created. */
async function startSigning(
  { ring, now }: Pick<DnssecDeps, 'ring' | 'now'>,
  trx: Trx,
  zoneId: number,
  { algorithm, keys, nsec3 = false, cds = true }: SigningRequest,
): Promise<StoredDnssec> {
  const before = await readDnssec(trx, zoneId)
  const used = keys ?? [createKey(ring, zoneId, algorithm, await listTags(trx, zoneId))]
  for (const key of used) await insertKey(trx, zoneId, key)
  await saveDnssecOptions(trx, zoneId, { nsec3, cds })
  await requestDelegationCheck(trx, zoneId)
  const state = {
    status: 'signing',
    isRemovalRequested: false,
    keys: [],
    reason: 'name_servers',
    due: now(),
  } as const
  await saveState(trx, before, state, true)
  return readDnssec(trx, zoneId)
}

/** Has a zone signed that is being created; returns its keys. */
export const enableForNewZone =
  (deps: Pick<DnssecDeps, 'ring' | 'now'>): EnableDnssec =>
  async (trx, zone, { algorithm }) => {
    if ((await readDnssec(trx, zone.id)).signer === 'external') return []
    const dnssec = await startSigning(deps, trx, zone.id, { algorithm: algorithmOf(algorithm) })
    return presentDnssec(dnssec, deps.now()).keys
  }

/** Throws `conflict` if a rollover is under way. */
async function addKey(
  { ring }: DnssecDeps,
  trx: Trx,
  zone: Zone,
  before: StoredDnssec,
  algorithm: Algorithm,
): Promise<void> {
  if (before.keys.some(({ state }) => state !== 'active'))
    throw fail('conflict', 'rolloverInProgress', { zone: shownZoneName(zone.name) })
  await insertKey(trx, zone.id, createKey(ring, zone.id, algorithm, await listTags(trx, zone.id)))
}

/** Adds a key that replaces the current ones. Throws `conflict` if DNSSEC is not enabled, or a key is being replaced already. */
export function rollOverDnssecKey(
  deps: DnssecDeps,
  operation: Operation,
  text: string,
): Promise<ChangeAnswer<Dnssec>> {
  return change(deps, operation, text, { action: 'dnssec.rollover' }, async (trx, zone, before) => {
    if (before.status !== 'active' && before.status !== 'pending_ds')
      throw fail('conflict', 'dnssecNotEnabled', { zone: shownZoneName(zone.name), status: before.status })
    await addKey(deps, trx, zone, before, before.keys[0]!.algorithm as Algorithm)
    await saveState(trx, before, { ...before, reason: 'name_servers', due: deps.now() }, true)
    await requestDelegationCheck(trx, zone.id)
    return 202
  })
}

/**
 * Throws `ds_present` if the parent has DS records, unless their removal is requested or `force` is set. Then schedules
 * an immediate check of the parent, so that a repeated request sees removed DS records.
 */
export async function disableDnssec(
  deps: DnssecDeps,
  operation: Operation,
  text: string,
  { force = false, request_removal: isRemovalRequested = false }: QueryOf<typeof disableDnssecRoute>,
): Promise<ChangeAnswer<Dnssec | null>> {
  let refused: number | undefined
  const answer = change(deps, operation, text, { action: 'dnssec.disable' }, async (trx, zone, before) => {
    const { parent } = before
    if (before.status === 'disabled') return 204
    // Without an answer of the parent it is unknown whether DS records exist: the state waits for the answer.
    const neverHadDs =
      parent !== undefined && parent.isSettled && !parent.hasDs && parent.dsLastSeen === undefined
    if (force || neverHadDs) {
      await saveState(trx, before, { ...disabled(before), reason: undefined, due: undefined }, true)
      return 204
    }
    if (parent?.hasDs && !isRemovalRequested) {
      refused = zone.id
      throw fail('ds_present', 'zone', { zone: shownZoneName(zone.name) })
    }
    const reason = parent?.hasDs ? 'ds_present' : 'parent_unavailable'
    const keys = before.keys.map((key) =>
      key.state === 'introduced' ? { ...key, state: 'active' as const } : key,
    )
    const state = {
      status: 'pending_disabled',
      isRemovalRequested: parent?.hasDs ?? false,
      keys,
      reason,
      due: deps.now(),
    } as const
    await saveState(trx, before, state, true)
    await requestDelegationCheck(trx, zone.id)
    return 202
  })
  try {
    return await answer
  } catch (error) {
    const { teamId } = operation.actor
    if (refused !== undefined)
      await deps.postgres.inTeam(teamId, (trx) => requestDelegationCheck(trx, refused!))
    throw error
  }
}

export async function getDnssec(
  { postgres, now, waits }: DnssecDeps,
  operation: Operation,
  text: string,
): Promise<ChangeAnswer<Dnssec>> {
  const { teamId } = operation.actor
  const zone = await getZoneOf(postgres, teamId, text)
  const body = presentDnssec(await postgres.inTeam(teamId, (trx) => readDnssec(trx, zone.id)), now(), waits)
  return { body, etag: dnssecEtag(body) }
}

type Work = (trx: Trx, zone: Zone, before: StoredDnssec) => Promise<200 | 202 | 204>

/** Runs a change of a primary zone that is locked, with its audit entry. */
function change(
  deps: DnssecDeps,
  operation: Operation,
  text: string,
  { action, areKeysGiven = false }: { readonly action: string; readonly areKeysGiven?: boolean },
  work: Work,
): Promise<ChangeAnswer<Dnssec>> {
  return runChange(deps.postgres, operation, async (trx): Promise<ChangeResult<Dnssec>> => {
    const zone = await lockZoneOf(trx, operation.actor.teamId, text)
    requirePrimary(zone)
    const stored = await readDnssec(trx, zone.id)
    const before = presentDnssec(stored, deps.now(), deps.waits)
    requireMatch(operation.ifMatch, dnssecEtag(before))
    const status = await work(trx, zone, stored)
    const body = presentDnssec(await readDnssec(trx, zone.id), deps.now(), deps.waits)
    const options = { author: { actor: actorName(operation.actor), what: action }, now: deps.now() }
    const others = status === 200 ? [] : await updateDelegation(trx, zone, options)
    await auditOthers(trx, operation, others)
    const target = `zone:${zone.id}`
    await writeAudit(trx, {
      ...auditOf(operation),
      action,
      target,
      before: auditedOf(before),
      after: auditedOf(body),
    })
    // The plan of a removal shows the zone without keys; its answer has no body.
    if (status === 204 && !operation.dryRun) return { body: null as never, before, status }
    const beside = besideOthers(others)
    const shown = operation.dryRun && !areKeysGiven ? withoutNewKeys(body, before) : body
    return { body: shown, before, ...beside, etag: dnssecEtag(body), status }
  })
}

const auditedOf = ({ status, algorithm, nsec3, keys }: Dnssec): object => ({
  status,
  algorithm,
  nsec3,
  key_tags: keys.map(({ key_tag: tag }) => tag),
})

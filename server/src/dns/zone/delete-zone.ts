// Deletes and restores zones. A deleted zone keeps its row for seven days: it is the evidence for removing the zone
// from the catalog of the name servers, and the source of a restore.
import type { deleteZoneRoute, Zone as Wire } from '@pharos/contract/dns/zone'
import type { QueryOf } from '@pharos/contract/route'
import { auditOf, writeAudit } from '../../db/audit.ts'
import type { Trx } from '../../db/postgres.ts'
import { runOwnerChange, type ChangeAnswer } from '../../db/run-change.ts'
import { wake } from '../../db/wake.ts'
import { actorName, type Operation } from '../../operation/operation.ts'
import { requireMatch } from '../../operation/etag.ts'
import { fail, type Failure, invalid, notFound } from '../../runtime/error.ts'
import { changeContent } from './change-content.ts'
import { claimName } from './claim-zone.ts'
import type { ZoneDeps } from './create-zone.ts'
import {
  auditOthers,
  besideOthers,
  delegateNewZone,
  planDelegations,
  planTakeover,
  removeDelegation,
  type OtherZone,
} from './delegate-zone.ts'
import { lockZoneOf, parseZoneRef } from './find-zone.ts'
import { parseZoneInclude, presentZone, zoneEtag, type ZoneIncludeQuery } from './present-zone.ts'
import { readAllSets } from './zone-change.store.ts'
import {
  claimWaiting,
  countZones,
  isNameTaken,
  lockZone,
  markZoneDeleted,
  markZoneRestored,
  readDefaults,
  readShownZone,
  requestDelegationCheck,
} from './zone.store.ts'
import { findZoneName } from '../../net/dns/unicode-name.ts'
import { shownZoneName } from './zone-name.ts'
import { resolveSettings, withoutLimits, type Zone } from './zone.ts'

/**
 * In a transaction of the owner: the name goes to the zone of another team that waits for it. Throws 409 `delegated`
 * and `delete_protected`. Schedules an immediate check of the parent of a delegated zone, so that a repeated request
 * sees a removed delegation.
 */
export async function deleteZone(
  { postgres, now }: Pick<ZoneDeps, 'postgres' | 'now'>,
  operation: Operation,
  text: string,
  { confirm, force }: QueryOf<typeof deleteZoneRoute>,
): Promise<ChangeAnswer<null>> {
  const { teamId } = operation.actor
  let refused: number | undefined
  const answer = runOwnerChange(postgres.owner, operation, async (trx) => {
    const zone = await lockZoneOf(trx, teamId, text)
    requireMatch(operation.ifMatch, zoneEtag(zone))
    const name = shownZoneName(zone.name)
    if (findZoneName(confirm) !== zone.name) throw invalid(['query', 'confirm'], 'confirm', { zone: name })
    const defaults = await readDefaults(trx)
    const before = presentZone(await readShownZone(trx, teamId, zone.id), defaults, parseZoneInclude())
    if (resolveSettings(zone.settings, defaults).protect_delete)
      throw fail('delete_protected', 'zone', { zone: name })
    if (!force && isDelegated(before)) {
      refused = zone.id
      throw delegatedFailure(before)
    }
    await markZoneDeleted(trx, zone, actorName(operation.actor))
    const others = await removeDelegation(trx, zone, force, authorOf(operation, 'zone.delete', now()))
    await auditOthers(trx, operation, others)
    await claimWaiting(trx, zone.name)
    await note(trx, operation, zone, 'zone.delete')
    return { body: null, before, ...besideOthers(others) }
  })
  try {
    return await answer
  } catch (error) {
    if (refused !== undefined) await requestDelegationCheck(postgres.owner, refused)
    throw error
  }
}

const isDelegated = ({ nameservers: { delegation_status: status } }: Wire): boolean =>
  status === 'delegated' || status === 'partial'

function delegatedFailure({ name, nameservers }: Wire): Failure {
  const { assigned, delegated } = nameservers
  const servers = delegated.filter((server) => assigned.includes(server))
  return fail('delegated', 'zone', { zone: name, servers: servers.length > 0 ? servers : delegated })
}

/** Returns the zone as GET does. A zone that is not deleted stays unchanged. */
export function restoreZone(
  deps: ZoneDeps,
  operation: Operation,
  text: string,
  query: ZoneIncludeQuery = {},
): Promise<ChangeAnswer<Wire>> {
  const { teamId } = operation.actor
  return runOwnerChange(deps.postgres.owner, operation, async (trx) => {
    const zone = await lockZone(trx, teamId, parseZoneRef(text))
    if (!zone) throw notFound('zone')
    requireMatch(operation.ifMatch, zoneEtag(zone))
    const defaults = await readDefaults(trx)
    const others = zone.deleted === null ? [] : await restore(deps, trx, operation, zone, defaults.zonesMax)
    const shown = await readShownZone(trx, teamId, zone.id)
    const body = presentZone(shown, defaults, parseZoneInclude(query.include))
    const before = zone.deleted === null ? { before: body } : {}
    return { body, ...before, ...besideOthers(others), etag: zoneEtag(shown, body) }
  })
}

async function restore(
  deps: ZoneDeps,
  trx: Trx,
  operation: Operation,
  zone: Zone,
  zonesMax: number,
): Promise<readonly OtherZone[]> {
  const { teamId } = operation.actor
  if ((await countZones(trx, teamId)) >= zonesMax) throw fail('quota_exceeded', 'zones', { limit: zonesMax })
  if (await isNameTaken(trx, teamId, zone.name))
    throw fail('exists', 'zone', { zone: shownZoneName(zone.name) })
  const { isClaimed } = await claimName(deps, trx, teamId, zone.name, ['path', 'zone'])
  await markZoneRestored(trx, zone, isClaimed)
  await note(trx, operation, zone, 'zone.restore')
  if (!isClaimed) return []
  const restored = (await lockZone(trx, teamId, { id: zone.id }))!
  const others = await connect(trx, restored, authorOf(operation, 'zone.restore', deps.now()))
  await auditOthers(trx, operation, others)
  return others
}

const authorOf = (operation: Operation, what: string, now: Date) => ({
  author: { actor: actorName(operation.actor), what },
  now,
})

/** Takes over names that were written above in the meantime, and delegates to zones that were created below. */
async function connect(
  trx: Trx,
  zone: Zone,
  options: ReturnType<typeof authorOf>,
): Promise<readonly OtherZone[]> {
  const takeover = await planTakeover(trx, zone, await readAllSets(trx, zone.id))
  const desired = [...takeover.moved, ...(await planDelegations(trx, zone))]
  const { zone: connected } = await changeContent(trx, zone, desired, {
    ...options,
    settings: { default_ttl: 3600, minimum_ttl: 0 },
    limits: withoutLimits,
  })
  return delegateNewZone(trx, connected, takeover, options)
}

async function note(
  trx: Trx,
  operation: Operation,
  { id, name, recordCount }: Zone,
  action: 'zone.delete' | 'zone.restore',
): Promise<void> {
  const values = { name: shownZoneName(name), record_count: recordCount }
  const [before, after] = action === 'zone.delete' ? [values, null] : [null, values]
  await writeAudit(trx, { ...auditOf(operation), action, target: `zone:${id}`, before, after })
  await wake(trx, 'dns')
}

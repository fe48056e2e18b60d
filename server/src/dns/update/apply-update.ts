// Applies an UPDATE that is signed with a TSIG key of a team: prerequisites and changes in one transaction, by the rules of record sets. A
// message has no room for a reason, so the refusals are logged.
import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Postgres } from '../../db/postgres.ts'
import type { Message } from '../../net/dns/message.ts'
import { rcode } from '../../net/dns/message.ts'
import type { ZoneName } from '../../net/dns/name.ts'
import { isNewer, type Serial } from '../../net/dns/serial.ts'
import { isAllowedFrom } from '../../limit/allowed-from.ts'
import { actorLimitsOf } from '../../limit/resources.ts'
import { admitsName, admitsType } from '../../limit/zone-limit.ts'
import type { ZoneLimit } from '../../operation/limits.ts'
import { Failure } from '../../runtime/error.ts'
import type { RequestPeer } from '../answer/zone-source.ts'
import { editRecordSets, type RecordSetDeps } from '../recordset/change-recordsets.ts'
import { automaticPtr, managedType } from '../zone/recordset.ts'
import { recordType } from '../../net/dns/type.ts'
import { readNames } from '../zone/zone-change.store.ts'
import { findPublication, findUpdateKey } from './update.store.ts'
import {
  applyUpdate,
  decodeUpdate,
  namesOfUpdate,
  requirePrerequisites,
  UpdateError,
  type DnsUpdate,
} from './update.ts'

export type DnsUpdateDeps = RecordSetDeps & {
  /** Called for every update that is refused, with the reason; not for prerequisites, which clients use to ask. */
  readonly onRefused: (zone: string, peer: RequestPeer, reason: unknown) => void
}

/** Returns the RCODE of the answer; never rejects. */
export async function updateZone(deps: DnsUpdateDeps, message: Message, peer: RequestPeer): Promise<number> {
  try {
    await apply(deps, message, peer)
    return rcode.NOERROR
  } catch (error) {
    const code = rcodeOf(error)
    if (!isPrerequisite.has(code)) deps.onRefused(message.questions[0]?.name ?? '', peer, error)
    return code
  }
}

/** nsupdate sends a request again after 3 seconds. */
const servedWithinMs = 2_500
const servedEveryMs = 20

/**
 * Waits until this server serves the change of a zone, as servers do that write a zone before they answer. A publication that takes longer is not waited
 * for: the change is stored.
 */
export async function untilServed(
  postgres: Pick<Postgres, 'owner'>,
  name: ZoneName,
  servedSerial: () => Serial | undefined,
): Promise<void> {
  for (
    const endMs = performance.now() + servedWithinMs;
    performance.now() < endMs;
    await sleep(servedEveryMs)
  ) {
    const publication = await findPublication(postgres, name)
    if (!publication) return
    const serial = servedSerial()
    const isCurrent =
      serial !== undefined && (serial === publication.serial || isNewer(serial, publication.serial))
    if (publication.isPublished && isCurrent) return
  }
}

const isPrerequisite = new Set<number>([rcode.YXDOMAIN, rcode.YXRRSET, rcode.NXDOMAIN, rcode.NXRRSET])

/** A zone of another team is no zone of this server for the key. */
function rcodeOf(error: unknown): number {
  if (error instanceof UpdateError) return error.rcode
  if (!(error instanceof Failure)) return rcode.SERVFAIL
  if (error.code === 'not_found') return rcode.NOTAUTH
  return error.code === 'unavailable' || error.code === 'internal' ? rcode.SERVFAIL : rcode.REFUSED
}

/** Also checks prerequisites: their answers would reveal the rest of the zone to a limited key. */
function requireNames(limit: ZoneLimit | null, { prerequisites, changes }: DnsUpdate): void {
  if (limit === null) return
  const isAdmitted = (one: DnsUpdate['prerequisites'][number] | DnsUpdate['changes'][number]): boolean =>
    admitsName(limit, one.name) && ('type' in one ? admitsType(limit, one.type) : limit.types === null)
  const outside = [...prerequisites, ...changes].find((one) => !isAdmitted(one))
  if (outside) throw new UpdateError(rcode.REFUSED, `${outside.name}: the key is limited to ${limit.text}`)
}

async function apply(deps: DnsUpdateDeps, message: Message, { address, key }: RequestPeer): Promise<void> {
  if (key === undefined) throw new UpdateError(rcode.REFUSED, 'the request has no TSIG')
  const found = await findUpdateKey(deps.postgres, key)
  if (found === undefined) throw new UpdateError(rcode.REFUSED, 'the key may not update')
  const { team_id: teamId, networks } = found
  if (!isAllowedFrom(networks, address))
    throw new UpdateError(rcode.REFUSED, 'the key may not be used from this address')
  const limits = actorLimitsOf(found.limits)
  const update = decodeUpdate(message)
  const operation = {
    actor: { kind: 'tsig_key', tokenId: key, teamId, isStaff: false, limits },
    requestId: randomUUID(),
    address,
    dryRun: false,
    ifMatch: null,
    idempotency: null,
  } as const
  await editRecordSets(
    deps,
    operation,
    update.zone,
    'recordset.change',
    async (trx, { locked, zone, settings, limit }) => {
      requireNames(limit, update)
      const stored = await readNames(trx, locked.id, namesOfUpdate(update))
      requirePrerequisites(update, stored)
      return applyUpdate(update, stored).map(({ name, type, ttl, rdata }) => {
        const refusal = managedType(type, name, zone, settings)
        if (refusal) throw refusal
        const withPtr =
          (type === recordType.A || type === recordType.AAAA) &&
          !name.startsWith('*.') &&
          automaticPtr(settings)
        // A client does not know the lowest TTL.
        const raised = Math.max(ttl, settings.minimum_ttl)
        return { name, type, ttl: raised, rdata, source: 'user' as const, loc: ['update'], withPtr }
      })
    },
  )
}

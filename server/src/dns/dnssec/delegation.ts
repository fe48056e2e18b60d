// The delegation at the parent of a zone: every server is queried for the NS and DS records of the zone. A server that
// does not answer never counts as a server without DS records.
import type { DelegationStatus } from '@pharos/contract/dns/zone'
import { compareOctets, nameFromWire, type DomainName, type ZoneName } from '../../net/dns/name.ts'
import type { Message } from '../../net/dns/message.ts'
import { sameRdata, uniqueRdata } from '../../net/dns/record.ts'
import { recordType } from '../../net/dns/type.ts'
import { askServer, findParent, questionFor, type FindOptions, type ParentServer } from './find-parent.ts'

/** The answer of one server of the parent; undefined if it did not answer both questions. */
export type ServerView =
  | {
      readonly ns: readonly DomainName[]
      readonly nsTtl: number
      readonly ds: readonly Uint8Array[]
      readonly dsTtl: number
    }
  | undefined

export type Delegation = {
  readonly status: DelegationStatus
  readonly ns: readonly DomainName[]
  /** DS records at any server. */
  readonly ds: readonly Uint8Array[]
  readonly isDsEverywhere: boolean
  /** Every server answered, and all have the same DS records. */
  readonly isComplete: boolean
  /** The largest TTLs; undefined without such records. */
  readonly nsTtl: number | undefined
  readonly dsTtl: number | undefined
}

/** Queries every server of the parent. Throws ParentNotFound if they cannot be found. */
export async function checkDelegation(
  options: FindOptions,
  zone: ZoneName,
  assigned: readonly DomainName[],
): Promise<Delegation> {
  const servers = await findParent(options, zone)
  const views = await Promise.all(servers.map((server) => viewOf(options, server, zone)))
  return mergeViews(views, assigned)
}

async function viewOf(
  { ask }: FindOptions,
  { addresses }: ParentServer,
  zone: ZoneName,
): Promise<ServerView> {
  const [ns, ds] = await Promise.all(
    [recordType.NS, recordType.DS].map((type) => askServer(ask, addresses, questionFor(zone, type))),
  )
  if (!ns || !ds || !isFromParent(ds)) return undefined
  const servers = [...ns.authorities, ...ns.answers].filter((record) => isOf(record, zone, recordType.NS))
  const signers = ds.answers.filter((record) => isOf(record, zone, recordType.DS))
  return {
    ns: servers.map(({ rdata }) => nameFromWire(rdata)).sort(),
    nsTtl: Math.max(0, ...servers.map(({ ttl }) => ttl)),
    ds: uniqueRdata(signers.map(({ rdata }) => rdata)),
    dsTtl: Math.max(0, ...signers.map(({ ttl }) => ttl)),
  }
}

/** DS is answered with authority by the parent only (RFC 4035 section 3.1.4.1). */
const isFromParent = ({ aa }: Message): boolean => aa

const isOf = (
  { name, type }: { readonly name: DomainName; readonly type: number },
  zone: DomainName,
  wanted: number,
): boolean => name === zone && type === wanted

/** Combines the answers of the servers. `assigned` are the name servers that the zone should be delegated to. */
export function mergeViews(views: readonly ServerView[], assigned: readonly DomainName[]): Delegation {
  const answered = views.filter((view) => view !== undefined)
  const ns = [...new Set(answered.flatMap((view) => view.ns))].sort()
  const ds = uniqueRdata(answered.flatMap((view) => [...view.ds])).sort(compareOctets)
  const isSame = answered.every((view) => sameRdata(view.ds, answered[0]!.ds))
  const isComplete = answered.length > 0 && answered.length === views.length && isSame
  const largest = (ttls: readonly number[]): number | undefined =>
    ttls.length > 0 ? Math.max(...ttls) : undefined
  return {
    status: answered.length === 0 ? 'unavailable' : statusOf(ns, assigned),
    ns,
    ds,
    isDsEverywhere: isComplete && ds.length > 0,
    isComplete,
    nsTtl: largest(answered.filter((view) => view.ns.length > 0).map(({ nsTtl }) => nsTtl)),
    dsTtl: largest(answered.filter((view) => view.ds.length > 0).map(({ dsTtl }) => dsTtl)),
  }
}

function statusOf(ns: readonly DomainName[], assigned: readonly DomainName[]): DelegationStatus {
  if (ns.length === 0) return 'absent'
  const ours = ns.filter((name) => assigned.includes(name)).length
  if (ours === 0) return 'elsewhere'
  return ours === ns.length && ours === assigned.length ? 'delegated' : 'partial'
}

// The ownership: every prefix, announcement and ASN of every team, as one value in memory, since the matcher queries it millions
// of times. It is loaded as a whole and immutable; a revision in the database shows when it is stale.
import { createPrefixMap } from '../../net/prefix-map.ts'
import type { PrefixMap } from '../../net/prefix-map.ts'
import type { Db, Trx } from '../../db/postgres.ts'
import type { AsnHolding, Holding } from './holding.ts'
import { getRevision, listHoldings, lockRevision } from './ownership.store.ts'

export type Ownership = {
  readonly revision: number
  readonly holdings: PrefixMap<Holding>
  /** The team's own entry for an ASN. */
  findAsn(teamId: number, asn: number): AsnHolding | undefined
}

export function createOwnership(
  revision: number,
  holdings: readonly Holding[],
  asns: readonly AsnHolding[],
): Ownership {
  const byTeamAndAsn = new Map(asns.map((asn) => [`${asn.teamId} ${asn.asn}`, asn]))
  return {
    revision,
    holdings: createPrefixMap(holdings.map((holding) => [holding.prefix, holding] as const)),
    findAsn: (teamId, asn) => byTeamAndAsn.get(`${teamId} ${asn}`),
  }
}

export type OwnershipCache = {
  /** Reloads it if it is stale, without a lock: called first, so that `lock` has little to do. */
  refresh(db: Db): Promise<void>
  /**
   * Returns the ownership, locked until the transaction ends: concurrent changes wait. This ensures that an event that is
   * matched now and a resource that is added now do not miss each other.
   */
  lock(trx: Trx): Promise<Ownership>
}

/** One per process: a million holdings take about a second to load and 300 MB. */
export function createOwnershipCache(): OwnershipCache {
  let known: Ownership | undefined
  return {
    async refresh(db) {
      if ((await getRevision(db)) === known?.revision) return
      known = await db
        .transaction()
        .setIsolationLevel('repeatable read')
        .setAccessMode('read only')
        .execute(async (trx) => loadOwnership(trx, await getRevision(trx)))
    },
    async lock(trx) {
      const revision = await lockRevision(trx)
      if (revision !== known?.revision) known = await loadOwnership(trx, revision)
      return known
    },
  }
}

/** All holdings with their revision; undefined if that is `known`. */
export async function readHoldings(
  db: Db,
  known: number | undefined,
): Promise<{ readonly revision: number; readonly holdings: readonly Holding[] } | undefined> {
  if ((await getRevision(db)) === known) return undefined
  return await db
    .transaction()
    .setIsolationLevel('repeatable read')
    .setAccessMode('read only')
    .execute(async (trx) => {
      const revision = await getRevision(trx)
      return { revision, holdings: (await listHoldings(trx)).holdings }
    })
}

async function loadOwnership(trx: Trx, revision: number): Promise<Ownership> {
  const { holdings, asns } = await listHoldings(trx)
  return createOwnership(revision, holdings, asns)
}

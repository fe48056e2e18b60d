// Looks again, once a day, at what the teams have proven: what is still there lasts on, what is gone ends with its time. It
// works for all teams, as the owner of the tables, and one ASN that fails does not stop the others.
import { asnProofMethods } from '@pharos/contract/inventory'
import { checkMethods, readClaim, saveFindings, type AsnProofDeps } from './asn-proof.ts'
import { deleteOldProofs, listDueAsns, type ProvenAsn } from './asn-proof.store.ts'
import { dayMs, type Settlement } from './asn-verification.ts'

const pageSize = 100
const atOnce = 4
/** How long what was seen of an ASN that the team did not prove is kept. */
const keptMs = 30 * dayMs

export type Recheck = {
  readonly checked: number
  /** They were proven, and are not any more. */
  readonly expired: number
  readonly failed: number
}

/** One pass over everything that is due. Of two processes that do it at once, one does it in vain. */
export async function recheckAsns(deps: AsnProofDeps, signal: AbortSignal): Promise<Recheck> {
  await deleteOldProofs(deps.postgres.owner, new Date(deps.now().getTime() - keptMs))
  let [checked, expired, failed, after] = [0, 0, 0, 0]
  for (;;) {
    signal.throwIfAborted()
    const now = deps.now()
    const due = await listDueAsns(deps.postgres.owner, new Date(now.getTime() - dayMs), now, {
      after,
      limit: pageSize,
    })
    if (due.length === 0) return { checked, expired, failed }
    after = due.at(-1)!.id
    for (const outcome of await recheckAll(deps, due, signal)) {
      checked++
      if (outcome === 'failed') failed++
      else if (outcome?.kind === 'expire') expired++
    }
  }
}

type Outcome = Settlement | undefined | 'failed'

async function recheckAll(
  deps: AsnProofDeps,
  due: readonly ProvenAsn[],
  signal: AbortSignal,
): Promise<Outcome[]> {
  const outcomes: Outcome[] = []
  const waiting = due.values()
  const work = async (): Promise<void> => {
    for (const asn of waiting) outcomes.push(await recheckSafely(deps, asn, signal))
  }
  await Promise.all(Array.from({ length: atOnce }, work))
  return outcomes
}

async function recheckSafely(deps: AsnProofDeps, asn: ProvenAsn, signal: AbortSignal): Promise<Outcome> {
  try {
    return await recheck(deps, asn, signal)
  } catch (error) {
    signal.throwIfAborted()
    deps.onCheckError(error)
    return 'failed'
  }
}

/** The method by which it is verified; the others only where that one is not there, in case one of them is. */
async function recheck(
  deps: AsnProofDeps,
  { teamId, asn, verifiedBy }: ProvenAsn,
  signal: AbortSignal,
): Promise<Settlement | undefined> {
  const { owner } = deps.postgres
  const claim = await owner.transaction().execute((trx) => readClaim(trx, deps, teamId, asn))
  const own = await checkMethods(deps, claim, [verifiedBy], signal)
  const others =
    own.get(verifiedBy)!.state === 'valid'
      ? []
      : await checkMethods(
          deps,
          claim,
          asnProofMethods.filter((method) => method !== verifiedBy),
          signal,
        )
  const by = { teamId, actor: 'pharos' }
  return owner
    .transaction()
    .execute((trx) => saveFindings(trx, teamId, asn, new Map([...own, ...others]), deps.now(), by))
}

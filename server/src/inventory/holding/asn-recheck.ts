// Checks once a day the ASNs that teams have proven: a valid proof is extended, a missing one expires. Works for all
// teams, as the owner of the tables; a failed check does not stop the others.
import { asnProofMethods } from '@pharos/contract/inventory/asn'
import { createDueWorker } from '../../db/due-work.ts'
import { checkMethods, readProofSubject, saveProofResults, type AsnProofDeps } from './asn-proof.ts'
import { deleteOldProofs, listDueAsns, type ProvenAsn } from './asn-proof.store.ts'
import { dayMs, type VerificationChange } from './asn-verification.ts'

const parallel = 4
/** Retention of results for an ASN that the team did not prove. */
const keptMs = 30 * dayMs

export type Recheck = {
  readonly checked: number
  /** ASNs whose verification ended. */
  readonly expired: number
  readonly failed: number
}

/** Checks all due ASNs once. Without a lease: two concurrent processes check an ASN twice, with the same result. */
export async function recheckAsns(deps: AsnProofDeps, signal: AbortSignal): Promise<Recheck> {
  await deleteOldProofs(deps.postgres.owner, new Date(deps.now().getTime() - keptMs))
  const counts = { checked: 0, expired: 0, failed: 0 }
  let after = 0
  const worker = createDueWorker<ProvenAsn>({
    parallel,
    async claim(limit) {
      const now = deps.now()
      const before = new Date(now.getTime() - dayMs)
      const due = await listDueAsns(deps.postgres.owner, before, now, { after, limit })
      after = due.at(-1)?.id ?? after
      return due
    },
    async work(asn) {
      counts.checked++
      if ((await recheck(deps, asn, signal))?.kind === 'expire') counts.expired++
    },
    onError(error) {
      counts.failed++
      if (!signal.aborted) deps.onCheckError(error)
    },
  })
  await worker.drain(signal)
  signal.throwIfAborted()
  return counts
}

/** Checks the method by which the ASN is verified; the others only if that one finds no proof. */
async function recheck(
  deps: AsnProofDeps,
  { teamId, asn, verifiedBy }: ProvenAsn,
  signal: AbortSignal,
): Promise<VerificationChange | undefined> {
  const { owner } = deps.postgres
  const subject = await owner.transaction().execute((trx) => readProofSubject(trx, deps, teamId, asn))
  const own = await checkMethods(deps, subject, [verifiedBy], signal)
  const others =
    own.get(verifiedBy)!.state === 'valid'
      ? []
      : await checkMethods(
          deps,
          subject,
          asnProofMethods.filter((method) => method !== verifiedBy),
          signal,
        )
  const by = { teamId, actor: 'pharos' }
  return owner
    .transaction()
    .execute((trx) => saveProofResults(trx, teamId, asn, new Map([...own, ...others]), deps.now(), by))
}

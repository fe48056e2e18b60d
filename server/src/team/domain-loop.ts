// Checks the domains that are due: pending ones until their record exists, verified ones once a day. Works for all teams, as the
// owner of the tables.
import { createDueWorker } from '../db/due-work.ts'
import { saveCheckResult, type CheckedDomain, type DomainCheckDeps } from './domain-check-result.ts'
import { queryRecord } from './domain-proof.ts'
import { claimDueDomain, releaseDomain, type DueDomain } from './domain.store.ts'

/** Concurrent checks in this process; `claimDueDomain` limits the checks per team. */
const parallel = 32

export type DomainChecks = {
  readonly checked: number
  readonly verified: number
  readonly lost: number
  readonly failed: number
}

/**
 * Checks all due domains, and resolves once all checks have ended: a slow name server delays it by one check. A domain
 * whose check fails with an internal error keeps its lease, so that it is not checked again immediately.
 */
export async function checkDueDomains(deps: DomainCheckDeps, signal: AbortSignal): Promise<DomainChecks> {
  const checks = { checked: 0, verified: 0, lost: 0, failed: 0 }
  const worker = createDueWorker<DueDomain>({
    parallel,
    claim: () => claimDueDomain(deps.postgres.owner, deps.now()),
    async work(due) {
      checks.checked++
      const checked = await check(deps, due, signal)
      if (checked?.kind === 'verify') checks.verified++
      else if (checked?.kind === 'lose') checks.lost++
    },
    onError(error) {
      checks.failed++
      if (!signal.aborted) deps.onCheckError(error)
    },
  })
  await worker.drain(signal)
  signal.throwIfAborted()
  return checks
}

async function check(
  deps: DomainCheckDeps,
  due: DueDomain,
  signal: AbortSignal,
): Promise<CheckedDomain | undefined> {
  const { owner } = deps.postgres
  const record = await queryRecord(deps, due, signal)
  const by = { teamId: due.teamId, actor: 'pharos' }
  const checked = await owner
    .transaction()
    .execute((trx) => saveCheckResult(trx, deps, due, { record, onRequest: false }, by))
  await releaseDomain(owner, due)
  return checked
}

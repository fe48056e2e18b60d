// One turn of the loop that looks at what is due: records that are awaited, and once a day those that have to stay. It works
// for all teams, as the owner of the tables. Any number of processes may do it at once: each takes what the others did not.
import { lookForRecord } from './domain-proof.ts'
import { saveSeen, type Checked, type DomainCheckDeps } from './domain-check.ts'
import { releaseDomain, takeDueDomain, type DueDomain } from './domain.store.ts'

/** Names of slow servers take a place each, of a team only so many: see `takeDueDomain`. */
const atOnce = 32

export type DomainTurn = {
  readonly checked: number
  readonly verified: number
  readonly lost: number
  readonly failed: number
}

/**
 * Looks at what is due until there is nothing left to take; then ends with the looks that go on. So a slow name server
 * keeps the turn for no longer than one look takes, and what became due meanwhile is the next turn's.
 */
export async function checkDueDomains(deps: DomainCheckDeps, signal: AbortSignal): Promise<DomainTurn> {
  const turn = { checked: 0, verified: 0, lost: 0, failed: 0 }
  const going = new Set<Promise<void>>()
  const lookAt = async (due: DueDomain) => count(turn, await checkSafely(deps, due, signal))
  try {
    for (;;) {
      if (going.size >= atOnce) await Promise.race(going)
      signal.throwIfAborted()
      const due = await takeDueDomain(deps.postgres.owner, deps.now())
      if (!due) break
      keep(going, lookAt(due))
    }
  } finally {
    await Promise.all(going)
  }
  return turn
}

function keep(going: Set<Promise<void>>, look: Promise<void>): void {
  const kept = look.finally(() => going.delete(kept))
  going.add(kept)
}

type Outcome = Checked | undefined | 'failed'

function count(turn: { -readonly [K in keyof DomainTurn]: number }, outcome: Outcome): void {
  turn.checked++
  if (outcome === 'failed') turn.failed++
  else if (outcome?.kind === 'verify') turn.verified++
  else if (outcome?.kind === 'lose') turn.lost++
}

/** Never rejects. A row whose check fails by a fault of ours keeps its lease, so that it does not come again in this turn. */
async function checkSafely(deps: DomainCheckDeps, due: DueDomain, signal: AbortSignal): Promise<Outcome> {
  try {
    return await check(deps, due, signal)
  } catch (error) {
    if (!signal.aborted) deps.onCheckError(error)
    return 'failed'
  }
}

async function check(
  deps: DomainCheckDeps,
  due: DueDomain,
  signal: AbortSignal,
): Promise<Checked | undefined> {
  const { owner } = deps.postgres
  const seen = await lookForRecord(deps, due, signal)
  const by = { teamId: due.teamId, actor: 'pharos' }
  const checked = await owner
    .transaction()
    .execute((trx) => saveSeen(trx, deps, due, { seen, byHand: false }, by))
  await releaseDomain(owner, due)
  return checked
}

// Changes of lists without a request: unconfirmed versions are reverted, rules end, and lists of lost prefixes are
// emptied. Each is a new version or a status in the database; scrubbers follow by their own loops.
import { isDeepStrictEqual } from 'node:util'
import { writeAudit } from '../db/audit.ts'
import type { Db, Trx } from '../db/postgres.ts'
import { wake } from '../db/wake.ts'
import { parsePrefix } from '../net/prefix.ts'
import { evidenceOf, type PlannedApproval } from '../approval/coverage.ts'
import {
  deleteOtherInstalls,
  lockListStates,
  saveListState,
  saveRuleStates,
  type ListState,
  type Shown,
} from './reconcile.store.ts'
import { listDecidedDigests, saveApprovals } from './approval-area.ts'
import { restoreConfirmed } from './revert-shield.ts'
import { lockListById, lockShield, mayFilter, storeVersion } from './shield-list.store.ts'
import { listStatus, ruleStatus, withSequences } from './list-status.ts'
import {
  findUnconfirmed,
  isFormer,
  listFormer,
  listScopes,
  lockStates,
  lockUnconfirmed,
  type FormerList,
  type ListScope,
} from './expire-lists.store.ts'
import { writeListMessages, type ListChange } from './shield-message.ts'

/** Lists per run that may be emptied because their teams lost the prefixes. */
const formerMax = 3

export type ListExpiry = {
  readonly reverted: number
  readonly emptied: number
  readonly held: number
  /** Errors of lists; the other lists are not affected. */
  readonly failed: readonly unknown[]
}

/** Empties lists of former holders, and restores the last confirmed version of every list whose time is over. */
export async function expireLists(db: Db): Promise<ListExpiry> {
  const failed: unknown[] = []
  let [emptied, reverted] = [0, 0]
  const attempt = async (change: (trx: Trx) => Promise<boolean>): Promise<boolean> => {
    try {
      return await db.transaction().execute(change)
    } catch (error) {
      failed.push(error)
      return false
    }
  }
  const { lists, held } = await db.transaction().execute(guardFormer)
  for (const list of lists) if (await attempt((trx) => emptyFormer(trx, list))) emptied++
  for (const { team_id: teamId, id } of await findUnconfirmed(db))
    if (await attempt((trx) => revert(trx, teamId, id))) reverted++
  return { reverted, emptied, held, failed }
}

/** Returns false if it was confirmed or replaced in the meantime. */
async function revert(trx: Trx, teamId: number, id: number): Promise<boolean> {
  // Like the update, so that a confirmation and the revert do not wait for each other.
  await lockShield(trx, teamId)
  const list = await lockUnconfirmed(trx, teamId, id)
  if (!list) return false
  // Rules must not return for a prefix that the team has lost: another team may already use it. The guard handles the
  // rules in force.
  if (list.rule_count === 0 && !(await mayFilter(trx, teamId, parsePrefix(list.prefix))))
    await empty(trx, { ...list, team_id: teamId })
  else await restoreConfirmed(trx, teamId, list, { teamId, actor: 'pharos' })
  return true
}

/** Returns the lists of former holders that may be emptied. It counts them whoever has them locked, so that no lock hides a loss of many. */
async function guardFormer(
  trx: Trx,
): Promise<{ readonly lists: readonly FormerList[]; readonly held: number }> {
  const former = await listFormer(trx)
  const approval = former.length > formerMax ? approvalOf(former) : undefined
  const { approved } = await listDecidedDigests(trx)
  const isWaiting = approval !== undefined && !approved.has(approval.evidence)
  await saveApprovals(trx, null, isWaiting ? [approval] : [])
  return isWaiting ? { lists: [], held: former.length } : { lists: former, held: 0 }
}

/** Returns false if the team has the prefix again, or has changed the list in the meantime. */
async function emptyFormer(trx: Trx, list: FormerList): Promise<boolean> {
  await lockShield(trx, list.team_id)
  await lockListById(trx, list.team_id, list.id)
  if (!(await isFormer(trx, list))) return false
  await empty(trx, list)
  return true
}

const approvalOf = (former: readonly FormerList[]): PlannedApproval => ({
  kind: 'former_holders',
  findings: [{ reason: 'former_holders', attrs: { count: former.length } }],
  items: former.map(({ prefix }) => ({ change: 'remove', value: prefix })),
  evidence: evidenceOf(
    'former_holders',
    former.map(({ id, version }) => [id, version]),
  ),
})

async function empty(
  trx: Trx,
  { id, team_id: teamId, prefix: text, version: before, rule_count: ruleCount }: FormerList,
): Promise<void> {
  const prefix = parsePrefix(text)
  const version = before + 1
  await storeVersion(
    trx,
    teamId,
    { listId: id, version, cause: 'former_holder', actor: 'pharos', forced: false },
    [],
  )
  await writeAudit(trx, {
    teamId,
    actor: 'pharos',
    action: 'shield.remove',
    target: `shield:${prefix}`,
    before: { prefix, version: before, rules: ruleCount },
    after: { prefix, version, rules: 0, reason: 'former_holder' },
  })
  await writeListMessages(trx, [{ teamId, listId: id, prefix, version, change: 'removed' }])
  await wake(trx, 'shield')
}

/**
 * Updates the status of all lists and rules from the installed rules, and reports changes. Returns how many lists
 * changed.
 */
export async function refreshStates(db: Db): Promise<number> {
  return db.transaction().execute(async (trx) => {
    await lockStates(trx)
    const scopes = await listScopes(trx)
    await deleteOtherInstalls(
      trx,
      scopes.map(({ name }) => name),
    )
    const changes: ListChange[] = []
    for (const list of await lockListStates(trx)) changes.push(...(await refresh(trx, list, scopes)))
    await writeListMessages(trx, changes)
    return changes.length
  })
}

async function refresh(trx: Trx, list: ListState, scopes: readonly ListScope[]): Promise<ListChange[]> {
  const names = scopes.filter((one) => one.lists.includes(list.id)).map(({ name }) => name)
  const shown = withSequences(listStatus(list, names), list)
  const rules = list.rules.map((rule) => ({
    id: rule.id,
    ...withSequences(ruleStatus(rule, shown, list), list),
  }))
  const ended = list.rules.filter(({ expired, status }) => expired && status !== 'expired')
  await saveRuleStates(trx, rules)
  const { status, reason, attrs } = list
  if (!isDeepStrictEqual(shown, { status, reason, attrs })) await saveListState(trx, list.id, shown)
  const change = changeOf(list, shown)
  const { id: listId, teamId, prefix, version } = list
  const message = { teamId, listId, prefix, version }
  return [
    ...(ended.length > 0
      ? [{ ...message, change: 'expired' as const, ruleIds: ended.map(({ id }) => id) }]
      : []),
    ...(change ? [{ ...message, change, reason: shown.reason, attrs: shown.attrs }] : []),
  ]
}

function changeOf(list: ListState, shown: Shown): 'applied' | 'rejected' | 'held' | undefined {
  if (shown.status === 'active' && list.status !== 'active' && list.version > 0) return 'applied'
  if (shown.status === 'error' && list.status !== 'error') return 'rejected'
  return shown.reason === 'held' && list.reason !== 'held' ? 'held' : undefined
}

// Restores the last confirmed version of a list: immediately on request, or when the time to confirm is over. Scrubbers
// follow by their own loops.
import type { BodyOf } from '@pharos/contract/route'
import type { revertShieldListRoute, ShieldRulesAnswer } from '@pharos/contract/shield/shield'
import { auditOf, writeAudit } from '../db/audit.ts'
import type { Postgres, Trx } from '../db/postgres.ts'
import { runChange, type ChangeAnswer } from '../db/run-change.ts'
import { wake } from '../db/wake.ts'
import { parsePrefix } from '../net/prefix.ts'
import { etagOf, requireMatch } from '../operation/etag.ts'
import type { Operation } from '../operation/operation.ts'
import { fail, notFound } from '../runtime/error.ts'
import { presentAnswer } from './present-shield.ts'
import {
  lockListById,
  lockShield,
  mayFilter,
  readRules,
  readVersionRules,
  storeVersion,
  type ListRow,
} from './shield-list.store.ts'
import { writeListMessages } from './shield-message.ts'

/** Throws `not_found`, `precondition_failed` if the list has another version, and `conflict` unless it waits for a confirmation of the holder. */
export function revertShieldList(
  { postgres }: { readonly postgres: Postgres },
  operation: Operation,
  listId: number,
  { version }: BodyOf<typeof revertShieldListRoute>,
): Promise<ChangeAnswer<ShieldRulesAnswer>> {
  const { teamId } = operation.actor
  return runChange(postgres, operation, async (trx) => {
    await lockShield(trx, teamId)
    const list = await lockListById(trx, teamId, listId)
    if (!list) throw notFound('list')
    requireMatch(operation.ifMatch, etagOf(list.version))
    if (version !== undefined && version !== list.version)
      throw fail('precondition_failed', 'etag', { etag: etagOf(list.version) })
    if (list.previous_version === null) throw fail('conflict', 'shieldListConfirmed')
    const prefix = parsePrefix(list.prefix)
    if (!(await mayFilter(trx, teamId, prefix))) throw fail('conflict', 'shieldPrefixLost', { prefix })
    const before = { ...presentAnswer(list, await readRules(trx, teamId, listId)), warnings: [] }
    await restoreConfirmed(trx, teamId, list, auditOf(operation))
    const after = (await lockListById(trx, teamId, listId))!
    const body = { ...presentAnswer(after, await readRules(trx, teamId, listId)), warnings: [] }
    return { before, body, etag: etagOf(after.version) }
  })
}

export type UnconfirmedList = Pick<
  ListRow,
  'id' | 'prefix' | 'version' | 'previous_version' | 'confirm_by' | 'rule_count'
>

/** Stores the last confirmed rules, with their ids and hits, as a new version. The list is locked and has a previous version. */
export async function restoreConfirmed(
  trx: Trx,
  teamId: number,
  list: UnconfirmedList,
  audited: ReturnType<typeof auditOf>,
): Promise<void> {
  const listId = list.id
  const rules = await readVersionRules(trx, teamId, listId, list.previous_version!)
  const version = list.version + 1
  await storeVersion(
    trx,
    teamId,
    { listId, version, cause: 'revert', actor: audited.actor, forced: true },
    rules,
  )
  const prefix = parsePrefix(list.prefix)
  await writeAudit(trx, {
    ...audited,
    action: 'shield.revert',
    target: `shield:${prefix}`,
    before: { prefix, version: list.version, confirm_by: list.confirm_by },
    after: { prefix, version, restored_version: list.previous_version, rules: rules.length },
  })
  await writeListMessages(trx, [{ teamId, listId, prefix, version, change: 'reverted' }])
  await wake(trx, 'shield')
}

// The audit: who did what to what, in the transaction that did it. Append only; nothing here reads.
import { actorName, type Operation } from '../runtime/operation.ts'
import type { Db, Trx } from './postgres.ts'

export type AuditEntry = {
  readonly teamId: number | null
  /** `user:7`, `token:...`, `operator` or `pharos` for what a loop decided. */
  readonly actor: string
  /** Noun and verb: `announcement.update`, `session.reuse`. */
  readonly action: string
  /** Noun and id: `announcement:42`. */
  readonly target: string
  readonly before?: unknown
  readonly after?: unknown
  readonly requestId?: string
  readonly address?: string
}

export async function writeAudit(db: Db | Trx, ...entries: readonly AuditEntry[]): Promise<void> {
  if (entries.length === 0) return
  await db
    .insertInto('audit_entries')
    .values(
      entries.map((entry) => ({
        team_id: entry.teamId,
        actor: entry.actor,
        action: entry.action,
        target: entry.target,
        before: asJson(entry.before),
        after: asJson(entry.after),
        request_id: entry.requestId ?? null,
        address: entry.address ?? null,
      })),
    )
    .execute()
}

/** The part of an entry that the operation knows: whose, by whom, from where. */
export function auditOf(operation: Operation): Pick<AuditEntry, 'teamId' | 'actor'> & Partial<AuditEntry> {
  const { actor, requestId, address } = operation
  return { teamId: actor.teamId, actor: actorName(actor), requestId, address }
}

const asJson = (value: unknown): string | null => (value === undefined ? null : JSON.stringify(value))

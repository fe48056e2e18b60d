// The audit log: actor, action and subject, written in the transaction of the action. Append only and never read here.
// Entries are sealed soon after the commit (audit/sealer.ts) and readable by the team's admins: they must not contain
// secrets. Addresses and names of people are beside them, in audit_addresses.
import {
  actorName,
  type AnyActor,
  type Operation,
  type TsigKeyActor,
  type UserActor,
} from '../operation/operation.ts'
import { takePersonalTexts } from './audit-addresses.ts'
import type { Db, Trx } from './postgres.ts'
import { executeLater } from './team-transactions.ts'
import { plainAddress } from '../runtime/client-address.ts'

export type AuditEntry = {
  readonly teamId: number | null
  /** `user:7`, `token:...`, `staff_token:...`, `tsig_key:...`, `operator`, or `pharos` for decisions of a loop. */
  readonly actor: string
  /** The credential: `session:<id>` or the actor of a token; null for the operator and for loops. */
  readonly credential?: string
  /** A user of the provider's staff: the team sees the entry without the name. */
  readonly byStaff?: boolean
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
  const held = holding.get(db)
  if (held) return void held.push(...entries)
  for (let at = 0; at < entries.length; at += entriesAtOnce)
    await insertEntries(db, entries.slice(at, at + entriesAtOnce))
}

/** A statement has at most 65,535 parameters. */
const entriesAtOnce = 1_000

const holding = new WeakMap<object, AuditEntry[]>()

/** Runs the work of a transaction and then writes all its entries in one statement. */
export async function withAuditAtEnd<T>(trx: Trx, work: () => Promise<T>): Promise<T> {
  const entries: AuditEntry[] = []
  holding.set(trx, entries)
  const result = await work().finally(() => holding.delete(trx))
  await writeAudit(trx, ...entries)
  return result
}

async function insertEntries(db: Db | Trx, entries: readonly AuditEntry[]): Promise<void> {
  const taken = entries.map(takePersonalTexts)
  const texts = taken.flatMap((one) => one.texts)
  const rows = taken.map(({ entry }) => ({
    team_id: entry.teamId,
    actor: entry.actor,
    credential: entry.credential ?? null,
    by_staff: entry.byStaff ?? false,
    action: entry.action,
    target: entry.target,
    before: asJson(entry.before),
    after: asJson(entry.after),
    request_id: entry.requestId ?? null,
    address: entry.address === undefined ? null : plainAddress(entry.address),
  }))
  const insert =
    texts.length === 0
      ? db.insertInto('audit_entries')
      : db.with('texts', (to) => to.insertInto('audit_addresses').values(texts)).insertInto('audit_entries')
  await executeLater(db, insert.values(rows))
}

/** The part of an entry that the operation determines: team, actor, credential and address. */
export function auditOf(
  operation: Operation<AnyActor | TsigKeyActor>,
): Pick<AuditEntry, 'teamId' | 'actor'> & Partial<AuditEntry> {
  const { actor, requestId, address } = operation
  return { ...auditOfActor(actor), requestId, address }
}

/** Like `auditOf`, for an actor without an operation. */
export function auditOfActor(
  actor: AnyActor | TsigKeyActor,
): Pick<AuditEntry, 'teamId' | 'actor' | 'credential' | 'byStaff'> {
  const name = actorName(actor)
  const credential = actor.kind === 'user' ? credentialOfUser(actor) : name
  const teamId = actor.kind === 'staff_token' ? null : actor.teamId
  return { teamId, actor: name, credential, byStaff: actor.isStaff }
}

/** The team of a customer sees the access, which names no person. */
const credentialOfUser = ({ access, sessionId }: UserActor): string =>
  access ? `staff_access:${access.id}` : `session:${sessionId}`

const asJson = (value: unknown): string | null => (value === undefined ? null : JSON.stringify(value))

/** Refusal of a known actor, with a code of the contract or of the audit log. */
export type RefusedCall = Omit<AuditEntry, 'before' | 'after'> & { readonly code: string }

/**
 * Writes refusals to the audit log, with a delay and not each of them: refused requests must neither wait for the write nor
 * fill the disk. Never throws. See audit/refusals.ts.
 */
export type ReportRefusal = (refusal: RefusedCall) => void

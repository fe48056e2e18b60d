// The only path by which requests change the database: a transaction in which the Idempotency-Key is stored together with
// its effect, and which a dry run rolls back. It knows no table but idempotency_keys.
import { changesBetween } from '@pharos/contract/field-change'
import { sql } from 'kysely'
import { fail, Failure } from '../runtime/error.ts'
import { requestDifferencesOf } from '../operation/request-hash.ts'
import {
  actorName,
  type AnyActor,
  type Operation,
  type TsigKeyActor,
  type ZoneEditor,
} from '../operation/operation.ts'
import { open, seal, type KeyRing } from '../runtime/secrets.ts'
import type { Db, Postgres, Trx } from './postgres.ts'
import { executeLater, runPostponed } from './team-transactions.ts'

/** The result of a changing use case: the record as the API shows it, after and (if it existed) before. */
export type ChangeResult<Body> = {
  /** Null if the answer has no body. */
  readonly body: Body
  readonly before?: object
  /** Changing values that the record does not show, for a dry run. */
  readonly beside?: { readonly before: object; readonly after: object }
  /** With the quotes. */
  readonly etag?: string
  /** Another status than the route's own. */
  readonly status?: number
  /** Thrown after the commit: the request fails and its key is not stored, but its findings are. */
  readonly refusal?: Failure
}

export type FieldChange = { readonly field: string; readonly before: unknown; readonly after: unknown }
export type DryRunResult<Body> = {
  readonly dry_run: true
  readonly changes: readonly FieldChange[]
  readonly result: Body
}

export type ChangeAnswer<Body> = {
  readonly body: Body | DryRunResult<Body>
  readonly etag?: string
  readonly status?: number
  /** The stored answer of an earlier request with the same Idempotency-Key. */
  readonly replayed?: true
}

export type ChangeOptions = {
  /** The answer contains a secret, once: the copy stored for repeats is sealed under this key ring. */
  readonly sealedUnder?: KeyRing
}

/** Thrown to roll back a dry run's transaction; never leaves this file. */
class Rollback extends Error {}

type Change<Body> = (trx: Trx) => Promise<ChangeResult<Body>>

/**
 * Runs `change` in a transaction of the operation's team. For an Idempotency-Key that was used in the last 24 hours
 * returns the first answer again without running `change`. Throws `idempotency_in_flight` and `idempotency_mismatch`.
 */
export const runChange = <Body extends object | null>(
  postgres: Pick<Postgres, 'inTeam'>,
  operation: Operation<ZoneEditor>,
  change: Change<Body>,
  options: ChangeOptions = {},
): Promise<ChangeAnswer<Body>> =>
  run((work) => postgres.inTeam(operation.actor.teamId, work), operation, change, options)

/**
 * Like `runChange`, in a transaction of the owner of the tables: for staff, who change records of every team, and for
 * the account of the caller, which belongs to no team.
 */
export const runOwnerChange = <Body extends object | null>(
  db: Db,
  operation: AnyOperation,
  change: Change<Body>,
): Promise<ChangeAnswer<Body>> => run((work) => db.transaction().execute(work), operation, change, {})

/**
 * As `runChange`, for a change that needs something slow first, such as the answer of a name server. `prepare` runs outside
 * of any transaction, and not at all if the answer of the key is stored.
 */
export async function runPreparedChange<Prepared, Body extends object | null>(
  postgres: Pick<Postgres, 'inTeam'>,
  operation: Operation,
  prepare: () => Promise<Prepared>,
  change: (trx: Trx, prepared: Prepared) => Promise<ChangeResult<Body>>,
): Promise<ChangeAnswer<Body>> {
  const { actor, dryRun, idempotency } = operation
  if (idempotency && !dryRun) {
    const kept = await postgres.inTeam(actor.teamId, (trx) =>
      findKept<Body>(trx, operation, idempotency, plain),
    )
    if (kept) return kept
  }
  const prepared = await prepare()
  return runChange(postgres, operation, (trx) => change(trx, prepared))
}

type AnyOperation = Operation<AnyActor | TsigKeyActor>
type InTransaction = <T>(work: (trx: Trx) => Promise<T>) => Promise<T>

async function run<Body extends object | null>(
  inTransaction: InTransaction,
  operation: AnyOperation,
  change: Change<Body>,
  { sealedUnder }: ChangeOptions,
): Promise<ChangeAnswer<Body>> {
  if (operation.dryRun) return dryRun(inTransaction, change)
  const { idempotency } = operation
  const answer = await inTransaction(async (trx) => {
    if (!idempotency) return answerOf(await change(trx))
    const wrapping = sealedUnder ? sealing(sealedUnder, operation, idempotency) : plain
    const kept = await findKept<Body>(trx, operation, idempotency, wrapping)
    if (kept) return kept
    const first = answerOf(await change(trx))
    if (!(first instanceof Failure)) await keep(trx, operation, idempotency, first, wrapping)
    return first
  })
  if (answer instanceof Failure) throw answer
  return answer
}

/** The body of a stored answer, as in its row. */
type Wrapping = { wrap(body: object | null): object | null; unwrap(kept: unknown): unknown }

const plain: Wrapping = { wrap: (body) => body, unwrap: (kept) => kept }

/** Bound to its key: a body that was moved to another row cannot be opened. */
function sealing(ring: KeyRing, { actor }: AnyOperation, { key }: Key): Wrapping {
  const context = `${actorName(actor)} ${key}`
  return {
    wrap: (body) => ({
      sealed: seal(ring, 'kept-answer', Buffer.from(JSON.stringify(body)), context).toString('base64'),
    }),
    unwrap: (kept) => {
      const { sealed } = kept as { sealed: string }
      return JSON.parse(open(ring, 'kept-answer', Buffer.from(sealed, 'base64'), context).toString())
    },
  }
}

function answerOf<Body>({ body, etag, status, refusal }: ChangeResult<Body>): ChangeAnswer<Body> | Failure {
  if (refusal) return refusal
  return { body, ...(etag === undefined ? {} : { etag }), ...(status === undefined ? {} : { status }) }
}

async function dryRun<Body extends object | null>(
  inTransaction: InTransaction,
  change: Change<Body>,
): Promise<ChangeAnswer<Body>> {
  let outcome: ChangeResult<Body> | undefined
  try {
    await inTransaction(async (trx) => {
      outcome = await change(trx)
      await runPostponed(trx)
      throw new Rollback()
    })
  } catch (error) {
    if (!(error instanceof Rollback)) throw error
  }
  const { body, before, beside, refusal } = outcome!
  if (refusal) throw refusal
  const changes = changesBetween({ ...before, ...beside?.before }, { ...body, ...beside?.after })
  return { body: { dry_run: true, changes, result: body }, status: 200 }
}

/** Null for a staff token, which belongs to no team. */
const teamOf = ({ actor }: AnyOperation): number | null =>
  actor.kind === 'staff_token' ? null : actor.teamId

type Key = NonNullable<Operation['idempotency']>

/**
 * Returns the stored answer of the key. Does not wait for the lock: a repeat while the first request is still running
 * fails immediately and does not block a connection.
 */
async function findKept<Body>(
  trx: Trx,
  operation: AnyOperation,
  idempotency: Key,
  { unwrap }: Wrapping,
): Promise<ChangeAnswer<Body> | undefined> {
  const teamId = teamOf(operation)
  const credential = actorName(operation.actor)
  // Sent together and run in this order: the second statement sees the commits of earlier requests with the lock.
  const [{ rows }, kept] = await Promise.all([
    sql<{ locked: boolean }>`
      select pg_try_advisory_xact_lock(hashtextextended(${`${teamId} ${credential} ${idempotency.key}`}, 0)) as locked`.execute(
      trx,
    ),
    trx
      .selectFrom('idempotency_keys')
      .select([
        'request_hash',
        'status',
        'body',
        'etag',
        sql<boolean>`created > now() - interval '24 hours'`.as('fresh'),
      ])
      .where('team_id', 'is not distinct from', teamId)
      .where('credential', '=', credential)
      .where('key', '=', idempotency.key)
      .executeTakeFirst(),
  ])
  if (!rows[0]!.locked) {
    throw fail('idempotency_in_flight', 'request', {
      retryAfterSeconds: 1,
    })
  }
  if (!kept) return undefined
  if (!kept.fresh) {
    await deleteKey(trx, operation, idempotency)
    return undefined
  }
  const differs = requestDifferencesOf(kept.request_hash, idempotency.requestHash)
  if (differs) throw fail('idempotency_mismatch', 'request', { differs })
  return {
    body: unwrap(kept.body) as Body,
    ...(kept.etag === null ? {} : { etag: kept.etag }),
    ...(kept.status === 0 ? {} : { status: kept.status }),
    replayed: true,
  }
}

async function deleteKey(trx: Trx, operation: AnyOperation, idempotency: Key): Promise<void> {
  await executeLater(
    trx,
    trx
      .deleteFrom('idempotency_keys')
      .where('team_id', 'is not distinct from', teamOf(operation))
      .where('credential', '=', actorName(operation.actor))
      .where('key', '=', idempotency.key),
  )
}

async function keep(
  trx: Trx,
  operation: AnyOperation,
  idempotency: Key,
  answer: ChangeAnswer<object | null>,
  { wrap }: Wrapping,
): Promise<void> {
  await executeLater(
    trx,
    trx.insertInto('idempotency_keys').values({
      team_id: teamOf(operation),
      credential: actorName(operation.actor),
      key: idempotency.key,
      request_hash: idempotency.requestHash,
      status: answer.status ?? 0,
      body: JSON.stringify(wrap(answer.body)),
      etag: answer.etag ?? null,
    }),
  )
}

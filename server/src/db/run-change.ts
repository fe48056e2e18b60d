// The only path by which requests change the database: a transaction of the team, in which the Idempotency-Key is stored
// together with its effect, and which a dry run rolls back. It knows no table but idempotency_keys.
import { sql } from 'kysely'
import { fail } from '../runtime/error.ts'
import { actorName, type Operation } from '../operation/operation.ts'
import { open, seal, type KeyRing } from '../runtime/secrets.ts'
import type { Postgres, Trx } from './postgres.ts'

/** The result of a changing use case: the record as the API shows it, after and (if it existed) before. */
export type ChangeResult<Body> = {
  readonly body: Body
  readonly before?: Body
  /** With the quotes. */
  readonly etag?: string
  /** Another status than the route's own. */
  readonly status?: number
}

export type FieldChange = { readonly field: string; readonly before: unknown; readonly after: unknown }
export type DryRunResult<Body> = {
  readonly dry_run: true
  readonly changes: readonly FieldChange[]
  readonly result: Body
}

export type Answer<Body> = {
  readonly body: Body | DryRunResult<Body>
  readonly etag?: string
  readonly status?: number
}

export type ChangeOptions = {
  /** The answer contains a secret, once: the copy stored for repeats is sealed under this key ring. */
  readonly sealedUnder?: KeyRing
}

/** Thrown to roll back a dry run's transaction; never leaves this file. */
class Rollback extends Error {}

/**
 * Runs `change` in a transaction of the operation's team. For an Idempotency-Key that was used in the last 24 hours
 * returns the first answer again without running `change`. Throws `idempotency_in_flight` and `idempotency_mismatch`.
 */
export async function runChange<Body extends object>(
  postgres: Postgres,
  operation: Operation,
  change: (trx: Trx) => Promise<ChangeResult<Body>>,
  { sealedUnder }: ChangeOptions = {},
): Promise<Answer<Body>> {
  if (operation.dryRun) return dryRun(postgres, operation, change)
  return postgres.inTeam(operation.actor.teamId, async (trx) => {
    if (!operation.idempotency) return answerOf(await change(trx))
    const wrapping = sealedUnder ? sealing(sealedUnder, operation, operation.idempotency) : plain
    const kept = await findKept<Body>(trx, operation, operation.idempotency, wrapping)
    if (kept) return kept
    const answer = answerOf(await change(trx))
    await keep(trx, operation, operation.idempotency, answer, wrapping)
    return answer
  })
}

/** The body of a stored answer, as in its row. */
type Wrapping = { wrap(body: object): object; unwrap(kept: unknown): unknown }

const plain: Wrapping = { wrap: (body) => body, unwrap: (kept) => kept }

/** Bound to its key: a body that was moved to another row cannot be opened. */
function sealing(ring: KeyRing, { actor }: Operation, { key }: Key): Wrapping {
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

function answerOf<Body>({ body, etag, status }: ChangeResult<Body>): Answer<Body> {
  return { body, ...(etag === undefined ? {} : { etag }), ...(status === undefined ? {} : { status }) }
}

async function dryRun<Body extends object>(
  postgres: Postgres,
  operation: Operation,
  change: (trx: Trx) => Promise<ChangeResult<Body>>,
): Promise<Answer<Body>> {
  let outcome: ChangeResult<Body> | undefined
  try {
    await postgres.inTeam(operation.actor.teamId, async (trx) => {
      outcome = await change(trx)
      throw new Rollback()
    })
  } catch (error) {
    if (!(error instanceof Rollback)) throw error
  }
  const { body, before } = outcome!
  return { body: { dry_run: true, changes: changesOf(before ?? {}, body), result: body }, status: 200 }
}

/** The fields in which two records differ, in the order of the second. */
function changesOf(before: object, after: object): FieldChange[] {
  const was = before as Record<string, unknown>
  return Object.entries(after)
    .filter(([field, value]) => JSON.stringify(was[field]) !== JSON.stringify(value))
    .map(([field, value]) => ({ field, before: was[field] ?? null, after: value }))
}

type Key = NonNullable<Operation['idempotency']>

/**
 * Returns the stored answer of the key. The lock is tried, not waited for: a repeat while the first request is still running
 * fails at once and does not hold a connection.
 */
async function findKept<Body>(
  trx: Trx,
  operation: Operation,
  idempotency: Key,
  { unwrap }: Wrapping,
): Promise<Answer<Body> | undefined> {
  const { teamId } = operation.actor
  const credential = actorName(operation.actor)
  const { rows } = await sql<{ locked: boolean }>`
    select pg_try_advisory_xact_lock(hashtextextended(${`${teamId} ${credential} ${idempotency.key}`}, 0)) as locked`.execute(
    trx,
  )
  if (!rows[0]!.locked) {
    throw fail('idempotency_in_flight', 'request', {
      retryAfterSeconds: 1,
    })
  }
  const kept = await trx
    .selectFrom('idempotency_keys')
    .select([
      'request_hash',
      'status',
      'body',
      'etag',
      sql<boolean>`created > now() - interval '24 hours'`.as('fresh'),
    ])
    .where('team_id', '=', teamId)
    .where('credential', '=', credential)
    .where('key', '=', idempotency.key)
    .executeTakeFirst()
  if (!kept) return undefined
  if (!kept.fresh) {
    await deleteKey(trx, operation, idempotency)
    return undefined
  }
  if (!kept.request_hash.equals(idempotency.requestHash)) {
    throw fail('idempotency_mismatch', 'request')
  }
  return {
    body: unwrap(kept.body) as Body,
    ...(kept.etag === null ? {} : { etag: kept.etag }),
    ...(kept.status === 0 ? {} : { status: kept.status }),
  }
}

async function deleteKey(trx: Trx, operation: Operation, idempotency: Key): Promise<void> {
  await trx
    .deleteFrom('idempotency_keys')
    .where('team_id', '=', operation.actor.teamId)
    .where('credential', '=', actorName(operation.actor))
    .where('key', '=', idempotency.key)
    .execute()
}

async function keep(
  trx: Trx,
  operation: Operation,
  idempotency: Key,
  answer: Answer<object>,
  { wrap }: Wrapping,
): Promise<void> {
  await trx
    .insertInto('idempotency_keys')
    .values({
      team_id: operation.actor.teamId,
      credential: actorName(operation.actor),
      key: idempotency.key,
      request_hash: idempotency.requestHash,
      status: answer.status ?? 0,
      body: JSON.stringify(wrap(answer.body)),
      etag: answer.etag ?? null,
    })
    .execute()
}

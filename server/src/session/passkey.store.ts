// The SQL of passkeys and of their challenges. A passkey belongs to a user, and to no team.
import { sql } from 'kysely'
import type { listPasskeysRoute } from '@pharos/contract/session/passkey'
import type { QueryOf } from '@pharos/contract/route'
import { columns, type RowOf } from '../db/columns.ts'
import { listAll, orderBy, type Page } from '../db/page.ts'
import type { Db, Trx } from '../db/postgres.ts'
import type { Challenge } from './passkey-challenge.ts'

const passkeyColumns = columns('passkeys', 'p', [
  'id',
  'user_id',
  'credential_id',
  'public_key',
  'counter',
  'transports',
  'backed_up',
  'relying_party',
  'name',
  'created',
  'last_used',
  'version',
])
export type PasskeyRow = RowOf<typeof passkeyColumns>

/** One statement decides which of several concurrent requests has the challenge. */
export async function consumeChallenge(db: Db, { nonce, expires }: Challenge): Promise<boolean> {
  const { rows } = await sql`
    insert into used_challenges (nonce, expires) values (${nonce}, ${expires}) on conflict do nothing returning nonce`.execute(
    db,
  )
  return rows.length > 0
}

export async function findPasskeyByCredential(db: Db, credentialId: string): Promise<PasskeyRow | undefined> {
  const { rows } = await sql<PasskeyRow>`
    select ${passkeyColumns} from passkeys p where p.credential_id = ${credentialId}`.execute(db)
  return rows[0]
}

/**
 * Saves the counter of a use; false if it has not risen since the last one: two authenticators have the key. An authenticator
 * without a counter always sends 0.
 */
export async function savePasskeyUse(
  db: Db,
  id: number,
  counter: number,
  backedUp: boolean,
): Promise<boolean> {
  const { rows } = await sql`
    update passkeys set counter = ${counter}, last_used = now(), backed_up = ${backedUp}
    where id = ${id} and (counter < ${counter} or (counter = 0 and ${counter} = 0)) returning id`.execute(db)
  return rows.length > 0
}

export async function listUserPasskeys(db: Db | Trx, userId: number): Promise<PasskeyRow[]> {
  const { rows } = await sql<PasskeyRow>`
    select ${passkeyColumns} from passkeys p where p.user_id = ${userId} order by p.id`.execute(db)
  return rows
}

export const listPasskeyRows = (
  db: Db,
  userId: number,
  { ordering, ...slice }: QueryOf<typeof listPasskeysRoute>,
): Promise<Page<PasskeyRow>> =>
  listAll(db, {
    matching: sql`select p.* from passkeys p where p.user_id = ${userId}`,
    columns: passkeyColumns,
    order: orderBy(
      ordering,
      { created: sql`p.created`, last_used: sql`p.last_used`, name: sql`lower(p.name)`, id: sql`p.id` },
      sql`p.id`,
    ),
    slice,
  })

export async function findPasskey(db: Db, userId: number, id: number): Promise<PasskeyRow | undefined> {
  const { rows } = await sql<PasskeyRow>`
    select ${passkeyColumns} from passkeys p where p.user_id = ${userId} and p.id = ${id}::bigint`.execute(db)
  return rows[0]
}

export async function lockPasskey(trx: Trx, userId: number, id: number): Promise<PasskeyRow | undefined> {
  const { rows } = await sql<PasskeyRow>`
    select ${passkeyColumns} from passkeys p where p.user_id = ${userId} and p.id = ${id}::bigint for update`.execute(
    trx,
  )
  return rows[0]
}

export type NewPasskey = {
  readonly userId: number
  readonly credentialId: string
  readonly publicKey: Uint8Array
  readonly counter: number
  readonly transports: readonly string[]
  readonly backedUp: boolean
  readonly aaguid: string
  readonly relyingParty: string
  readonly name: string
}

/** Adds a passkey to the account, which has a second factor from then on; undefined if an account has the credential. */
export async function insertPasskey(trx: Trx, passkey: NewPasskey): Promise<PasskeyRow | undefined> {
  const { userId, credentialId, publicKey, counter, transports, backedUp, aaguid, relyingParty, name } =
    passkey
  const { rows } = await sql<PasskeyRow>`
    insert into passkeys as p (user_id, credential_id, public_key, counter, transports, backed_up, aaguid, relying_party, name)
    values (${userId}, ${credentialId}, ${Buffer.from(publicKey)}, ${counter}, ${[...transports]}, ${backedUp}, ${aaguid},
      ${relyingParty}, ${name})
    on conflict (credential_id) do nothing returning ${passkeyColumns}`.execute(trx)
  if (rows.length > 0)
    await sql`update users set passkey_added = coalesce(passkey_added, now()) where id = ${userId}`.execute(
      trx,
    )
  return rows[0]
}

export async function savePasskeyName(trx: Trx, id: number, name: string): Promise<PasskeyRow> {
  const { rows } = await sql<PasskeyRow>`
    update passkeys p set name = ${name} where p.id = ${id} returning ${passkeyColumns}`.execute(trx)
  return rows[0]!
}

/** Deletes a passkey, and with the last one the mark of the account. */
export async function deletePasskeyRow(trx: Trx, { id, user_id }: PasskeyRow): Promise<void> {
  await trx.deleteFrom('passkeys').where('id', '=', id).execute()
  await sql`
    update users u set passkey_added = null
    where id = ${user_id} and not exists (select from passkeys p where p.user_id = u.id)`.execute(trx)
}

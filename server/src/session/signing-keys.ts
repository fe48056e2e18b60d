// The Ed25519 keys that sign access tokens: sealed in the database, shared by all processes, rotated regularly. A new key is
// published before it signs, and stays published until its last token has expired.
import { createPrivateKey, type KeyObject } from 'node:crypto'
import { calculateJwkThumbprint, exportJWK, exportPKCS8, generateKeyPair, importJWK, type JWK } from 'jose'
import { sql, type Selectable } from 'kysely'
import type { Db } from '../db/postgres.ts'
import type { Schema } from '../db/schema.ts'
import { fail } from '../runtime/error.ts'
import { open, seal, type KeyRing } from '../runtime/secrets.ts'

export type TokenSigningKey = {
  readonly kid: string
  readonly publicJwk: JWK
  readonly publicKey: CryptoKey
  /** Not a CryptoKey: WebCrypto cannot sign synchronously. */
  readonly privateKey: KeyObject
  readonly activeFrom: Date
  readonly retires: Date
}

const day = 86_400_000
const signsForMs = 30 * day
/** Processes reload the keys every minute: a key published this long before it signs is known to all of them. */
const publishedBeforeMs = 10 * 60_000
const keptAfterMs = 60 * 60_000
const rereadMs = 60_000
const retryMs = 1_000

/** Keeps the keys of one process up to date. */
export class SigningKeys {
  readonly #db: Db
  readonly #ring: KeyRing
  #keys: readonly TokenSigningKey[] = []
  #timer: NodeJS.Timeout | undefined
  #stopped = false
  #onError: (error: unknown) => void

  constructor(db: Db, ring: KeyRing, onError: (error: unknown) => void) {
    this.#db = db
    this.#ring = ring
    this.#onError = onError
  }

  /** Loads the keys, and creates the first one on a new database. Continues without keys while the database is unavailable. */
  async start(): Promise<void> {
    await this.#tryRefresh()
  }

  async #tryRefresh(): Promise<void> {
    try {
      await this.refresh()
    } catch (error) {
      this.#onError(error)
    }
    if (this.#stopped) return
    this.#timer = setTimeout(() => void this.#tryRefresh(), this.#keys.length > 0 ? rereadMs : retryMs)
    this.#timer.unref()
  }

  stop(): void {
    this.#stopped = true
    clearTimeout(this.#timer)
  }

  async refresh(): Promise<void> {
    await ensureSigningKey(this.#db, this.#ring)
    this.#keys = await loadSigningKeys(this.#db, this.#ring, (kid, error) =>
      this.#onError(new Error(`signing key ${kid} cannot be opened`, { cause: error })),
    )
    if (this.#keys.length > 0) return
    // Every key was sealed under a secret that is gone: sessions continue with a new key after one refresh.
    await insertSigningKey(this.#db, this.#ring, new Date())
    this.#keys = await loadSigningKeys(this.#db, this.#ring, () => {})
  }

  /** Returns the key that signs now: the newest active one. */
  current(): TokenSigningKey {
    const now = Date.now()
    const key = this.#keys.findLast((key) => key.activeFrom.getTime() <= now)
    if (!key) throw noKeys()
    return key
  }

  /** Returns the published key with that id. Throws `unavailable` if no keys are loaded, since then no token can be verified. */
  find(kid: string): TokenSigningKey | undefined {
    if (this.#keys.length === 0) throw noKeys()
    return this.#keys.find((key) => key.kid === kid)
  }

  /** Returns the public keys as a JWK set (RFC 7517). */
  jwks(): { keys: JWK[] } {
    return { keys: this.#keys.map((key) => key.publicJwk) }
  }
}

const noKeys = () =>
  fail('unavailable', 'signingKeys', {
    degraded: ['postgresql'],
    retryAfterSeconds: 2,
  })

/** Creates a key if no key is active, or if the newest one is due for rotation. */
async function ensureSigningKey(db: Db, ring: KeyRing): Promise<void> {
  const newest = await findNewest(db)
  if (newest && newest.getTime() > Date.now() - signsForMs + publishedBeforeMs) return
  await db.transaction().execute(async (trx) => {
    await sql`select pg_advisory_xact_lock(hashtext('pharos signing keys'))`.execute(trx)
    const already = await findNewest(trx)
    if (already && already.getTime() > Date.now() - signsForMs + publishedBeforeMs) return
    const stillSigning = already !== undefined && already.getTime() > Date.now() - signsForMs
    await insertSigningKey(trx, ring, new Date(Date.now() + (stillSigning ? publishedBeforeMs : 0)))
    await trx.deleteFrom('signing_keys').where('retires', '<', new Date()).execute()
  })
}

async function findNewest(db: Db): Promise<Date | undefined> {
  const row = await db
    .selectFrom('signing_keys')
    .select((eb) => eb.fn.max('active_from').as('newest'))
    .executeTakeFirst()
  return row?.newest ?? undefined
}

async function insertSigningKey(db: Db, ring: KeyRing, activeFrom: Date): Promise<void> {
  const { publicKey, privateKey } = await generateKeyPair('Ed25519', { extractable: true })
  const jwk = await exportJWK(publicKey)
  const kid = await calculateJwkThumbprint(jwk)
  await db
    .insertInto('signing_keys')
    .values({
      kid,
      public_jwk: JSON.stringify({ ...jwk, kid, use: 'sig', alg: 'Ed25519' }),
      private_key_sealed: seal(ring, 'signing-key', Buffer.from(await exportPKCS8(privateKey)), kid),
      active_from: activeFrom,
      retires: new Date(activeFrom.getTime() + signsForMs + keptAfterMs),
    })
    .execute()
}

/** A key whose sealing key was removed from the ring cannot sign; it is skipped and reported, and does not affect the others. */
async function loadSigningKeys(
  db: Db,
  ring: KeyRing,
  unreadable: (kid: string, error: unknown) => void,
): Promise<TokenSigningKey[]> {
  const rows = await db
    .selectFrom('signing_keys')
    .selectAll()
    .where('retires', '>', new Date())
    .orderBy('active_from')
    .execute()
  const keys = await Promise.all(
    rows.map((row) => openSigningKey(ring, row).catch((error: unknown) => void unreadable(row.kid, error))),
  )
  return keys.filter((key) => key !== undefined)
}

async function openSigningKey(
  ring: KeyRing,
  row: Selectable<Schema['signing_keys']>,
): Promise<TokenSigningKey> {
  const pem = open(ring, 'signing-key', row.private_key_sealed, row.kid).toString()
  return {
    kid: row.kid,
    publicJwk: row.public_jwk as JWK,
    publicKey: (await importJWK(row.public_jwk as JWK, 'Ed25519')) as CryptoKey,
    privateKey: createPrivateKey(pem),
    activeFrom: row.active_from,
    retires: row.retires,
  }
}

// The SQL of flows. Only the hash of a state is stored.
import { sql } from 'kysely'
import type { Db, Trx } from '../db/postgres.ts'

export type FlowKind = 'sign_in' | 'test' | 'factor' | 'link' | 'staff'

export type NewFlowRow = {
  readonly stateHash: Buffer
  /** Null: the identity provider of staff. */
  readonly providerId: number | null
  readonly kind: FlowKind
  readonly cookieMac: Buffer | null
  readonly sealed: Buffer
  readonly minutes: number
}

export async function insertFlow(db: Db | Trx, flow: NewFlowRow): Promise<void> {
  const { stateHash, providerId, kind, cookieMac, sealed, minutes } = flow
  await sql`
    insert into auth_flows (state_hash, provider_id, kind, cookie_mac, content_sealed, expires)
    values (${stateHash}, ${providerId}, ${kind}, ${cookieMac}, ${sealed}, now() + make_interval(mins => ${minutes}))`.execute(
    db,
  )
}

type TakenFlowRow = {
  readonly provider_id: number | null
  readonly kind: FlowKind
  readonly cookie_mac: Buffer | null
  readonly content_sealed: Buffer
  readonly is_expired: boolean
}

/** One statement decides between two requests with the same state. */
export async function takeFlowRow(db: Db | Trx, stateHash: Buffer): Promise<TakenFlowRow | undefined> {
  const { rows } = await sql<TakenFlowRow>`
    delete from auth_flows where state_hash = ${stateHash}
    returning provider_id, kind, cookie_mac, content_sealed, expires <= now() as is_expired`.execute(db)
  return rows[0]
}

/** A provider of SAML, and whether a sign-in with it is under way. */
export async function findSamlProvider(
  db: Db,
  key: string,
): Promise<{ readonly id: number; readonly is_awaited: boolean } | undefined> {
  const { rows } = await sql<{ id: number; is_awaited: boolean }>`
    select p.id, exists (select from auth_flows f
        where f.provider_id = p.id and f.kind in ('sign_in', 'test') and f.expires > now()) as is_awaited
    from identity_providers p where p.key = ${key} and p.kind = 'saml'`.execute(db)
  return rows[0]
}

/** Returns the sealed content of a flow that waits for the answer of the provider. */
export async function findWaitingFlow(
  db: Db,
  providerId: number,
  stateHash: Buffer,
): Promise<Buffer | undefined> {
  const { rows } = await sql<{ content_sealed: Buffer }>`
    select content_sealed from auth_flows where state_hash = ${stateHash} and provider_id = ${providerId}
      and kind in ('sign_in', 'test') and expires > now()`.execute(db)
  return rows[0]?.content_sealed
}

/** The former content decides between two requests. */
export async function replaceFlowContent(
  db: Db,
  stateHash: Buffer,
  former: Buffer,
  sealed: Buffer,
): Promise<void> {
  await sql`
    update auth_flows set content_sealed = ${sealed}
    where state_hash = ${stateHash} and content_sealed = ${former}`.execute(db)
}

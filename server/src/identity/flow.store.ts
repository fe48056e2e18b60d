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

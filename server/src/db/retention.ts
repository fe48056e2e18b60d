// How long rows are kept: a setting, or the default of an installation that began with limits. An older installation keeps everything until a
// limit is set.
import { sql } from 'kysely'
import type { Config } from '../runtime/config.ts'
import type { Db, Trx } from './postgres.ts'

export const retentionKinds = ['deliveries', 'events', 'audit', 'accounts'] as const
export type RetentionKind = (typeof retentionKinds)[number]

export type RowRetention = {
  readonly kind: RetentionKind
  /** Null: kept without a limit. */
  readonly limit: number | null
  readonly unit: 'days' | 'months'
  readonly setting: keyof RetentionConfig
  readonly is_set: boolean
}

export type RetentionConfig = Pick<
  Config,
  'deliveryRetentionDays' | 'eventRetentionMonths' | 'auditRetentionMonths' | 'accountRetentionMonths'
>

const kinds: Record<RetentionKind, Pick<RowRetention, 'unit' | 'setting'> & { readonly byDefault: number }> =
  {
    deliveries: { setting: 'deliveryRetentionDays', unit: 'days', byDefault: 90 },
    // A month beside that of two years ago.
    events: { setting: 'eventRetentionMonths', unit: 'months', byDefault: 25 },
    audit: { setting: 'auditRetentionMonths', unit: 'months', byDefault: 36 },
    accounts: { setting: 'accountRetentionMonths', unit: 'months', byDefault: 12 },
  }

/** Returns the limit of each kind. In a setting, 0 is without a limit. */
export async function readRetentions(db: Db | Trx, config: RetentionConfig): Promise<RowRetention[]> {
  const { rows } = await sql`select from default_limits`.execute(db)
  return retentionKinds.map((kind) => {
    const { setting, unit, byDefault } = kinds[kind]
    const value = config[setting] ?? (rows.length > 0 ? byDefault : 0)
    return { kind, limit: value === 0 ? null : value, unit, setting, is_set: config[setting] !== null }
  })
}

/** Rows that one transaction deletes. */
const retentionBatch = 5_000

/** Repeats a deletion, which returns the number of deleted rows, until a batch is not full. Returns their sum. */
export async function deleteInBatches(
  signal: AbortSignal,
  deleteBatch: (limit: number) => Promise<number>,
  limit = retentionBatch,
): Promise<number> {
  let sum = 0
  for (;;) {
    signal.throwIfAborted()
    const deleted = await deleteBatch(limit)
    sum += deleted
    if (deleted < limit) return sum
  }
}

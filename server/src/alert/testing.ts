// Alert rules for tests. Not imported by the product.
import { sql } from 'kysely'
import type { Db } from '../db/postgres.ts'

type SeededRule = {
  readonly portId: number
  /** The id; without one the next. */
  readonly id?: number
  /** Adds an open firing. */
  readonly isFiring?: boolean
}

/** Adds a rule on the load of a port, which has not been evaluated; returns its id. */
export async function addAlertRule(
  db: Db,
  teamId: number,
  { portId, id, isFiring = false }: SeededRule,
): Promise<number> {
  const condition = {
    kind: 'port_utilisation',
    port_id: portId,
    direction: 'either',
    above_percent: 80,
    for_minutes: 15,
  }
  const { rows } = await sql<{ id: number }>`
    with rule as (
      insert into alert_rules (id, team_id, name, kind, condition, object_id, severity, enabled, clear_minutes, created_by)
      overriding system value
      values (coalesce(${id ?? null}::bigint, nextval('alert_rules_id_seq')), ${teamId}, 'Uplink', ${condition.kind},
        ${JSON.stringify(condition)}::jsonb, ${portId}, 'warning', true, 15, 'operator')
      returning id, team_id),
    firing as (
      insert into alert_firings (rule_id, team_id, started, fired, value, threshold)
      select id, team_id, now(), now(), 90, 80 from rule where ${isFiring})
    select id from rule`.execute(db)
  return rows[0]!.id
}

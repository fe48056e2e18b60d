// The alert rules of the demo: on the load of a port, on a bill, and on the light of a port.
import { alertObjectOf, type AlertCondition, type AlertSeverity } from '@pharos/contract/alert/alert-rule'
import { sql } from 'kysely'
import type { Db } from '../../server/src/db/postgres.ts'
import { findTeamAdmin } from './demo.store.ts'

const hourMs = 3_600_000
/** The evaluation goes back by at most a day. */
const pastHours = 23

type DemoRule = {
  readonly name: string
  readonly condition: AlertCondition
  readonly severity: AlertSeverity
  readonly clearMinutes: number
}

/** Adds the rules, unless there are some. */
export async function addDemoAlerts(db: Db): Promise<void> {
  const team = await findTeamAdmin(db, 'demo')
  if (!team) return
  const { rows } = await sql<{ portId: number; serviceId: number }>`
    select p.id as "portId", a.service_id as "serviceId"
    from ports p join port_assignments a on a.port_id = p.id and a.valid @> now()
    where p.circuit_id = 'EXT-AMS-0017' and a.team_id = ${team.teamId}
      and not exists (select from alert_rules r where r.team_id = a.team_id)`.execute(db)
  for (const { portId, serviceId } of rows)
    for (const { name, condition, severity, clearMinutes } of rulesOf(portId, serviceId))
      await sql`
        insert into alert_rules (team_id, name, kind, condition, object_id, severity, enabled, clear_minutes, created_by)
        values (${team.teamId}, ${name}, ${condition.kind}, ${JSON.stringify(condition)}::jsonb, ${alertObjectOf(condition).id},
          ${severity}, true, ${clearMinutes}, ${`user:${team.userId}`})`.execute(db)
}

const rulesOf = (portId: number, serviceId: number): DemoRule[] => [
  {
    name: 'Uplink busier than usual',
    condition: {
      kind: 'port_utilisation',
      port_id: portId,
      direction: 'either',
      above_percent: 10,
      for_minutes: 30,
    },
    severity: 'warning',
    clearMinutes: 30,
  },
  {
    name: 'Transit above its commit this month',
    condition: {
      kind: 'commit',
      service_id: serviceId,
      port_id: null,
      measure: 'forecast',
      above_percent: 100,
    },
    severity: 'critical',
    clearMinutes: 60,
  },
  {
    name: 'Weak light on the uplink',
    condition: { kind: 'light_margin', port_id: portId, below_db: 3, for_minutes: 15 },
    severity: 'warning',
    clearMinutes: 15,
  },
]

/** Evaluates the rules again from the values of the past day, which have been added meanwhile. */
export async function replayDemoAlerts(db: Db, now: Date): Promise<void> {
  await sql`
    update alert_rules set evaluated_until = ${new Date(now.getTime() - pastHours * hourMs)}, unknown_ms = 0, above_ms = 0, below_ms = 0
    where state <> 'firing'`.execute(db)
}

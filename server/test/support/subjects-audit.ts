// The operations of the audit log.
import { sql } from 'kysely'
import { writeAudit } from '../../src/db/audit.ts'
import type { TestTeam } from '../api.ts'
import { absentIsNotFound, missingId, only, type Context, type Subject } from './subject.ts'

/** Adds an audit entry of the team. */
async function entryOf({ api }: Context, { teamId, slug }: TestTeam): Promise<number> {
  const { owner } = api.database.postgres
  await writeAudit(owner, { teamId, actor: 'operator', action: 'test.write', target: `test:Team ${slug}` })
  const { rows } = await sql<{ id: number }>`
    select max(id) as id from audit_entries where action = 'test.write' and team_id = ${teamId}`.execute(
    owner,
  )
  return rows[0]!.id
}

const ownTeam = ({ fixtures, identity }: Context): TestTeam =>
  fixtures['team' in identity ? identity.team : 'red']

function foreignTeam(context: Context): TestTeam {
  return ownTeam(context) === context.fixtures.blue ? context.fixtures.red : context.fixtures.blue
}

export const auditSubjects: readonly Subject[] = [
  { route: 'listAuditEntries', requests: only(), answers: () => 200 },
  {
    route: 'listAuditEntries',
    form: 'with every filter',
    requests: only({
      query: {
        actor: 'staff',
        action: 'announcement.*',
        target: 'announcement:1',
        request_id: 'x',
        address: '0.0.0.0/0',
        start: '2026-01-01',
        end: '2036-01-01',
        ordering: 'at,-id',
      },
    }),
    answers: () => 200,
  },
  {
    route: 'getAuditEntry',
    requests: {
      own: async (context) => ({ params: { audit_id: await entryOf(context, ownTeam(context)) } }),
      foreign: async (context) => ({ params: { audit_id: await entryOf(context, foreignTeam(context)) } }),
      missing: async () => ({ params: { audit_id: missingId } }),
    },
    answers: absentIsNotFound,
  },
]

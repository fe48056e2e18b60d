// The migration to one verified team per ASN, on a database that has several.
import assert from 'node:assert/strict'
import { cpSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { it } from 'node:test'
import { sql } from 'kysely'
import { migrate, migrationsFolder } from '../../db/migrate.ts'
import { createTestDatabase } from '../../db/testing.ts'

const migration = '020-one-holder-of-an-asn.sql'

it('keeps verifications by the operator, then the oldest current proof, ends control of address space, and audits each end', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'pharos-migrations-'))
  for (const file of readdirSync(migrationsFolder).filter((name) => name < migration))
    cpSync(join(migrationsFolder, file), join(folder, file))
  await using database = await createTestDatabase({ migrations: folder })
  rmSync(folder, { recursive: true })
  const { owner } = database.postgres
  await sql`insert into teams (slug, name) select 't' || n, 't' || n from generate_series(1, 3) n`.execute(
    owner,
  )
  const hold = (team: string, asn: number, days: number, by: string | null, endsIn: number | null) =>
    sql`insert into asns (team_id, asn, verified, verified_by, expires)
      select id, ${asn}, now() - make_interval(days => ${days}), ${by}, now() + make_interval(days => ${endsIn}::integer)
      from teams where slug = ${team}`.execute(owner)
  await hold('t1', 1, 90, 'aut_num', 90)
  await hold('t2', 1, 10, null, null)
  await hold('t1', 2, 170, 'aut_num', -1)
  await hold('t2', 2, 20, 'aut_num', 160)
  await hold('t3', 2, 10, 'aut_num', 170)
  await hold('t1', 3, 100, 'roa', 80)
  await hold('t2', 3, 10, 'aut_num', 170)
  await hold('t1', 4, 10, 'dns_txt', 170)
  await hold('t1', 5, 10, 'aut_num', 170)
  const client = await database.postgres.directConnection()
  await migrate(client, { steps: 'all' })
  await client.end()
  const { rows } = await sql<{ asn: number; slug: string }>`
    select a.asn, t.slug from asns a join teams t on t.id = a.team_id where a.verified is not null order by a.asn`.execute(
    owner,
  )
  assert.deepEqual(
    rows.map(({ asn, slug }) => `${asn} ${slug}`),
    ['1 t2', '2 t2', '3 t2', '5 t1'],
  )
  const audited = await sql<{ ended: string }>`
    select t.slug || ' ' || e.target || ' ' || (e.before ->> 'verifiedBy') as ended
    from audit_entries e join teams t on t.id = e.team_id where e.action = 'asn.expire' order by 1`.execute(
    owner,
  )
  assert.deepEqual(
    audited.rows.map(({ ended }) => ended),
    ['t1 asn:1 aut_num', 't1 asn:2 aut_num', 't1 asn:3 roa', 't1 asn:4 dns_txt', 't3 asn:2 aut_num'],
  )
})

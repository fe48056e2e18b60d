// The loop of delegations beside requests, on a real database.
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { sql } from 'kysely'
import { waitFor } from '@pharos/lab/wait'
import { createTestDatabase } from '../../db/testing.ts'
import { silentLog } from '../../runtime/log.ts'
import { createKeyRing } from '../../runtime/secrets.ts'
import { enableSigning, insertTestZone } from '../publish/testing.ts'
import { requestDelegationCheck } from '../zone/zone.store.ts'
import { checkDelegations } from './check-delegations.ts'

it('a check waits for a request that changes DNSSEC of the same zone, and neither fails', async () => {
  await using database = await createTestDatabase()
  const db = database.postgres.owner
  const id = await insertTestZone(db, 'raced.example')
  await enableSigning(db, createKeyRing(['t'.repeat(32)]), id)
  await sql`update dns_zones set published = now(), claimed = now() where id = ${id}`.execute(db)
  await sql`insert into dns_delegations (zone_id, due) values (${id}, now() - interval '1 s')`.execute(db)
  const deps = {
    db,
    find: {
      roots: [],
      isAllowed: () => true,
      isDelegable: () => false,
      ask: () => Promise.reject(new Error()),
    },
    now: () => new Date(),
    cacheSeconds: 60,
  }
  const request = await db.startTransaction().execute()
  await sql`select from dns_zones where id = ${id} for no key update`.execute(request)
  const checking = checkDelegations(deps, silentLog, new AbortController().signal)
  await waitFor('the lock', async () => {
    const { rows } = await sql`
      select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`.execute(
      db,
    )
    return rows.length > 0
  })
  await requestDelegationCheck(request, id)
  await request.commit().execute()
  assert.equal(await checking, 1)
  const { rows } = await sql`
    select from dns_delegations where zone_id = ${id} and checked is not null and leased_until is null`.execute(
    db,
  )
  assert.equal(rows.length, 1, 'the check was stored')
})

// The SQL of changes of black holes without a request. As the owner, of all teams.
import { sql } from 'kysely'
import type { Db, Trx } from '../../db/postgres.ts'

type Ended = { readonly id: number; readonly teamId: number; readonly host: string; readonly expires: Date }

export async function endDue(trx: Trx): Promise<Ended[]> {
  const { rows } = await sql<Ended>`
    with due as (
      select id from blackholes where ended is null and expires <= now() order by id for update skip locked),
    ended as (
      update blackholes b set ended = b.expires from due where b.id = due.id
      returning b.id, b.team_id as "teamId", b.host::text as host, b.expires),
    withdrawing as (
      update blackhole_regions br set state = 'withdrawing', reason = null, attrs = null, since = now()
      from ended where br.blackhole_id = ended.id and br.state <> 'withdrawn')
    select * from ended order by id`.execute(trx)
  return rows
}

export type BlackholedEvent = { readonly teamId: number; readonly eventId: string }

/** Returns the events whose black hole a router shows, or may still show, with its team. */
export async function listBlackholed(db: Db): Promise<BlackholedEvent[]> {
  const { rows } = await sql<BlackholedEvent>`
    select distinct b.team_id as "teamId", b.event_id as "eventId"
    from blackholes b join blackhole_regions br on br.blackhole_id = b.id
    where b.event_id is not null and br.state in ('announced', 'withdrawing')
    order by b.team_id, b.event_id`.execute(db)
  return rows
}

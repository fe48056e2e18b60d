// The SQL of BGP sessions: reports of devices, and the view of a team on the sessions of its ports.
import type { BgpSession, BgpState } from '@pharos/contract/inventory/bgp-session'
import { sql } from 'kysely'
import type { Postgres, Trx } from '../../db/postgres.ts'
import { storedJson } from '../../db/stored-json.ts'
import { writeRows, type RefusedRow } from '../../db/write-rows.ts'
import type { SeenBgpSession } from './seen-session.ts'
import { isUnread } from '../assignment/device-state.store.ts'
import { heldPorts, interfaceSince } from '../assignment/assignment.store.ts'
import { advanceSession, type Session, type SessionChange } from './session-change.ts'

/** Sessions of one device. */
const sessionsMax = 5_000
/** A session that the device does not list any more is kept as long. */
const keptDays = 1

/** With the port of the session. */
export type PortSessionChange = SessionChange & { readonly portId: number }

type SavedSessions = {
  readonly changes: readonly PortSessionChange[]
  readonly refused: readonly RefusedRow<unknown>[]
}

/** Saves all sessions that a device lists, with their ports, and returns the changed ones. */
export async function saveSessions(
  trx: Trx,
  deviceId: number,
  seen: readonly SeenBgpSession[],
): Promise<SavedSessions> {
  const { nowMs, known } = await listKnown(trx, deviceId)
  const advanced = seen.slice(0, sessionsMax).map((one) => advanceSession(known.get(keyOf(one)), one, nowMs))
  const ports = new Map<string, number>()
  const refused = await writeRows(trx, advanced, async (some) => {
    for (const { instance, peer, portId } of await upsert(
      trx,
      deviceId,
      some.map(({ session }) => session),
    ))
      if (portId !== null) ports.set(keyOf({ instance, peer }), portId)
  })
  const changes = advanced.flatMap(({ change }) => {
    const portId = change && ports.get(keyOf(change))
    return portId === undefined ? [] : [{ ...change!, portId }]
  })
  return { changes, refused }
}

/** Forgets the sessions that the device has not listed for a day. */
export async function deleteUnlisted(trx: Trx, deviceId: number): Promise<void> {
  await sql`
    delete from bgp_sessions where device_id = ${deviceId} and seen < now() - make_interval(days => ${keptDays})`.execute(
    trx,
  )
}

const keyOf = ({ instance, peer }: Pick<Session, 'instance' | 'peer'>): string => `${instance} ${peer}`

async function listKnown(
  trx: Trx,
  deviceId: number,
): Promise<{ readonly nowMs: number; readonly known: ReadonlyMap<string, Session> }> {
  const { rows } = await sql<{ nowMs: number; sessions: readonly Session[] }>`
    select extract(epoch from now())::double precision * 1000 as "nowMs", coalesce((
      select json_agg(json_build_object('instance', b.instance, 'peer', host(b.peer), 'peerAsn', b.peer_asn, 'state', b.state,
        'establishedMs', extract(epoch from b.established) * 1000, 'seenMs', extract(epoch from b.seen) * 1000,
        'prefixes', b.prefixes,
        'known', case when b.state <> 'unknown'
            then json_build_object('state', b.state, 'atMs', extract(epoch from b.seen) * 1000)
          when b.known_state is not null
            then json_build_object('state', b.known_state, 'atMs', extract(epoch from b.known_at) * 1000) end,
        'reset', case when b.reset is not null then json_build_object('atMs', extract(epoch from b.reset) * 1000,
          'isExact', b.reset_is_exact, 'code', b.reset_code, 'subcode', b.reset_subcode, 'text', b.reset_text) end))
      from bgp_sessions b where b.device_id = ${deviceId}), '[]') as sessions`.execute(trx)
  const { nowMs, sessions } = rows[0]!
  return { nowMs, known: new Map(sessions.map((one) => [keyOf(one), one])) }
}

type Saved = { readonly instance: string; readonly peer: string; readonly portId: number | null }

/**
 * The port is the one configured with the neighbor; otherwise the port of the interface with the longest network around
 * it, or of its parent interface, such as `xe-0/0/1` of `xe-0/0/1.100`.
 */
async function upsert(trx: Trx, deviceId: number, sessions: readonly Session[]): Promise<Saved[]> {
  const { rows } = await sql<Saved>`
    with n as (
      select r.*, host(r.peer) as host from jsonb_to_recordset(${storedJson(sessions.map(rowOf))}::jsonb) as r (
        instance text, peer inet, peer_asn bigint, state text, established timestamptz, prefixes jsonb, known_state text,
        known_at timestamptz, reset timestamptz, reset_is_exact boolean, reset_code smallint, reset_subcode smallint, reset_text text)),
    networks as (
      select i.id, i.key, network(a::inet) as network from interfaces i cross join unnest(i.addresses) a
      where i.device_id = ${deviceId} and i.missing_surveys = 0 and masklen(a::inet) not in (0)),
    linked as (
      select n.*, coalesce(
        (select p.id from ports p where p.device_id = ${deviceId} and p.ended is null and p.bgp_peers @> array[n.host]
          order by p.id limit 1),
        (select p.id from networks w
          join lateral (
            select p.id from ports p where p.device_id = ${deviceId} and p.ended is null
              and p.interface_key in (w.key, regexp_replace(w.key, '[.:][^.:/]+$', ''))
            order by length(p.interface_key) desc limit 1) p on true
          where w.network >>= n.peer order by masklen(w.network) desc, w.id limit 1)) as port_id
      from n)
    insert into bgp_sessions as b (device_id, instance, peer, peer_asn, state, established, prefixes, known_state, known_at, reset,
      reset_is_exact, reset_code, reset_subcode, reset_text, port_id)
    select ${deviceId}, instance, peer, peer_asn, state, established, prefixes, known_state, known_at, reset, reset_is_exact, reset_code,
      reset_subcode, reset_text, port_id
    from linked
    on conflict (device_id, instance, peer) do update set peer_asn = excluded.peer_asn, state = excluded.state,
      established = excluded.established, prefixes = excluded.prefixes, known_state = excluded.known_state,
      known_at = excluded.known_at, reset = excluded.reset, reset_is_exact = excluded.reset_is_exact,
      reset_code = excluded.reset_code, reset_subcode = excluded.reset_subcode, reset_text = excluded.reset_text,
      port_id = excluded.port_id, seen = now()
    returning b.instance, host(b.peer) as peer, b.port_id as "portId"`.execute(trx)
  return rows
}

/** The known state is stored only while the current one is unknown. */
const rowOf = ({ instance, peer, peerAsn, state, establishedMs, prefixes, known, reset }: Session) => ({
  instance,
  peer,
  peer_asn: peerAsn,
  state,
  established: isoOf(establishedMs),
  prefixes,
  known_state: state === 'unknown' ? (known?.state ?? null) : null,
  known_at: state === 'unknown' ? isoOf(known?.atMs ?? null) : null,
  reset_is_exact: reset?.isExact ?? true,
  reset: isoOf(reset?.atMs ?? null),
  reset_code: reset?.code ?? null,
  reset_subcode: reset?.subcode ?? null,
  reset_text: reset?.text.slice(0, 200) ?? '',
})

const isoOf = (ms: number | null): string | null => (ms === null ? null : new Date(ms).toISOString())

export type SessionRow = {
  readonly port_id: number
  readonly peer: string
  readonly peer_asn: number | null
  readonly state: BgpState
  readonly established: Date | null
  readonly prefixes: BgpSession['prefixes']
  /** If it is not exact: when the session was last known to be established. */
  readonly reset: Date | null
  readonly reset_is_exact: boolean
  readonly reset_code: number | null
  readonly reset_subcode: number | null
  readonly reset_text: string
}

/** Polls are every minute. */
const freshSeconds = 900

/** Returns the sessions of ports of the team, by port and address, without the time before the port belonged to it. */
export function listSessionRows(
  postgres: Postgres,
  teamId: number,
  portIds: readonly number[],
): Promise<SessionRow[]> {
  const query = sql<SessionRow>`
    select b.port_id, host(b.peer) as peer, b.peer_asn::double precision as peer_asn,
      case when coalesce(${isUnread}, false) or b.seen < now() - make_interval(secs => ${freshSeconds}) then 'unknown'
        else b.state end as state,
      b.established, b.prefixes, case when b.reset >= ${interfaceSince} then b.reset end as reset, b.reset_is_exact, b.reset_code,
      b.reset_subcode, b.reset_text
    from ${heldPorts(teamId)} p join bgp_sessions b on b.port_id = p.id
      left join device_states s on s.device_id = b.device_id
    where p.id = any(${portIds}::integer[]) order by b.port_id, family(b.peer), b.peer, b.instance`
  return postgres.readInTeam(teamId, query)
}

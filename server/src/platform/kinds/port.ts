// Ports: interfaces that are sold, each to one service at a time. The service of a port is a separate row with a time,
// so that the next customer cannot read data of the former one.
import { bgpSessionsMax } from '@pharos/contract/inventory/bgp-session'
import { sql, type RawBuilder } from 'kysely'
import { Type } from 'typebox'
import type { Db, Trx } from '../../db/postgres.ts'
import { keepingFacts, linkPorts } from '../../inventory/assignment/link-ports.store.ts'
import { parseAddress } from '../../net/address.ts'
import { parseTime } from '../../text/time.ts'
import { defineKind } from '../engine/define-kind.ts'
import { column, referenceById, selected } from '../engine/field.ts'
import type { PlatformChange, CheckContext, Element, Given, Objection, Update } from '../engine/kind.ts'
import type { Path } from '../engine/problem.ts'
import { Name, Optional, Strict, TeamSlug, Text } from '../engine/schema.ts'
import { deleteRow, insertRows, updateRow } from '../engine/table.store.ts'
import { deviceKind } from './device.ts'
import { nameIn, serviceKind } from './service.ts'

/** The assignment of port `t` that is valid now. */
const current = sql`port_assignments a where a.port_id = t.id and a.valid @> now()`

/** Whether port `t` has samples in a time. */
const hasSamples = (time: RawBuilder<unknown>) => sql<boolean>`(
  exists (select from port_days d where d.port_id = t.id
    and tstzrange(d.day::timestamp at time zone 'UTC', (d.day + 1)::timestamp at time zone 'UTC') && ${time})
  or exists (select from port_samples s where s.port_id = t.id and s.minute <@ ${time}))`

export const portKind = defineKind({
  name: 'port',
  plural: 'ports',
  section: 'ports',
  element: Strict({
    circuit_id: Name,
    device: Name,
    interface: Name,
    name: Optional(Name),
    media: Optional(Name),
    speed_bps: Optional(
      Type.Integer({
        minimum: 1,
        maximum: Number.MAX_SAFE_INTEGER,
        expects: 'bits per second as a whole number, such as 10000000000',
      }),
    ),
    description: Optional(Text),
    panel: Optional(Name),
    module: Optional(Name),
    position: Optional(Name),
    external_ref: Optional(Text),
    bgp_peers: Optional(
      Type.Array(Type.String({ minLength: 2, maxLength: 45, expects: 'an IP address' }), {
        uniqueItems: true,
        maxItems: bgpSessionsMax,
        expects: "a list of addresses such as ['192.0.2.1']",
      }),
    ),
    team: Optional(TeamSlug),
    service: Optional(Type.Union([Name, Type.Null()], { expects: 'the name of a service, or null' })),
    since: Optional(
      Type.String({ minLength: 1, maxLength: 40, expects: 'a time such as 2026-01-31T12:00:00Z' }),
    ),
  }),
  table: {
    name: 'ports',
    id: 'id',
    select: {
      service: sql`(select (select g.slug || ' ' || s.name from services s join teams g on g.id = s.team_id
        where s.id = a.service_id) from ${current})`,
      since: sql`(select lower(a.valid) from ${current})`,
      is_unbilled: sql`exists (select from (select unbilled_time(a.service_id, a.valid) as time from ${current}) u
        where ${hasSamples(sql`u.time`)})`,
    },
    key: sql`case when r.ended is null then r.circuit_id end`,
    where: sql`t.ended is null`,
  },
  identity: ['circuit_id'],
  fields: {
    circuit_id: column('ports', 'circuit_id'),
    device: referenceById('ports', 'device_id', deviceKind),
    interface: column('ports', 'interface_key', { isShown: true }),
    name: column('ports', 'name'),
    media: column('ports', 'media', { initial: '' }),
    speed_bps: column('ports', 'speed_bps', { initial: null }),
    description: column('ports', 'description', { initial: '' }),
    panel: column('ports', 'panel', { initial: '' }),
    module: column('ports', 'module', { initial: '' }),
    position: column('ports', 'position', { initial: '' }),
    external_ref: column('ports', 'external_ref', { initial: '' }),
    bgp_peers: column('ports', 'bgp_peers', { initial: [] }),
    service: selected<string | null>('service', {
      initial: null,
      isShown: true,
      // Only an explicit null ends an assignment: it ends the bills of a customer.
      isShared: true,
      reference: { kind: serviceKind as never, isId: false },
    }),
    since: {
      columns: ['since'],
      read: ({ since }): string | null => (since as Date | null)?.toISOString() ?? null,
      write: () => ({}),
      initial: null,
      isShared: true,
    },
    managed_by: column('ports', 'managed_by', { initial: 'platform', isShared: true }),
  },
  imported: {
    cleared: ['media', 'speed_bps', 'description', 'external_ref'],
    kept: ['device', 'interface', 'service'],
  },
  /** Without `since`: the start of an assignment that stays is kept. */
  elementOf: ({ service: key, ...rest }) => ({
    ...rest,
    since: null,
    team: key === null ? null : key.slice(0, key.indexOf(' ')),
    service: nameIn(key),
  }),
  initialOf: ({ interface: key = '' }) => ({ name: key }),
  disabled: { service: null },
  wakes: 'devices',
  stateOf: ({ service: assigned, is_unbilled: isUnbilled }) => ({
    inUse: assigned === null ? null : `it belongs to service ${String(assigned)}`,
    isRemovalHeld: isUnbilled === true,
  }),
  check(context, elements): void {
    const takenBy = portsBeside(context, elements)
    for (const { path, element } of elements) {
      const { team, service: name, ...rest } = element
      const other = takenBy.get(`${element.device} ${element.interface}`)
      if (other !== undefined)
        context.problem(
          [...path, 'interface'],
          `is port ${other}; use that circuit_id, or delete the port first`,
        )
      if ((team === undefined) !== (name == null))
        context.problem(path, 'a port of a service needs both team and service')
      context.claim(
        `interface ${element.device} ${element.interface}`,
        [...path, 'interface'],
        `${element.interface} of ${element.device} is a port already`,
      )
      const assigned = name == null ? name : `${team} ${name}`
      const since = readSince(context, [...path, 'since'], element.since)
      if (since !== undefined && assigned == null)
        context.problem([...path, 'since'], 'since needs a service: it is the start of the assignment')
      const peers = element.bgp_peers && readAddresses(context, [...path, 'bgp_peers'], element.bgp_peers)
      const fields = { ...rest, ...(peers && { bgp_peers: peers }), service: assigned, since }
      checkSince(context, path, fields)
      context.add(portKind, path, fields)
    }
  },
  objectionsTo: (trx, updates) => objectionsToStarts(trx, updates),
  async create(trx, created, now): Promise<void> {
    const rows = await linkPorts(trx, null, () =>
      insertRows(trx, portKind, created, now, { returning: ['id'] }),
    )
    for (const [at, { fields }] of created.entries())
      if (fields.service !== null)
        await assign(trx, rows[at]!['id'] as number, fields.service, fields.since ?? now.toISOString())
  },
  /** Ports may exchange their interfaces, or a new port get that of another: all that move leave theirs first. */
  async prepare(trx, changes): Promise<void> {
    const moved = changes.flatMap((change) => (isMove(change) ? [Number(change.row.id)] : []))
    if (moved.length === 0) return
    await keepingFacts(trx, null, () =>
      sql`
        update ports set interface_id = null, interface_key = chr(1) || id,
          interface_since = case when interface_id is null then interface_since else now() end
        where id = any(${moved})`.execute(trx),
    )
  },
  async update(trx, change, now): Promise<void> {
    const { fields, row } = change
    const place = isMove(change) ? { interface_key: fields.interface ?? row.fields.interface } : {}
    await linkPorts(trx, null, () => updateRow(trx, portKind, change, now, place))
    if (fields.service !== undefined) {
      const from = fields.since ?? now.toISOString()
      await endAssignment(trx, row.id as number, from)
      if (fields.service !== null) await assign(trx, row.id as number, fields.service, from)
    } else if (fields.since != null) await moveStart(trx, row.id as number, fields.since)
  },
  /** A port that was used is ended: its months are billed, and its customers keep the usage of their time. */
  async delete(trx, row): Promise<void> {
    await keepingFacts(trx, null, async () => {
      const { numAffectedRows } = await sql`
        update ports t set ended = now(), interface_since = now(), device_id = null, interface_id = null, interface_key = chr(1) || id
        where t.id = ${row.id} and exists (select from port_assignments a where a.port_id = t.id
          and (unbilled_time(a.service_id, a.valid) is not null or ${hasSamples(sql`a.valid`)}))`.execute(trx)
      if (numAffectedRows === 0n) await deleteRow(trx, portKind, row)
    })
  },
})

const isMove = (change: PlatformChange): change is Update =>
  change.kind === 'port' &&
  change.action === 'update' &&
  (change.fields['device'] !== undefined || change.fields['interface'] !== undefined)

/** The circuit ids of ports that the document does not name, by device and interface: elements are created before others are deleted. */
function portsBeside(
  context: CheckContext,
  elements: readonly Element<{ readonly circuit_id: string }>[],
): ReadonlyMap<string, string> {
  const named = new Set(elements.map(({ element }) => element.circuit_id))
  return new Map(
    [...context.rows(portKind).values()]
      .filter(({ key }) => !named.has(key))
      .map(({ key, fields }) => [`${fields.device} ${fields.interface}`, key]),
  )
}

/** The time in ISO 8601 and UTC. */
function readSince(context: CheckContext, path: Path, text: string | undefined): string | undefined {
  if (text === undefined) return undefined
  const time = parseTime(text)
  if (time === undefined) context.problem(path, `${text} is not a time; write it as 2026-01-31T12:00:00Z`)
  else if (time.getTime() > Date.now()) context.problem(path, 'since must not be in the future')
  return time?.toISOString()
}

/** An assignment that has begun is ended, never removed: the new one begins after it. */
function checkSince(
  context: CheckContext,
  path: Path,
  given: Given<{ circuit_id: string; service: string | null; since: string | null }>,
): void {
  const before = context.rows(portKind).get(given.circuit_id!)?.fields
  if (!before?.since || !given.since || before.service === given.service) return
  if (given.since <= before.since)
    context.problem(
      [...path, 'since'],
      `must be after ${before.since}, when the port was assigned to ${before.service}`,
    )
}

/** Removes it if it would end when it began: a second change in the same instant. */
async function endAssignment(trx: Trx, portId: number, at: string): Promise<void> {
  await sql`delete from port_assignments where port_id = ${portId} and lower(valid) >= ${at}`.execute(trx)
  await sql`
    update port_assignments set valid = tstzrange(lower(valid), ${at})
    where port_id = ${portId} and upper_inf(valid)`.execute(trx)
}

/** `service`: the key of a service. */
async function assign(trx: Trx, portId: number, key: string, from: string): Promise<void> {
  await sql`
    insert into port_assignments (port_id, service_id, team_id, valid)
    select ${portId}, s.id, s.team_id, tstzrange(${from}, null)
    from services s join teams t on t.id = s.team_id where t.slug || ' ' || s.name = ${key}`.execute(trx)
}

async function moveStart(trx: Trx, portId: number, from: string): Promise<void> {
  await sql`
    update port_assignments set valid = tstzrange(${from}, null)
    where port_id = ${portId} and upper_inf(valid)`.execute(trx)
}

/** Returns the ports whose assignment would begin before the end of an earlier one: bills of it may have been sent. */
async function objectionsToStarts(
  trx: Db | Trx,
  updates: readonly Update<{ readonly since: string | null }>[],
): Promise<Objection[]> {
  const starts = updates.flatMap(({ key, row, fields }) =>
    fields.since == null ? [] : [{ key, id: row.id, since: fields.since }],
  )
  if (starts.length === 0) return []
  const { rows } = await sql<{ key: string; until: Date }>`
    select n.key, max(upper(a.valid)) as until
    from jsonb_to_recordset(${JSON.stringify(starts)}::jsonb) as n (key text, id integer, since timestamptz)
    join port_assignments a on a.port_id = n.id and not upper_inf(a.valid) and upper(a.valid) > n.since
    group by n.key order by n.key`.execute(trx)
  return rows.map(({ key, until }) => ({
    key,
    field: 'since',
    message: `port ${key}: since is before the end of the previous assignment at ${until.toISOString()}`,
  }))
}

/** In the form in which devices report them. */
function readAddresses(context: CheckContext, path: Path, texts: readonly string[]): string[] {
  return texts.flatMap((text, at) => {
    try {
      return [parseAddress(text)]
    } catch (error) {
      context.problem([...path, at], (error as Error).message)
      return []
    }
  })
}

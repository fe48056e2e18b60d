// Assigns unowned past traffic to the team that has its prefix now, for a prefix that was entered after its traffic.
// Never automatic: a new owner of a prefix must not get the past. It must not touch rows of other teams.
//
// A day is claimed in stages that are stored in the flow store. After a kill at any point, running it again completes
// the day exactly: copied rows carry the id of the claim and are counted, and sums are compared with the rows and
// rebuilt if they differ.
import { randomInt } from 'node:crypto'
import type { Db } from '../db/postgres.ts'
import { covers, parsePrefix, type Prefix } from '../net/prefix.ts'
import { listOverlappingHoldings, listPortTimes } from './claim.store.ts'
import { peerStatement } from './peer-rollup.ts'
import { servicePort, storedBounds, withinCondition } from './flow-key.ts'
import type { FlowStore, Param } from './flow-store.ts'

export type PeerClaimDeps = {
  readonly db: Db
  readonly store: FlowStore
  readonly now: () => Date
}

export type ClaimDay = {
  readonly day: string
  readonly rows: number
  /** Multiplied by the sampling rates. */
  readonly bytes: number
  /**
   * `open`: the day has not ended, or ended less than an hour ago, so that rows still arrive. `incomplete`: a part of its rows is
   * deleted already, and the sums that remain could not be corrected.
   */
  readonly state: 'ready' | 'open' | 'incomplete'
}

/** A day that was begun. */
export type BegunDay = {
  readonly id: number
  readonly teamId: number
  readonly prefix: Prefix
  readonly day: string
  readonly stage: number
}

/** Rows of a day change while it is claimed; repeating the command is safe. */
export class ClaimUnsettled extends Error {}

type Params = Record<string, Param>
type Range = { readonly from: number; readonly end: number }

const daySeconds = 86_400
const hourSeconds = 3600
/** Batches of a day are stored by then, unless they wait in a spool. */
const closedAfterSeconds = 3600
const attempts = 3
/** Days of the largest providers are billions of rows. */
const limits = { seconds: 110, rowsToRead: 1e12, memoryBytes: 4e9 } as const

const inRange = `time >= {from:DateTime('UTC')} and time < {end:DateTime('UTC')}`
const unowned = `team_id = 0 and ${inRange}`
const rowSums = `sum(flow_count), sum(bytes * greatest(sampling_rate, 1)), sum(packets * greatest(sampling_rate, 1))`

/** The unowned traffic of a prefix by day. */
export async function listClaimableDays(
  { store, now }: PeerClaimDeps,
  teamId: number,
  prefix: Prefix,
): Promise<ClaimDay[]> {
  const { params, isInside } = insideOf(prefix)
  const days = await store.query<{ day: string; rows: number; octets: number }>(
    `select toString(toDate(time)) as day, sum(flow_count) as rows, sum(bytes * greatest(sampling_rate, 1)) as octets
     from flows where team_id = 0 and ${isInside} group by day order by day`,
    params,
    limits,
  )
  const closedUntil = now().getTime() / 1000 - closedAfterSeconds
  const found: ClaimDay[] = []
  for (const { day, rows, octets: bytes } of days) {
    const range = rangeOf(day)
    const isOpen = range.end > closedUntil
    const state = isOpen ? 'open' : (await isComplete(store, [0, teamId], range)) ? 'ready' : 'incomplete'
    found.push({ day, rows, bytes, state })
  }
  return found
}

/** Days that an earlier claim left unfinished, of any team. */
export async function listBegunDays(store: FlowStore): Promise<BegunDay[]> {
  const rows = await store.query<{
    id: number
    team_id: number
    prefix: string
    day: string
    reached: number
  }>(
    `select id, team_id, prefix, toString(day) as day, max(stage) as reached from flow_claims
     group by id, team_id, prefix, day having reached < 2 order by day, id`,
    {},
  )
  return rows.map(({ id, team_id, prefix, day, reached }) => ({
    id,
    teamId: team_id,
    prefix: parsePrefix(prefix),
    day,
    stage: reached,
  }))
}

/** Notes the days as begun; `finishDay` does the work. */
export async function beginDays(
  store: FlowStore,
  teamId: number,
  prefix: Prefix,
  days: readonly ClaimDay[],
): Promise<void> {
  const id = randomInt(1, 2 ** 32)
  for (const { day } of days) await setStage(store, { id, teamId, prefix, day }, 0)
}

/** Claims a day that was begun. Throws DriverErrors and ClaimUnsettled; repeating it continues. */
export async function finishDay({ db, store }: PeerClaimDeps, begun: BegunDay): Promise<void> {
  const { teamId, prefix } = begun
  const range = rangeOf(begun.day)
  if (begun.stage < 1) {
    await copyDay(db, store, begun, range)
    await setStage(store, begun, 1)
  }
  const { params, isInside } = insideOf(prefix)
  const originals = `${unowned} and ${isInside}`
  await store.command(`delete from flows where ${originals}`, { ...params, ...range })
  if ((await countRows(store, originals, { ...params, ...range })) > 0) throw unsettled(begun.day)
  for (const team of [teamId, 0]) await correctRollups(store, team, range, begun.day)
  await setStage(store, begun, 2)
}

const unsettled = (day: string) =>
  new ClaimUnsettled(`Rows of ${day} arrive or change at the moment. Run the command again.`)

function rangeOf(day: string): Range {
  const from = Date.parse(`${day}T00:00:00Z`) / 1000
  return { from, end: from + daySeconds }
}

function insideOf(prefix: Prefix): { readonly params: Params; readonly isInside: string } {
  const params: Params = {}
  const bind = (type: string, value: Param): string => {
    const name = `inside${Object.keys(params).length}`
    params[name] = value
    return `{${name}:${type}}`
  }
  const isInside = `(${withinCondition('dst_addr', prefix, bind)} or ${withinCondition('src_addr', prefix, bind)})`
  return { params, isInside }
}

async function countRows(store: FlowStore, condition: string, params: Params): Promise<number> {
  const [row] = await store.query<{ rows: number }>(
    `select count() as rows from flows where ${condition}`,
    params,
    limits,
  )
  return row!.rows
}

async function setStage(store: FlowStore, of: Omit<BegunDay, 'stage'>, stage: number): Promise<void> {
  await store.command(
    `insert into flow_claims (id, team_id, prefix, day, stage)
     select {id:UInt32}, {team:UInt32}, {prefix:String}, {day:Date}, {stage:UInt8}`,
    { id: of.id, team: of.teamId, prefix: of.prefix, day: of.day, stage },
  )
}

/** Columns that are copied as they are. */
const copied = `time, is_primary, exporter_id, in_if, out_if, src_addr, dst_addr, src_port, dst_port, protocol, tcp_flags, dscp,
  fragment, src_as, dst_as, src_country, dst_country, bytes, packets, sampling_rate, flow_count`

async function copyDay(db: Db, store: FlowStore, begun: BegunDay, { from, end }: Range): Promise<void> {
  const { id, teamId, prefix, day } = begun
  const { params, isInside } = insideOf(prefix)
  const [first, last] = storedBounds(prefix)
  const prefixes = (await listOverlappingHoldings(db, prefix)).filter(
    (held) => held.teamId === teamId && held.id > 0,
  )
  const ports = await listPortTimes(db, teamId)
  const copyParams: Params = {
    ...params,
    team: teamId,
    claim: id,
    first,
    last,
    prefixIds: prefixes.map((held) => held.id),
    firsts: prefixes.map((held) => storedBounds(held.prefix)[0]),
    lasts: prefixes.map((held) => storedBounds(held.prefix)[1]),
    portIds: ports.map(({ portId }) => portId),
    portsFrom: ports.map((port) => port.from),
    portsUntil: ports.map(({ until }) => until),
  }
  // Like the collector's rows: the most specific prefix of the team, and a port only in the team's time.
  const within = (column: string) => `${column} between toIPv6({first:String}) and toIPv6({last:String})`
  const statement = `insert into flows (team_id, claim_id, direction, prefix_id, port_id, ${copied})
    with ${within('dst_addr')} as is_to, ${within('src_addr')} as is_from, if(is_to, dst_addr, src_addr) as own,
      arrayMap(text -> toIPv6(text), {firsts:Array(String)}) as firsts,
      arrayMap(text -> toIPv6(text), {lasts:Array(String)}) as lasts
    select {team:UInt32}, {claim:UInt32}, multiIf(is_to and is_from, 'internal', is_to, 'in', 'out'),
      arrayElement({prefixIds:Array(UInt32)}, arrayFirstIndex((a, b) -> own >= a and own <= b, firsts, lasts)),
      if(arrayExists((port, a, b) -> port = port_id and toUnixTimestamp(time) >= a and toUnixTimestamp(time) < b,
        {portIds:Array(UInt32)}, {portsFrom:Array(UInt32)}, {portsUntil:Array(UInt32)}), port_id, 0),
      ${copied}
    from flows where ${unowned} and ${isInside}
    settings max_insert_block_size = 10000000, min_insert_block_size_rows = 10000000, min_insert_block_size_bytes = 0,
      deduplicate_blocks_in_dependent_materialized_views = 1, insert_deduplicate = 1, insert_deduplication_token = `
  const wanted = (range: Range) => countRows(store, `${unowned} and ${isInside}`, { ...params, ...range })
  const ofClaim = `team_id = {team:UInt32} and claim_id = {claim:UInt32} and ${inRange}`
  const present = (range: Range) => countRows(store, ofClaim, { team: teamId, claim: id, ...range })
  for (let hour = from; hour < end; hour += hourSeconds) {
    const range = { from: hour, end: hour + hourSeconds }
    for (let attempt = 0; ; attempt++) {
      const [want, have] = [await wanted(range), await present(range)]
      if (want === have) break
      if (attempt === attempts) throw unsettled(day)
      if (have > 0)
        await store.command(`delete from flows where ${ofClaim}`, { team: teamId, claim: id, ...range })
      // An insert whose client was killed may still run: with the same token only one of both is stored. A token whose
      // rows were deleted would store no rows.
      const isFirst = attempt === 0 && have === 0
      const token = `claim:${id}:${hour}${isFirst ? '' : `:${randomInt(2 ** 32)}`}`
      await store.command(`${statement}'${token}'`, { ...copyParams, ...range })
    }
  }
  // Rows that arrived since an hour was counted would be deleted without a copy.
  const all = { from, end }
  if ((await wanted(all)) !== (await present(all))) throw unsettled(day)
}

const families: Readonly<Record<string, { readonly keys: string; readonly values: string }>> = {
  protocol: { keys: 'protocol, prefix_id', values: 'protocol, prefix_id' },
  service: { keys: 'protocol, service_port', values: `protocol, ${servicePort} as service_port` },
  interface: { keys: 'exporter_id, port_id', values: 'exporter_id, port_id' },
}

/** Flows, bytes and packets. */
type Sums = readonly [string, string, string]

async function sumsOf(store: FlowStore, table: string, team: number, range: Range): Promise<Sums> {
  const sums = table === 'flows' ? rowSums : 'sum(flows), sum(bytes), sum(packets)'
  // As texts: numbers are exact only up to 2^53.
  const [row] = await store.query<{ sums: Sums }>(
    `select arrayMap(x -> toString(x), [${sums}]) as sums from ${table} where team_id = {team:UInt32} and ${inRange}`,
    { team, ...range },
    limits,
  )
  return row!.sums
}

const areEqual = (a: Sums, b: Sums) => a.every((sum, at) => sum === b[at])

/** Returns whether all rows of the range are still there, compared with the sums by hour, which are stored longer. */
async function isComplete(store: FlowStore, teams: readonly number[], range: Range): Promise<boolean> {
  for (const team of teams) {
    const [rows, sums] = [
      await sumsOf(store, 'flows', team, range),
      await sumsOf(store, 'flows_by_protocol_1h', team, range),
    ]
    if (BigInt(rows[0]) < BigInt(sums[0])) return false
  }
  return true
}

/** Makes the sums of a team and day again where they differ from its rows. */
async function correctRollups(store: FlowStore, team: number, range: Range, day: string): Promise<void> {
  const ofTeam = `team_id = {team:UInt32} and ${inRange}`
  const params = { team, ...range }
  const rows = await sumsOf(store, 'flows', team, range)
  for (const [family, { keys, values }] of Object.entries(families)) {
    const tables = [`flows_by_${family}_1m`, `flows_by_${family}_1h`]
    const differ = async () => {
      for (const table of tables) if (!areEqual(rows, await sumsOf(store, table, team, range))) return true
      return false
    }
    if (!(await differ())) continue
    for (const table of tables) await store.command(`delete from ${table} where ${ofTeam}`, params)
    // The sums by hour follow through their view.
    await store.command(
      `insert into flows_by_${family}_1m (team_id, time, direction, is_primary, ${keys}, bytes, packets, flows)
       select team_id, toStartOfMinute(flows.time) as minute, direction, is_primary, ${values},
         sum(bytes * greatest(sampling_rate, 1)), sum(packets * greatest(sampling_rate, 1)), sum(flow_count)
       from flows where ${ofTeam} group by team_id, minute, direction, is_primary, ${keys}
       settings insert_deduplicate = 0`,
      params,
    )
    if (await differ()) throw unsettled(day)
  }
  await correctPeers(store, team, range, day)
}

/** Only hours that its job has added: from the last hour of a team on, questions read its flows. */
async function correctPeers(
  store: FlowStore,
  team: number,
  { from, end }: Range,
  day: string,
): Promise<void> {
  const [last] = await store.query<{ last: number }>(
    'select toUnixTimestamp(max(time)) as last from flows_by_peer_1h',
    {},
  )
  const range = { from, end: Math.min(end, last!.last + hourSeconds) }
  if (range.end <= from) return
  const rows = await sumsOf(store, 'flows', team, range)
  if (areEqual(rows, await sumsOf(store, 'flows_by_peer_1h', team, range))) return
  const ofTeam = `team_id = {team:UInt32} and ${inRange}`
  await store.command(`delete from flows_by_peer_1h where ${ofTeam}`, { team, ...range })
  await store.command(`${peerStatement(ofTeam)} settings insert_deduplicate = 0`, { team, ...range })
  if (!areEqual(rows, await sumsOf(store, 'flows_by_peer_1h', team, range))) throw unsettled(day)
}

export type ClaimTarget = {
  /** The team's prefix or announcement that contains the claimed prefix; undefined without one. */
  readonly holding: Prefix | undefined
  /** Other teams with a part of it, with their prefixes. */
  readonly others: readonly { readonly team: string; readonly prefix: Prefix }[]
}

export async function findClaimTarget(db: Db, teamId: number, prefix: Prefix): Promise<ClaimTarget> {
  const held = await listOverlappingHoldings(db, prefix)
  return {
    holding: held.find((one) => one.teamId === teamId && covers(one.prefix, prefix))?.prefix,
    others: held.filter((one) => one.teamId !== teamId).map(({ team, prefix }) => ({ team, prefix })),
  }
}

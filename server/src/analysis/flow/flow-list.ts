// The flows of an attack as CSV: the largest ones towards its targets while it lasted. A file of an event.
import { asFlowFailure } from './flow-failure.ts'
import { keyLabel, keyValue } from './flow-label.ts'
import type { FlowNames } from './flow-names.ts'
import { secondsOf } from './flow-query.ts'
import { attackCondition } from './attack-condition.ts'
import type { AttackWindow } from './attack-window.store.ts'
import type { FlowStore, Param } from './flow-store.ts'

/** The most flows of a file. */
const flowsOfEventMax = 10_000

const noNames: FlowNames = { prefixes: [], devices: [], ports: [] }
const head =
  'time,source,source_port,destination,destination_port,protocol,tcp_flags,fragment,dscp,source_asn,source_country,bytes,packets,sampling_rate'

type Row = Readonly<Record<'src' | 'dst' | 'country', string>> &
  Readonly<
    Record<
      | 'at'
      | 'src_port'
      | 'dst_port'
      | 'protocol'
      | 'tcp_flags'
      | 'fragment'
      | 'dscp'
      | 'src_as'
      | 'all_bytes'
      | 'all_packets'
      | 'sampling_rate',
      number
    >
  >

/**
 * Returns the largest flows of the team towards these targets in their windows as CSV (RFC 4180) with its head; undefined if there
 * are none. Bytes and packets are multiplied by the sampling rate. Throws `unavailable` without the store.
 */
export async function listFlowsOfEvent(
  flowStore: FlowStore,
  teamId: number,
  targets: readonly AttackWindow[],
  now: Date,
): Promise<Buffer | undefined> {
  if (targets.length === 0) return undefined
  const params: Record<string, Param> = {
    team: teamId,
    from: secondsOf(new Date(Math.min(...targets.map(({ startMs }) => startMs)))),
    until: secondsOf(new Date(Math.max(...targets.map(({ endMs }) => endMs ?? now.getTime())) + 1000)),
    limit: flowsOfEventMax,
  }
  let bound = 0
  const condition = attackCondition(
    targets,
    (type, value) => {
      const name = `a${bound++}`
      params[name] = value
      return `{${name}:${type}}`
    },
    now.getTime(),
  )
  const sql =
    'select toUnixTimestamp(time) as at, toString(src_addr) as src, src_port, toString(dst_addr) as dst, dst_port, protocol, tcp_flags, ' +
    'fragment, dscp, src_as, toString(src_country) as country, bytes * greatest(sampling_rate, 1) as all_bytes, ' +
    'packets * greatest(sampling_rate, 1) as all_packets, sampling_rate ' +
    "from flows where team_id = {team:UInt32} and time >= toDateTime({from:UInt32}, 'UTC') and time < toDateTime({until:UInt32}, 'UTC') " +
    `and direction in ('in', 'internal') and ${condition} order by all_bytes desc, at, src, src_port limit {limit:UInt32}`
  try {
    const rows = await flowStore.query<Row>(sql, params, { resultRows: flowsOfEventMax })
    if (rows.length === 0) return undefined
    return Buffer.from(`${[head, ...rows.map(lineOf)].join('\n')}\n`)
  } catch (error) {
    throw asFlowFailure(error)
  }
}

/** No field has a comma, a quote or a line break. */
function lineOf(row: Row): string {
  const text = (key: Parameters<typeof keyValue>[0], stored: string | number): string =>
    keyValue(key, String(stored), noNames)
  return [
    new Date(row.at * 1000).toISOString().replace('.000Z', 'Z'),
    text('src_address', row.src),
    row.src_port,
    text('dst_address', row.dst),
    row.dst_port,
    keyLabel('protocol', text('protocol', row.protocol), noNames),
    row.tcp_flags === 0 ? '' : text('tcp_flags', row.tcp_flags),
    row.fragment === 0 ? 'no' : 'yes',
    row.dscp,
    row.src_as,
    text('src_country', row.country),
    row.all_bytes,
    row.all_packets,
    row.sampling_rate === 0 ? '' : row.sampling_rate,
  ].join(',')
}

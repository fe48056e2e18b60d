// The flows of an attack as a file of its event: the largest flows from and to the team's affected networks, of the team's own flows. Pure.
import type { Prefix } from '../../net/prefix.ts'
import { withinCondition } from '../../flow/flow-key.ts'
import { secondsOf, type FlowStatement } from '../../flow/flow-query.ts'
import type { Param, QueryLimits } from '../../flow/flow-store.ts'
import type { EventFile } from './event-file.ts'

/** The largest flows by bytes are kept. */
const flowsMax = 10_000
const networksMax = 100
/** Flows are exported after they ended: the window is as much longer than the event. */
const marginMs = 60_000

const limits: QueryLimits = { seconds: 10, memoryBytes: 1e9, resultRows: flowsMax, rowsToRead: 5e8 }

export type EndedEvent = {
  readonly teamId: number
  readonly eventId: string
  readonly start: Date
  readonly end: Date
  readonly networks: readonly Prefix[]
}

/** The columns of the file. Bytes and packets are multiplied by the sampling rate, where it is known. */
const columns = {
  time: "formatDateTime(time, '%Y-%m-%dT%H:%i:%SZ', 'UTC')",
  direction: 'toString(direction)',
  protocol: 'protocol',
  source_address: 'src_addr',
  source_port: 'src_port',
  destination_address: 'dst_addr',
  destination_port: 'dst_port',
  tcp_flags: 'tcp_flags',
  packets: 'packets * greatest(sampling_rate, 1)',
  bytes: 'bytes * greatest(sampling_rate, 1)',
  sampling_rate: 'sampling_rate',
  // 0: a further minute of a long flow.
  flows: 'flow_count',
  source_asn: 'src_as',
  destination_asn: 'dst_as',
} as const

const names = Object.keys(columns) as (keyof typeof columns)[]

export function eventFlowsStatement({ teamId, start, end, networks }: EndedEvent): FlowStatement {
  const params: Record<string, Param> = {
    team: teamId,
    from: secondsOf(new Date(start.getTime() - marginMs)),
    until: secondsOf(new Date(end.getTime() + marginMs)),
  }
  let bound = 0
  const bind = (type: string, value: Param): string => {
    const name = `n${bound++}`
    params[name] = value
    return `{${name}:${type}}`
  }
  const parts = networks
    .slice(0, networksMax)
    .flatMap((network) => [
      withinCondition('dst_addr', network, bind),
      withinCondition('src_addr', network, bind),
    ])
  const selected = names.map((name) => `${columns[name]} as c_${name}`).join(', ')
  return {
    sql:
      `select ${selected} from flows where team_id = {team:UInt32} ` +
      `and time >= toDateTime({from:UInt32}, 'UTC') and time < toDateTime({until:UInt32}, 'UTC') ` +
      `and (${parts.join(' or ') || 'false'}) order by c_bytes desc, time, src_addr, dst_addr limit ${flowsMax}`,
    params,
    limits,
  }
}

/** A row as the statement returns it. */
export type SelectedRow = Readonly<Record<`c_${keyof typeof columns}`, string | number>>

/** Returns the file, ordered by bytes; undefined without flows. */
export function flowsFile(rows: readonly SelectedRow[]): EventFile | undefined {
  if (rows.length === 0) return undefined
  const lines = rows.map((row) =>
    // Addresses are stored as IPv6; no value of a row needs quotes.
    names.map((name) => String(row[`c_${name}`]).replace(/^::ffff:(?=\d+\.)/, '')).join(','),
  )
  return {
    filename: 'flows.csv',
    kind: 'csv',
    mediaType: 'text/csv',
    bytes: Buffer.from([names.join(','), ...lines].map((line) => `${line}\n`).join('')),
  }
}

import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { hostPrefix, parsePrefix, prefixBits } from '../net/prefix.ts'
import { parseAddress } from '../net/address.ts'
import { createFlowColumns, type FlowColumns, type BlockColumn } from '../flow/flow-columns.ts'
import { createFlowOwners, toHoldingColumns } from './flow-owners.ts'
import { toBlockColumns } from './flow-block.ts'
import { createRowAssigner, direction, type FlowRows, type RowContext } from './flow-rows.ts'
import { createAddressRanges } from './address-ranges.ts'
import { noAddressTables } from './range-file.ts'

const [demo, other] = [1, 2]
const now = 1_790_000_000

const held = [
  { prefix: '203.0.113.0/24', teamId: demo, id: 10 },
  { prefix: '203.0.113.64/26', teamId: demo, id: 11 },
  { prefix: '203.0.113.64/27', teamId: other, id: 12 },
  { prefix: '192.0.2.0/24', teamId: other, id: 13 },
  { prefix: '2001:db8:a::/48', teamId: demo, id: 14 },
]

const context: RowContext = {
  owners: createFlowOwners(
    toHoldingColumns(
      1,
      held.map(({ prefix, ...rest }) => ({
        ...rest,
        prefix: parsePrefix(prefix),
        resource: 'prefix' as const,
      })),
    ),
  ),
  tables: noAddressTables,
  ownAsn: 64500,
  exporters: [
    {
      id: 7,
      hasDevice: true,
      interfaces: new Map([
        [1, { portId: 100, teamId: demo }],
        [2, { portId: 200, teamId: other }],
        [3, { portId: 0, teamId: 0 }],
      ]),
    },
  ],
  timeMin: now - 60,
  timeMax: now + 60,
}

type Flow = { src: string; dst: string; in?: number; out?: number; time?: number; srcAs?: number }

function columnsOf(flows: readonly Flow[]): FlowColumns {
  const columns = createFlowColumns(Math.max(flows.length, 1))
  flows.forEach((flow, at) => {
    for (const side of ['src', 'dst'] as const) {
      const { family, w0, w1, w2, w3 } = prefixBits(hostPrefix(parseAddress(flow[side])))
      columns[side].set(family === 4 ? [0, 0, 0xffff, w0] : [w0, w1, w2, w3], at * 4)
    }
    columns.time[at] = flow.time ?? now
    columns.inIf[at] = flow.in ?? 0
    columns.outIf[at] = flow.out ?? 0
    columns.srcAs[at] = flow.srcAs ?? 0
    columns.bytesLo[at] = at + 1
  })
  columns.length = flows.length
  return columns
}

const listRows = ({ length, ...rows }: FlowRows) =>
  Array.from({ length }, (_, at) => ({
    flow: rows.flow[at],
    team: rows.teamId[at],
    direction: rows.direction[at],
    primary: rows.isPrimary[at],
    port: rows.portId[at],
    prefix: rows.prefixId[at],
  }))

function assign(flows: readonly Flow[]) {
  const unknown: number[] = []
  const rows = createRowAssigner()(columnsOf(flows), context, (_, ifIndex) => unknown.push(ifIndex))
  return { rows: listRows(rows), refused: rows.refused, unknown }
}

describe('the rows of a flow', () => {
  it('are one for the team of the destination and one for that of the source, of which one is primary', () => {
    const { rows } = assign([{ src: '203.0.113.5', dst: '192.0.2.9', in: 1, out: 2 }])
    assert.deepEqual(rows, [
      { flow: 0, team: other, direction: direction.in, primary: 1, port: 200, prefix: 13 },
      { flow: 0, team: demo, direction: direction.out, primary: 0, port: 100, prefix: 10 },
    ])
  })

  it('are one for each team with a covering prefix, with its most specific one', () => {
    const { rows } = assign([{ src: '198.51.100.1', dst: '203.0.113.65', in: 3, out: 1 }])
    assert.deepEqual(rows, [
      { flow: 0, team: other, direction: direction.in, primary: 1, port: 0, prefix: 12 },
      { flow: 0, team: demo, direction: direction.in, primary: 0, port: 100, prefix: 11 },
    ])
  })

  it('are one internal row if the team has both ends', () => {
    const { rows } = assign([
      { src: '203.0.113.5', dst: '2001:db8:a::1' },
      { src: '2001:db8:a::1', dst: '2001:db8:a::2' },
    ])
    assert.deepEqual(
      rows.map(({ team, direction: way, prefix }) => [team, way, prefix]),
      [
        [demo, direction.internal, 14],
        [demo, direction.internal, 14],
      ],
    )
  })

  it('have no team if no team holds an end', () => {
    const { rows } = assign([{ src: '198.51.100.1', dst: '198.51.100.2', in: 1 }])
    assert.deepEqual(rows, [{ flow: 0, team: 0, direction: direction.in, primary: 1, port: 100, prefix: 0 }])
  })

  it('have the port of the team only, whichever way it is', () => {
    const { rows } = assign([
      { src: '198.51.100.1', dst: '203.0.113.5', in: 1, out: 2 },
      { src: '203.0.113.5', dst: '198.51.100.1', in: 2, out: 2 },
    ])
    assert.deepEqual(
      rows.map(({ port }) => port),
      [100, 0],
    )
  })

  it('name each interface once that the inventory does not have', () => {
    const { unknown } = assign([
      { src: '198.51.100.1', dst: '203.0.113.5', in: 3, out: 99 },
      { src: '198.51.100.1', dst: '203.0.113.5', in: 99, out: 0 },
    ])
    assert.deepEqual(unknown, [99])
  })

  it('are refused outside of the accepted time', () => {
    const { rows, refused } = assign([
      { src: '198.51.100.1', dst: '203.0.113.5', time: now + 61 },
      { src: '198.51.100.1', dst: '203.0.113.5', time: now - 61 },
      { src: '198.51.100.1', dst: '203.0.113.5' },
    ])
    assert.deepEqual([rows.map(({ flow }) => flow), refused], [[2], 2])
  })

  it('of more teams than flows fit into a batch that grows', () => {
    const flows = Array.from({ length: 3000 }, () => ({ src: '203.0.113.5', dst: '192.0.2.9' }))
    const { rows } = assign(flows)
    assert.equal(rows.length, 6000)
    assert.deepEqual(
      rows.map(({ flow }) => flow),
      flows.flatMap((_, at) => [at, at]),
    )
  })
})

describe('the columns of a block', () => {
  const tables = {
    ...noAddressTables,
    asns: createAddressRanges([{ first: 0xc6336400, last: 0xc63364ff, value: 64511 }], []),
    countries: createAddressRanges([{ first: 0xc6336400, last: 0xc63364ff, value: 0x4e4c }], []),
  }
  const blockOf = (flows: readonly Flow[]): Record<string, BlockColumn> => {
    const columns = columnsOf(flows)
    const rows = createRowAssigner()(columns, { ...context, tables }, () => {})
    return Object.fromEntries(
      toBlockColumns(columns, rows, { ...context, tables }).map((column) => [column.name, column]),
    )
  }
  const valuesOf = (column: BlockColumn) => ('values' in column ? [...column.values] : assert.fail())

  it('repeat the flow for each of its rows', () => {
    const block = blockOf([
      { src: '203.0.113.5', dst: '192.0.2.9' },
      { src: '198.51.100.1', dst: '192.0.2.9' },
    ])
    assert.deepEqual([...('low' in block['bytes']! ? block['bytes'].low : [])], [1, 1, 2])
    assert.deepEqual(valuesOf(block['exporter_id']!), [7, 7, 7])
  })

  it('have the AS number of the exporter, or that of the address if it sends none or that of the provider', () => {
    const flow = { src: '198.51.100.1', dst: '192.0.2.9' }
    const block = blockOf([
      flow,
      { ...flow, srcAs: 64500 },
      { ...flow, srcAs: 64999 },
      { src: '198.51.99.1', dst: '192.0.2.9', srcAs: 64500 },
    ])
    assert.deepEqual(valuesOf(block['src_as']!), [64511, 64511, 64999, 64500])
    assert.deepEqual(valuesOf(block['dst_as']!), [0, 0, 0, 0])
  })

  it('have the countries of both ends', () => {
    const { src_country: country } = blockOf([{ src: '198.51.100.1', dst: '192.0.2.9' }])
    assert.equal('bytes' in country! ? Buffer.from(country.bytes).toString() : '', 'NL')
  })
})

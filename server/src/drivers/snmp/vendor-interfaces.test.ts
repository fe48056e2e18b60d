// Router interfaces and SAPs of Nokia SR OS, written from TIMETRA-VRTR-MIB and TIMETRA-SAP-MIB, served by the replay agent beside ports of
// IF-MIB. No router was seen.
import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'node:test'
import { startSnmpAgent } from '../../../../lab/src/snmp-agent.ts'
import { parseSnmprec } from '../../../../lab/src/snmp-records.ts'
import { createSnmpSource } from './source.ts'

const vrtr = '1.3.6.1.4.1.6527.3.1.2.3'
const { signal } = new AbortController()

/** Router 2 is `vprn100`; `index` is the index of its interface `alpha`. */
const recorded = (index: number) => `
1.3.6.1.2.1.31.1.1.1.1.1|4|system
1.3.6.1.2.1.31.1.1.1.1.35684352|4|1/1/1
1.3.6.1.2.1.31.1.1.1.6.35684352|70|11
1.3.6.1.2.1.31.1.1.1.10.35684352|70|12
${vrtr}.1.1.4.1|4|Base
${vrtr}.1.1.4.2|4|vprn100
${vrtr}.4.1.4.1.1|4|system
${vrtr}.4.1.4.2.${index}|4|alpha
${vrtr}.4.1.8.1.1|2|2
${vrtr}.4.1.8.2.${index}|2|2
${vrtr}.4.1.9.1.1|2|2
${vrtr}.4.1.9.2.${index}|2|3
${vrtr}.4.1.34.2.${index}|4|Alpha Ltd
${vrtr}.4.1.62.2.${index}|66|1500
${vrtr}.4.1.63.1.1|66|1
${vrtr}.4.1.63.2.${index}|66|7
${vrtr}.54.1.43.1.1|70|0
${vrtr}.54.1.43.2.${index}|70|10000000000
${vrtr}.74.1.4.2.${index}|70|5`

async function sourceOf(t: TestContext, records = recorded(4)) {
  const agent = await startSnmpAgent(parseSnmprec(records))
  t.after(() => agent.close())
  const source = createSnmpSource({
    address: '127.0.0.1',
    port: agent.port,
    credential: { kind: 'v2c', community: 'public' },
  })
  t.after(() => source.close())
  return { agent, source }
}

describe('router interfaces', () => {
  it('are listed by router and name beside the interfaces of IF-MIB, whose numbers they do not take', async (t) => {
    const { source } = await sourceOf(t)
    const seen = await source.listInterfaces(signal)
    assert.deepEqual(
      seen.map(({ key, index, alias, mtu, admin, oper }) => [key, index, alias, mtu, admin, oper]),
      [
        ['Base/system', -1, '', null, 'up', 'up'],
        ['system', 1, '', null, 'unknown', 'unknown'],
        ['vprn100/alpha', 7, 'Alpha Ltd', 1500, 'up', 'down'],
        ['1/1/1', 35684352, '', null, 'unknown', 'unknown'],
      ],
    )
  })

  it('have counters, of which those that the device lacks are unknown', async (t) => {
    const { source } = await sourceOf(t)
    const { rows, failed } = await source.readCounters(['1/1/1', 'Base/system', 'vprn100/alpha'], signal)
    assert.deepEqual(
      rows.map(({ key, octetsIn, octetsOut, packetsIn, bits }) => [
        key,
        octetsIn,
        octetsOut,
        packetsIn,
        bits,
      ]),
      [
        ['1/1/1', 11n, 12n, null, 64],
        ['Base/system', 0n, null, null, 64],
        ['vprn100/alpha', 10_000_000_000n, 5n, null, 64],
      ],
    )
    assert.deepEqual(failed, [])
  })

  it('keep their counters when the device numbers them otherwise, and are missing when it has them no more', async (t) => {
    const { agent, source } = await sourceOf(t)
    const keys = ['vprn100/alpha', '1/1/1']
    await source.readCounters(keys, signal)
    agent.setRecords(parseSnmprec(recorded(9)))
    const { rows } = await source.readCounters(keys, signal)
    assert.deepEqual(
      rows.map(({ key, octetsIn }) => [key, octetsIn]),
      [
        ['1/1/1', 11n],
        ['vprn100/alpha', 10_000_000_000n],
      ],
    )
    agent.setRecords(parseSnmprec(recorded(9)).filter(([oid]) => !oid.startsWith(`${vrtr}.4.1.4.2`)))
    const { rows: left, failed } = await source.readCounters(keys, signal)
    assert.deepEqual([left.length, failed], [1, [{ key: 'vprn100/alpha', reason: 'missing' }]])
  })
})

const sapTables = '1.3.6.1.4.1.6527.3.1.2.4.3'
const lag = 1_342_177_281

/** The rows of a SAP: state, then octets offered of high and low priority and without a color, and forwarded in and out of profile. */
function sapRecords(index: string, octets: readonly (number | null)[], text = '', oper = 1): string {
  const columns = [4, 6, 25, 20, 22]
  return `
${sapTables}.2.1.5.${index}|4|${text}
${sapTables}.2.1.6.${index}|2|1
${sapTables}.2.1.7.${index}|2|${oper}
${columns.flatMap((column, at) => (octets[at] == null ? [] : [`${sapTables}.6.1.${column}.${index}|70|${octets[at]}`])).join('\n')}
${sapTables}.6.1.28.${index}|67|77`
}

const withSaps = (...more: readonly string[]) =>
  [
    `1.3.6.1.2.1.31.1.1.1.1.35684352|4|1/1/1
1.3.6.1.2.1.31.1.1.1.6.35684352|70|11
1.3.6.1.2.1.31.1.1.1.1.${lag}|4|lag-1
1.3.6.1.2.1.31.1.1.1.6.${lag}|70|12`,
    sapRecords('20.35684352.100', [1, 2, 4, 8, 16], 'Beta Ltd'),
    sapRecords(`20.${lag}.${200 * 65_536 + 100}`, [9_007_199_254_740_992, 0, 0, 0, 1], '', 5),
    sapRecords(`30.${lag}.4095`, [1, null, 4, 8, 16]),
    sapRecords('300.118208001.7', [1, 1, 1, 1, 1], 'Internal SAP'),
    ...more,
  ].join('\n')

describe('SAPs', () => {
  const [tagged, double, other] = ['sap 1/1/1:100', 'sap lag-1:100.200', 'sap lag-1:*']

  it('are listed with their port and VLANs, without a speed, and without those of the device itself', async (t) => {
    const { source } = await sourceOf(t, withSaps())
    const seen = (await source.listInterfaces(signal)).filter(({ key }) => key.startsWith('sap'))
    assert.deepEqual(
      seen.map(({ key, index, alias, admin, oper, speedBps }) => [key, index, alias, admin, oper, speedBps]),
      [
        [tagged, -1, 'Beta Ltd', 'up', 'up', null],
        [double, -1, '', 'up', 'down', null],
        [other, -1, '', 'up', 'up', null],
      ],
    )
  })

  it('count what is offered and forwarded, and nothing if a part of the sum is missing', async (t) => {
    const { source } = await sourceOf(t, withSaps())
    const { rows, failed } = await source.readCounters([tagged, double, other, '1/1/1'], signal)
    assert.deepEqual(
      rows.map(({ key, octetsIn, octetsOut, discontinuity, bits }) => [
        key,
        octetsIn,
        octetsOut,
        discontinuity,
        bits,
      ]),
      [
        ['1/1/1', 11n, null, null, 64],
        [tagged, 7n, 24n, 77, 64],
        [double, 9_007_199_254_740_992n, 1n, 77, 64],
        [other, null, 24n, 77, 64],
      ],
    )
    assert.deepEqual(failed, [])
  })

  it('keep their key in another service, and are missing when the device has them no more', async (t) => {
    const { agent, source } = await sourceOf(t, withSaps())
    await source.readCounters([tagged], signal)
    const moved = withSaps(sapRecords('40.35684352.100', [1, 1, 1, 1, 1])).replaceAll(
      '.20.35684352.100|',
      '.21.1.1|',
    )
    agent.setRecords(parseSnmprec(moved))
    const { rows } = await source.readCounters([tagged], signal)
    assert.deepEqual(
      rows.map(({ key, octetsIn }) => [key, octetsIn]),
      [[tagged, 3n]],
    )
    agent.setRecords(parseSnmprec('1.3.6.1.2.1.31.1.1.1.1.35684352|4|1/1/1'))
    assert.deepEqual((await source.readCounters([tagged], signal)).failed, [
      { key: tagged, reason: 'missing' },
    ])
  })
})

describe('ports of Infinera Groove', () => {
  const port = '1.3.6.1.4.1.42229.1.2.3.6.1.1'
  const records = `
${port}.19.1.3.0.1|2|3
${port}.20.1.3.0.1|2|1
${port}.23.1.3.0.1|4|Ring east
${port}.19.1.3.2.4|2|1
${port}.20.1.3.2.4|2|2
${port}.23.1.3.2.4|4|`

  it('are interfaces of a device without IF-MIB, with states and without counters', async (t) => {
    const { source } = await sourceOf(t, records)
    const seen = await source.listInterfaces(signal)
    assert.deepEqual(
      seen.map(({ key, index, alias, admin, oper }) => [key, index, alias, admin, oper]),
      [
        ['port-1/3/1', -1, 'Ring east', 'up', 'up'],
        ['port-1/3.2/4', -1, '', 'up', 'down'],
      ],
    )
    const { rows } = await source.readCounters(['port-1/3/1', 'port-1/3.2/4'], signal)
    assert.deepEqual(
      rows.map(({ key, oper, octetsIn, octetsOut }) => [key, oper, octetsIn, octetsOut]),
      [
        ['port-1/3/1', 'up', null, null],
        ['port-1/3.2/4', 'down', null, null],
      ],
    )
  })
})

// Router interfaces of Nokia SR OS, written from TIMETRA-VRTR-MIB, served by the replay agent beside a port of IF-MIB.
import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'node:test'
import { startSnmpAgent } from '../../../../lab/src/snmp-agent.ts'
import { parseSnmprec } from '../../../../lab/src/snmp-records.ts'
import { createSnmpSource } from './source.ts'

const vrtr = '1.3.6.1.4.1.6527.3.1.2.3'
const { signal } = new AbortController()

/** Router 2 is `vprn100`; `index` is that of its interface `alpha` within it. */
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

async function sourceOf(t: TestContext) {
  const agent = await startSnmpAgent(parseSnmprec(recorded(4)))
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

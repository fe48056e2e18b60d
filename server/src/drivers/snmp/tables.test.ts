// Tables that only some devices have: older ones for addresses, LAGs and names, and tables of health.
import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'node:test'
import { startSnmpAgent } from '../../../../lab/src/snmp-agent.ts'
import { snmpValue, type SnmpValue } from '../../../../lab/src/snmp-ber.ts'
import type { SnmpRecord } from '../../../../lab/src/snmp-records.ts'
import { entPhysical, entPhySensor, hostResources, ifTable, ifXTable, ip, lag, ucd } from './oids.ts'
import { createSnmpSource } from './source.ts'

const { signal } = new AbortController()

async function sourceOf(t: TestContext, records: readonly SnmpRecord[]) {
  const agent = await startSnmpAgent(records)
  const credential = { kind: 'v2c', community: 'public' } as const
  const source = createSnmpSource({ address: '127.0.0.1', port: agent.port, credential })
  t.after(() => source.close())
  t.after(() => agent.close())
  return source
}

const column = (oid: string, values: Record<string, SnmpValue>): SnmpRecord[] =>
  Object.entries(values).map(([index, value]) => [`${oid}.${index}`, value])
const { integer, text, gauge, counter } = snmpValue

describe('interfaces of a device with older tables', () => {
  it('have their description, IPv4 addresses with their mask, and the aggregator as LAG', async (t) => {
    const source = await sourceOf(t, [
      ...column(ifTable.descr, { 1: text('ge-1'), 2: text('ge-2'), 10: text('trunk') }),
      ...column(ifTable.type, { 1: integer(6), 2: integer(6), 10: integer(161) }),
      ...column(ifTable.speed, { 1: gauge(1_000_000_000), 10: gauge(4_294_967_295) }),
      ...column(ifTable.inOctets, { 1: counter(5), 2: counter(6) }),
      ...column(lag.attachedAggId, { 1: integer(10), 2: integer(0), 10: integer(10) }),
      ...column(ip.adEntIfIndex, { '192.0.2.1': integer(10), '198.51.100.1': integer(2) }),
      [`${ip.adEntNetMask}.192.0.2.1`, snmpValue.address(255, 255, 255, 252)],
    ])
    assert.deepEqual(
      (await source.listInterfaces(signal)).map(({ key, speedBps, lagKey, addresses }) => [
        key,
        speedBps,
        lagKey,
        addresses,
      ]),
      [
        ['ge-1', 1e9, 'trunk', []],
        ['ge-2', null, null, ['198.51.100.1/32']],
        ['trunk', null, null, ['192.0.2.1/30']],
      ],
    )
    const { rows } = await source.readCounters('all', signal)
    assert.deepEqual(
      rows.map(({ key, octetsIn, bits }) => [key, octetsIn, bits]),
      [
        ['ge-1', 5n, 32],
        ['ge-2', 6n, 32],
      ],
    )
  })

  it('have no addresses that are broadcast or link-local', async (t) => {
    const unicast = '1.4.192.0.2.1'
    const others = [
      '1.4.192.0.2.255',
      `2.16.254.128${'.0'.repeat(13)}.1`,
      `4.20.254.128${'.0'.repeat(13)}.1.0.0.0.1`,
    ]
    const source = await sourceOf(t, [
      ...column(ifXTable.name, { 1: text('eth0') }),
      ...[unicast, ...others].map((index): SnmpRecord => [`${ip.addressIfIndex}.${index}`, integer(1)]),
      [`${ip.addressType}.${others[0]}`, integer(3)],
    ])
    const [found] = await source.listInterfaces(signal)
    assert.deepEqual(found!.addresses, ['192.0.2.1/32'])
  })
})

describe('the health of a device', () => {
  const health = async (t: TestContext, records: readonly SnmpRecord[]) =>
    (await (await sourceOf(t, records)).readHealth(signal))
      .filter(({ metric }) => metric !== 'latency' && metric !== 'loss')
      .map(({ metric, part, value }) => [metric, part, Math.round(value * 100) / 100])

  it('is read from HOST-RESOURCES-MIB', async (t) => {
    const ram = snmpValue.oid(hostResources.storageRam)
    assert.deepEqual(
      await health(t, [
        ...column(hostResources.processorLoad, { 768: integer(7), 769: integer(21) }),
        ...column(hostResources.storageType, { 1: ram, 31: snmpValue.oid('1.3.6.1.2.1.25.2.1.4') }),
        ...column(hostResources.storageSize, { 1: integer(400), 31: integer(100) }),
        ...column(hostResources.storageUsed, { 1: integer(100), 31: integer(99) }),
      ]),
      [
        ['cpu', 'CPU 1', 7],
        ['cpu', 'CPU 2', 21],
        ['memory', '', 25],
      ],
    )
  })

  it('is read from UCD-SNMP-MIB, without the memory of caches', async (t) => {
    const records: readonly SnmpRecord[] = [
      [ucd.cpuIdle, integer(93)],
      [ucd.memTotalReal, integer(1_000)],
      [ucd.memAvailReal, integer(100)],
      [ucd.memBuffer, integer(50)],
      [ucd.memCached, integer(250)],
    ]
    assert.deepEqual(await health(t, records), [
      ['cpu', '', 7],
      ['memory', '', 60],
    ])
  })

  it('is read from ENTITY-SENSOR-MIB, without sensors of modules, absent and failed ones', async (t) => {
    const sensors = [
      { name: 'CPU die', type: 8, value: 455, precision: 1 },
      { name: 'Fan 1', type: 10, value: 5_400 },
      { name: 'PSU 1 input', type: 6, value: 120_000, scale: 8 },
      { name: 'Ethernet1 Xcvr Temp', type: 8, value: 31 },
      { name: 'Absent', type: 8, value: -32_768 },
      { name: 'Failed', type: 8, value: 30, status: 3 },
      { name: 'Voltage', type: 4, value: 12 },
    ]
    const records = sensors.flatMap(({ name, type, value, precision = 0, scale = 9, status = 1 }, at) => [
      ...column(entPhysical.name, { [at + 1]: text(name) }),
      ...column(entPhySensor.type, { [at + 1]: integer(type) }),
      ...column(entPhySensor.scale, { [at + 1]: integer(scale) }),
      ...column(entPhySensor.precision, { [at + 1]: integer(precision) }),
      ...column(entPhySensor.value, { [at + 1]: integer(value) }),
      ...column(entPhySensor.operStatus, { [at + 1]: integer(status) }),
    ])
    assert.deepEqual(await health(t, records), [
      ['temperature', 'CPU die', 45.5],
      ['fan', 'Fan 1', 5_400],
      ['power', 'PSU 1 input', 120],
    ])
  })
})

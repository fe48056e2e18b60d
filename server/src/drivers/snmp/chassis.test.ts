// A big chassis: the parts read once per survey, and the parts read by each poll. Requests are counted, since each
// costs a round trip.
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { snmpValue } from '../../../../lab/src/snmp-ber.ts'
import { startSnmpAgent } from '../../../../lab/src/snmp-agent.ts'
import type { SnmpRecord } from '../../../../lab/src/snmp-records.ts'
import { entPhysical } from './oids.ts'
import { createSnmpSource } from './source.ts'
import { deviceRecords } from './testing-device.ts'

const ports = 200
const entitiesOfPort = 12
const sensor = '1.3.6.1.4.1.9.9.91.1.1.1.1'
const containedIn = '1.3.6.1.2.1.47.1.1.1.1.4'

/** Each port has a module of IOS-XR with five sensors, and entities without any. */
function entityRecords(port: number): SnmpRecord[] {
  const name = `TenGigE0/0/0/${port}`
  const base = 1_000 + port * entitiesOfPort
  const entity = (at: number, text: string, parent: number): SnmpRecord[] => [
    [`${entPhysical.descr}.${base + at}`, snmpValue.text(text)],
    [`${containedIn}.${base + at}`, snmpValue.integer(parent)],
    [`${entPhysical.class}.${base + at}`, snmpValue.integer(9)],
    [`${entPhysical.name}.${base + at}`, snmpValue.text(at === 0 ? name : `${name}-${text}`)],
    [`${entPhysical.serialNum}.${base + at}`, snmpValue.text(at === 0 ? `SN${port}` : '')],
  ]
  const value = (at: number, type: number, of: number): SnmpRecord[] => [
    [`${sensor}.1.${base + at}`, snmpValue.integer(type)],
    [`${sensor}.2.${base + at}`, snmpValue.integer(9)],
    [`${sensor}.3.${base + at}`, snmpValue.integer(1)],
    [`${sensor}.4.${base + at}`, snmpValue.integer(of)],
    [`${sensor}.5.${base + at}`, snmpValue.integer(1)],
  ]
  const texts = ['Module', 'Receive Power', 'Transmit Power', 'Temperature']
  const rest = Array.from({ length: entitiesOfPort - texts.length }, (_, at) =>
    entity(texts.length + at, `Part ${at}`, 1),
  )
  return [
    ...texts.flatMap((text, at) => entity(at, text, at === 0 ? 1 : base)),
    ...rest.flat(),
    ...value(1, 14, -30),
    ...value(2, 14, -10),
    ...value(3, 8, 300),
  ]
}

export const chassisRecords = (count: number): SnmpRecord[] => [
  ...deviceRecords({
    identity: { name: 'far', vendor: 'Cisco', model: 'ASR-9010', serial: 'S', software: '7' },
    interfaces: Array.from({ length: count }, (_, at) => ({
      name: `TenGigE0/0/0/${at}`,
      admin: 'up' as const,
      oper: 'up' as const,
      speedBps: 10e9,
      counters: { octetsIn: 2n ** 60n, octetsOut: 17n },
    })),
  }),
  ...Array.from({ length: count }, (_, port) => entityRecords(port)).flat(),
]

it('is surveyed once, and a poll reads only what moves', async (t) => {
  const agent = await startSnmpAgent(chassisRecords(ports))
  t.after(() => agent.close())
  const credential = { kind: 'v2c', community: 'public' } as const
  const source = createSnmpSource({ address: '127.0.0.1', port: agent.port, credential })
  t.after(() => source.close())
  const { signal } = new AbortController()
  const requestsOf = async (work: () => Promise<unknown>) => {
    const before = source.answers()
    await work()
    return source.answers() - before
  }
  await source.listInterfaces(signal)
  const counters = () => requestsOf(() => source.readCounters('all', signal))
  // 4 rows of 12 columns in each answer: the names are those in the list.
  assert.ok((await counters()) <= ports / 4 + 2)
  const survey = await requestsOf(() => source.listTransceivers(signal))
  const optics = await requestsOf(() => source.readOptics(signal))
  assert.equal((await source.readOptics(signal)).length, ports)
  await source.readHealth(signal)
  const health = await requestsOf(() => source.readHealth(signal))
  // 3 sensors per port with 4 columns, 50 values per answer; 12 entities with 7 columns in the survey.
  assert.ok(optics <= (ports * 3 * 4) / 40, `${optics}`)
  assert.ok(health <= 5, `${health}`)
  assert.ok(survey > 5 * optics, `${survey}`)
  agent.restart(1)
  await source.readCounters('all', signal)
  // Another start may have other numbers: everything is read again.
  assert.ok((await requestsOf(() => source.readOptics(signal))) > 5 * optics)
})

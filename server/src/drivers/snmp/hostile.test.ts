// Answers of hostile and faulty devices, and of other hosts: the process does not end, requests end, and answers of
// other hosts are not accepted.
import assert from 'node:assert/strict'
import type { Socket } from 'node:dgram'
import { EventEmitter } from 'node:events'
import { describe, it, type TestContext } from 'node:test'
import * as fc from 'fast-check'
import { startSnmpAgent, answerOf, type AgentFaults } from '../../../../lab/src/snmp-agent.ts'
import { decodeRequest, encodeTlv, snmpValue, type SnmpValue } from '../../../../lab/src/snmp-ber.ts'
import { serveRecords, type SnmpRecord } from '../../../../lab/src/snmp-records.ts'
import type { CounterRow, DeviceSource, ReadPart } from '../../inventory/collect/device-source.ts'
import { DriverError } from '../../runtime/driver-error.ts'
import { CounterReader } from './counters.ts'
import { entPhysical, entPhySensor, hostResources, ifTable, ifXTable, ip, lag, system } from './oids.ts'
import { SnmpSession } from './session.ts'
import { DeviceSocket } from './socket.ts'
import { createSnmpSource, type SnmpSourceOptions } from './source.ts'
import { deviceRecords } from './testing-device.ts'
import { walkColumns } from './walk.ts'
import { scaled } from '../../runtime/testing-scale.ts'

const { signal } = new AbortController()
const credential = { kind: 'v2c', community: 'public' } as const
const runs = scaled(20_000)

const recordsOf = (count: number): readonly SnmpRecord[] =>
  deviceRecords({
    identity: { name: 'edge1', vendor: 'Arista', model: 'M', serial: 'S', software: '1' },
    interfaces: Array.from({ length: count }, (_, at) => ({
      name: `Ethernet${at + 1}`,
      admin: 'up' as const,
      oper: 'up' as const,
      speedBps: 10e9,
      counters: { octetsIn: 2n ** 60n, octetsOut: 17n },
    })),
  })
const records = recordsOf(4)

async function startDevice(
  t: TestContext,
  faults: AgentFaults,
  options: Partial<SnmpSourceOptions> = {},
  interfaces = 4,
) {
  const agent = await startSnmpAgent(recordsOf(interfaces))
  agent.faults = faults
  const address = '127.0.0.1'
  const source = createSnmpSource({ address, port: agent.port, credential, timeoutMs: 200, ...options })
  t.after(() => source.close())
  t.after(() => agent.close())
  return { agent, source }
}

/** A socket without a network: `answer` returns the datagrams that arrive after a request. */
function sessionOn(answer: (request: Buffer) => readonly Buffer[]): SnmpSession {
  const socket = Object.assign(new EventEmitter(), {
    send(request: Buffer, _offset: number, _length: number, done: (error: null) => void) {
      done(null)
      queueMicrotask(() => {
        for (const datagram of answer(request)) socket.emit('message', datagram)
      })
    },
    close: () => undefined,
    ref: () => undefined,
    unref: () => undefined,
  })
  return new SnmpSession({
    address: '192.0.2.1',
    port: 161,
    credential,
    timeoutMs: 60_000,
    tries: 3,
    acceptsAnySource: false,
    openSocket: async (_address, events) => new DeviceSocket(socket as unknown as Socket, events, undefined),
  })
}

describe('mutated answers', () => {
  it('are dropped, are errors, or are read as values of the right type', async () => {
    const objects = serveRecords([...records, [system.sysUpTime, snmpValue.ticks(500)]])
    const mutation = fc.record({
      at: fc.double({ min: 0, max: 0.999, noNaN: true }),
      octet: fc.nat(255),
      kind: fc.nat(3),
    })
    let [mutants, accepted] = [[] as readonly { at: number; octet: number; kind: number }[], 0]
    const session = sessionOn((request) => {
      const answer = answerOf(objects, decodeRequest(request))
      return [mutate(answer, mutants), answer]
    })
    const reader = new CounterReader(session)
    const expected = await reader.read('all', signal)
    await fc.assert(
      fc.asyncProperty(fc.array(mutation, { minLength: 1, maxLength: 4 }), async (some) => {
        mutants = some
        const reading = await reader.read(['Ethernet1'], signal).catch((error: unknown) => {
          assert.ok(error instanceof DriverError)
          return undefined
        })
        accepted += Number(reading !== undefined)
        for (const row of reading?.rows ?? []) assertTyped(row)
      }),
      { numRuns: runs },
    )
    mutants = []
    assert.ok(accepted > runs / 3)
    assert.deepEqual(withoutTime((await reader.read('all', signal)).rows), withoutTime(expected.rows))
    session.close()
  })

  it('cannot crash the library: other versions, flags without keys, missing parts', async () => {
    const objects = serveRecords(records)
    const integer = (value: number) => encodeTlv(2, Buffer.of(value))
    const octets = (...values: number[]) => encodeTlv(4, Buffer.from(values))
    const sequence = (...parts: Buffer[]) => encodeTlv(0x30, Buffer.concat(parts))
    const idOf = (request: Buffer) => decodeRequest(request).id
    const v3 = (id: bigint, flags: number, security: Buffer, scoped: Buffer) =>
      sequence(
        integer(3),
        sequence(
          encodeTlv(2, Buffer.from(id.toString(16).padStart(8, '0'), 'hex')),
          integer(100),
          octets(flags),
          integer(3),
        ),
        encodeTlv(4, security),
        scoped,
      )
    const session = sessionOn((request) => [
      ...[0, 1, 2, 3, 4, 5, 7].flatMap((flags) =>
        [sequence(), sequence(octets(), integer(0), integer(0), octets(), octets(), octets())].flatMap(
          (security) =>
            [
              octets(),
              sequence(octets(), octets()),
              sequence(octets(), octets(), encodeTlv(0xa8, Buffer.alloc(0))),
            ].map((scoped) => v3(idOf(request), flags, security, scoped)),
        ),
      ),
      Buffer.of(0x30, 0x80),
      Buffer.alloc(0),
      answerOf(objects, decodeRequest(request)),
    ])
    const { value } = await session.get([system.sysName], signal)
    assert.equal(Buffer.from(value[0]!.value as Uint8Array).toString(), 'edge1')
    session.close()
  })
})

type Mutation = { readonly at: number; readonly octet: number; readonly kind: number }

/** Changes, inserts, removes an octet, or cuts the rest. */
function mutate(datagram: Buffer, mutations: readonly Mutation[]): Buffer {
  let octets = datagram
  for (const { at, octet, kind } of mutations) {
    const position = Math.floor(at * octets.length)
    const [head, tail] = [octets.subarray(0, position), octets.subarray(position + (kind === 1 ? 0 : 1))]
    octets = kind === 3 ? head : Buffer.concat([head, ...(kind === 2 ? [] : [Buffer.of(octet)]), tail])
  }
  return octets
}

function assertTyped(row: CounterRow): void {
  const { key, at, uptimeCs, discontinuity, admin, oper, bits, ...counters } = row
  assert.ok(typeof key === 'string' && Number.isFinite(at) && Number.isInteger(uptimeCs))
  assert.ok(discontinuity === null || Number.isInteger(discontinuity))
  assert.ok(typeof admin === 'string' && typeof oper === 'string' && (bits === 64 || bits === 32))
  for (const value of Object.values(counters))
    assert.ok(value === null || (value >= 0n && value < 2n ** 64n), String(value))
}

const withoutTime = (rows: readonly CounterRow[]) => rows.map((row) => ({ ...row, at: 0 }))

const callsOf = (source: DeviceSource) => [
  source.probe(signal),
  source.listInterfaces(signal),
  source.readCounters('all', signal),
  source.readHealth(signal),
]

describe('values of wrong types', () => {
  it('are null or an error, for every object', async (t) => {
    const { agent, source } = await startDevice(t, {})
    const values: readonly SnmpValue[] = [
      snmpValue.text('7'),
      snmpValue.integer(-1),
      snmpValue.oid('1.3.6'),
      snmpValue.address(192, 0, 2, 1),
      snmpValue.counter64(2n ** 64n - 1n),
      { tag: 68, value: Uint8Array.of(1) },
      { tag: 5, value: null },
    ]
    for (const value of values) {
      agent.setRecords(records.map(([oid]) => [oid, value]))
      for (const result of await Promise.allSettled(callsOf(source)))
        if (result.status === 'rejected')
          assert.ok(result.reason instanceof DriverError, String(result.reason))
    }
    agent.setRecords(
      records.map(([oid, value]) => [oid, oid === `${ifXTable.hcOutOctets}.2` ? snmpValue.text('9') : value]),
    )
    const { rows, failed } = await source.readCounters('all', signal)
    assert.deepEqual(failed, [{ key: 'Ethernet2', reason: 'invalid' }])
    assert.equal(rows.length, 3)
  })
})

describe('tables without an end', () => {
  it('are an error where OIDs repeat, and where they do not', async (t) => {
    for (const faults of [{ repeatsBelow: `${ifTable.descr}.2` }, { endlessBelow: ifTable.descr }]) {
      const { source } = await startDevice(t, faults)
      await assert.rejects(source.listInterfaces(signal), { kind: 'protocol' })
    }
  })

  it('cost only what they are about', async (t) => {
    for (const [below, part] of [
      [lag.ifStackStatus, 'lags'],
      [ip.addressIfIndex, 'addresses'],
      [entPhysical.class, 'identity'],
      [hostResources.processorLoad, 'load'],
      [entPhySensor.value, 'sensors'],
    ] as const) {
      const { source } = await startDevice(t, { endlessBelow: below })
      const failed: string[] = []
      const readPart: ReadPart = (name, read) =>
        read(signal).catch((error: unknown) => {
          assert.ok(error instanceof DriverError)
          failed.push(name)
          return undefined
        })
      const identity = await source.probe(signal, readPart)
      const interfaces = await source.listInterfaces(signal, readPart)
      const health = await source.readHealth(signal, readPart)
      assert.deepEqual(failed, [part])
      assert.ok(health.some(({ metric }) => metric === 'latency'))
      assert.equal(identity.name, 'edge1')
      assert.equal(identity.serial, part === 'identity' ? undefined : 'S')
      assert.equal(interfaces.length, 4)
      assert.equal(interfaces[0]!.lagKey, part === 'lags' ? undefined : null)
      assert.deepEqual(interfaces[0]!.addresses, part === 'addresses' ? undefined : [])
    }
  })

  it('end a walk at its limits', async (t) => {
    const { agent } = await startDevice(t, { endlessBelow: ifTable.descr })
    const address = { address: '127.0.0.1', port: agent.port, acceptsAnySource: false }
    const session = new SnmpSession({ ...address, credential, timeoutMs: 200, tries: 1 })
    for (const limits of [{ rowsMax: 100 }, { requestsMax: 3 }])
      await assert.rejects(walkColumns(session, [ifTable.descr], signal, limits), { kind: 'protocol' })
    session.close()
  })

  it('leave the rows before as a partial reading', async (t) => {
    const { source } = await startDevice(t, { repeatsBelow: `${ifTable.outDiscards}.30` }, {}, 40)
    const { rows, isPartial } = await source.readCounters('all', signal)
    assert.ok(isPartial && rows.length > 10 && rows.length <= 30)
  })
})

describe('requests', () => {
  it('have a fresh id for every try', async (t) => {
    const { agent, source } = await startDevice(t, { isSilent: true })
    await assert.rejects(source.probe(signal), { kind: 'unreachable' })
    assert.equal(agent.requests.length, 3)
    assert.equal(new Set(agent.requests.map(({ id }) => id)).size, 3)
  })

  it('do not accept the late answer of an earlier try', async (t) => {
    const { agent, source } = await startDevice(t, { reorders: true })
    const { rows } = await source.readCounters('all', signal)
    assert.equal(rows.length, 4)
    assert.ok(agent.requests.length > 4)
  })

  it('run one after the other; one that is aborted in the queue does not affect others', async (t) => {
    const { source, agent } = await startDevice(t, { delayMs: 5 })
    const [reason, controller] = [new Error('no longer needed'), new AbortController()]
    const [first, aborted, last] = [signal, controller.signal, signal].map((one) => source.probe(one))
    controller.abort(reason)
    await assert.rejects(aborted!, reason)
    assert.deepEqual((await last!).name, (await first!).name)
    const sent = agent.requests.length
    await source.probe(signal)
    assert.equal((agent.requests.length - sent) * 2, sent)
  })

  it('fail at once where no agent listens', async () => {
    const agent = await startSnmpAgent(records)
    agent.close()
    const timeoutMs = 500_000
    const source = createSnmpSource({ address: '127.0.0.1', port: agent.port, credential, timeoutMs })
    await assert.rejects(source.probe(signal), { kind: 'unreachable', message: /ECONNREFUSED/ })
    await source.close()
  })

  it('ask for less where the answer is too big', async (t) => {
    const { agent, source } = await startDevice(t, { varbindsMax: 13 })
    assert.equal((await source.probe(signal)).serial, 'S')
    assert.equal((await source.listInterfaces(signal)).length, 4)
    assert.equal((await source.readCounters(['Ethernet1'], signal)).rows.length, 1)
    agent.faults = { varbindsMax: 0 }
    for (const result of await Promise.allSettled(callsOf(source)))
      assert.equal(result.status === 'rejected' && (result.reason as DriverError).kind, 'protocol')
  })

  it('accept answers from another address only if the options permit it', async (t) => {
    const { source } = await startDevice(t, { answersFromElsewhere: true }, { acceptsAnySource: true })
    assert.equal((await source.probe(signal)).name, 'edge1')
  })

  it('reach no host by name, and none with an unusable credential', async () => {
    for (const options of [
      { address: 'localhost', credential },
      { address: '127.0.0.1', credential: { kind: 'v2c', community: '' } as const },
    ])
      await assert.rejects(createSnmpSource(options).probe(signal), { kind: 'refused' })
  })
})

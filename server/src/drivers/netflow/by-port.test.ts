import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { SamplingRecord, TemplateRecord } from '../../flow/flow-decoder.ts'
import { createDecoder } from './decoder.ts'
import { ipfix, ipOctets, options, set, template, testNowMs, u32, u64, u8, decodeAll } from './testing.ts'

const addresses = [
  [8, 4],
  [12, 4],
] as const
const counters = [
  [1, 4],
  [2, 4],
] as const
/** Templates with the same id and length, each of which reads the other's records wrongly. */
const forward = template(256, ...addresses, ...counters)
const reversed = template(256, ...counters, ...addresses)
const flow = (octets: number) =>
  [ipOctets('192.0.2.7'), ipOctets('198.51.100.2'), u32(octets), u32(10)] as const
const swapped = (octets: number) =>
  [u32(octets), u32(10), ipOctets('192.0.2.7'), ipOctets('198.51.100.2')] as const
const rate = (interval: number) => [
  set(3, options(300, [[149, 4]], [34, 4], [35, 1])),
  set(300, u32(1), u32(interval), u8(2)),
]

type Step = { readonly port: number; readonly sets: readonly Uint8Array[]; readonly minute?: number }

/** One decoder that gets the datagrams of two exporters behind one address, each with its own sequence numbers. */
function createNat() {
  const stored = { templates: new Map<string, TemplateRecord>(), rates: new Map<string, SamplingRecord>() }
  const key = ({ exporter, port, id = 0 }: { exporter: string; port?: number; id?: number }) =>
    `${exporter} ${port} ${id}`
  const decoder = createDecoder({
    onTemplate: (one) => void stored.templates.set(key(one), one),
    onWithdrawal: (one) => void stored.templates.delete(key(one)),
    onSampling: (one) => void stored.rates.set(key(one), one),
    onOutdatedSampling: (one) => void stored.rates.delete(key(one)),
  })
  const sequences = new Map<number, number>()
  let sent = 0
  const send = ({ port, sets, minute = 0 }: Step) => {
    const sequence = sequences.get(port) ?? port * 1000
    sequences.set(port, sequence + sets.filter((one) => one[0] !== 0 || one[1]! > 3).length)
    const datagram = ipfix({ sequence }, ...sets)
    // The time of the export: makes each datagram unique.
    new DataView(datagram.buffer, datagram.byteOffset).setUint32(4, ++sent)
    return decodeAll(decoder, [datagram], { port, nowMs: testNowMs + minute * 60_000 })
  }
  return { decoder, stored, send }
}

const isByPort = (nat: ReturnType<typeof createNat>) => nat.decoder.takeFindings().some((one) => one.isByPort)

describe('two exporters behind one address', () => {
  it('are told apart by their ports once a template changes and changes back', () => {
    const nat = createNat()
    nat.send({ port: 1001, sets: [set(2, forward), ...rate(100), set(256, ...flow(500))] })
    nat.send({ port: 1002, sets: [set(2, reversed), ...rate(7), set(256, ...swapped(600))] })
    assert.equal(isByPort(nat), false)
    nat.send({ port: 1001, sets: [set(2, forward), set(256, ...flow(500))], minute: 30 })
    assert.equal(isByPort(nat), true)
    assert.equal(isByPort(nat), false, 'once')
    // Neither repeats its template: both are known by their port.
    const { sequenceGaps } = nat.decoder.counters
    for (let i = 1; i < 5; i++) {
      nat.send({ port: 1001, sets: [...rate(100)], minute: 31 })
      nat.send({ port: 1002, sets: [...rate(7)], minute: 31 })
      const [one, ...more] = nat.send({ port: 1001, sets: [set(256, ...flow(500 + i))], minute: 31 })
      const [other] = nat.send({ port: 1002, sets: [set(256, ...swapped(600 + i))], minute: 31 })
      assert.deepEqual([one!.octets, one!.rate, other!.octets, other!.rate], [500 + i, 100, 600 + i, 7])
      assert.deepEqual([one!.exporter, other!.exporter, more], [0, 0, []], 'of one exporter in the store')
    }
    assert.equal(nat.decoder.counters.sequenceGaps, sequenceGaps, 'their sequences are of their own')
    assert.deepEqual([...nat.stored.templates.values()].map(({ port, id }) => [port, id]).sort(), [
      [1001, 256],
      [1001, 300],
      [1002, 256],
      [1002, 300],
    ])
    assert.deepEqual(
      [...nat.stored.rates.values()].map(({ port, rate: value }) => [port, value]),
      [
        [1001, 100],
        [1002, 7],
      ],
    )
  })

  it('are still told apart after a restart of the collector', () => {
    const before = createNat()
    for (const [port, one, interval] of [
      [1001, forward, 100],
      [1002, reversed, 7],
      [1001, forward, 100],
      [1002, reversed, 7],
      [1001, forward, 100],
    ] as const)
      before.send({ port, sets: [set(2, one), ...rate(interval)] })
    assert.equal(isByPort(before), true)
    const { templates, rates } = before.stored
    assert.equal(templates.size, 4)
    assert.deepEqual(
      new Set(before.decoder.templates().map((one) => JSON.stringify(one))),
      new Set([...templates.values()].map((one) => JSON.stringify(one))),
    )

    const after = createNat()
    const known = { firstSeen: testNowMs / 1000, speeds: new Map(), isByPort: true }
    after.decoder.setKnown(new Map([['192.0.2.1', known]]))
    for (const one of templates.values()) after.decoder.addTemplate(one)
    for (const one of rates.values()) after.decoder.addSampling(one)
    // A template of a former process that did not distinguish ports.
    after.decoder.addTemplate({ ...[...templates.values()][0]!, port: 0 })
    const [one] = after.send({ port: 1001, sets: [set(256, ...flow(500))] })
    const [other] = after.send({ port: 1002, sets: [set(256, ...swapped(600))] })
    assert.deepEqual([one!.octets, one!.rate, other!.octets, other!.rate], [500, 100, 600, 7])
    assert.deepEqual(after.send({ port: 1003, sets: [set(256, ...flow(700))] }), [], 'unknown port')
  })

  it('number their connections by themselves', () => {
    const nat = createNat()
    nat.decoder.setKnown(new Map([['192.0.2.1', { firstSeen: 0, speeds: new Map(), isByPort: true }]]))
    // Connection, addresses, event (1: created, 5: update, 2: end), its time, start of the connection, octets of both ends.
    const events = template(257, [148, 4], ...addresses, [233, 1], [323, 8], [152, 8], [231, 4], [232, 4])
    const event = (kind: number, minute: number, octets: number) =>
      set(
        257,
        u32(77),
        ipOctets('192.0.2.7'),
        ipOctets('198.51.100.2'),
        u8(kind),
        u64(1_700_000_000_000 + minute * 60_000),
        u64(1_700_000_000_000),
        u32(octets),
        u32(0),
      )
    const created = event(1, 0, 0)
    const update = (octets: number) => event(5, 1, octets)
    const end = (octets: number) => event(2, 2, octets)
    const octetsOf = (port: number, ...sets: readonly Uint8Array[]) =>
      nat.send({ port, sets }).map(({ octets }) => octets)
    assert.deepEqual(octetsOf(1001, set(2, events), created, update(1000)), [1000])
    assert.deepEqual(octetsOf(1002, set(2, events), created, update(300)), [300])
    // The end has the octets of the whole connection: octets without an update are counted.
    assert.deepEqual(octetsOf(1001, end(1500)), [500])
    assert.deepEqual(octetsOf(1002, end(700)), [400])
  })

  it('take a bounded number of places, and one that is silent for an hour gives way', () => {
    const nat = createNat()
    nat.decoder.setKnown(new Map([['192.0.2.1', { firstSeen: 0, speeds: new Map(), isByPort: true }]]))
    const rows = (port: number, minute: number) =>
      nat.send({ port, sets: [set(2, forward), set(256, ...flow(1))], minute }).length
    for (let port = 1; port <= 32; port++) assert.equal(rows(port, port === 1 ? 0 : 30), 1)
    assert.equal(rows(99, 59), 0)
    assert.equal(rows(99, 60), 1)
    assert.equal(
      nat.decoder.templates().some(({ port }) => port === 1),
      false,
    )
  })
})

describe('one exporter', () => {
  const sent = (...steps: readonly Step[]) => {
    const nat = createNat()
    for (const step of steps) nat.send(step)
    return isByPort(nat)
  }
  const [first, second] = [[set(2, forward)], [set(2, reversed)]]

  it('that restarts has another port, and keeps its templates and rates', () => {
    const nat = createNat()
    nat.send({ port: 1001, sets: [set(2, forward), ...rate(100)] })
    const [one] = nat.send({ port: 1002, sets: [set(256, ...flow(500))] })
    assert.deepEqual([one!.octets, one!.rate], [500, 100])
    nat.send({ port: 1003, sets: [set(2, forward), ...rate(100)] })
    assert.equal(isByPort(nat), false)
    assert.deepEqual(
      [...nat.stored.templates.values(), ...nat.stored.rates.values()].map(({ port }) => port),
      [undefined, undefined, undefined],
    )
  })

  it('may restart with other templates, and with its former ones, which are of no second exporter', () => {
    assert.equal(
      sent(
        { port: 1001, sets: first },
        { port: 1002, sets: second, minute: 5 },
        { port: 1003, sets: first, minute: 10 },
      ),
      false,
    )
  })

  it('may change its templates and change them back', () => {
    assert.equal(
      sent(
        { port: 1001, sets: first },
        { port: 1001, sets: second, minute: 5 },
        { port: 1001, sets: first, minute: 10 },
      ),
      false,
    )
  })

  it('is no second one if the change back comes after half an hour', () => {
    const steps = (minute: number) =>
      [
        { port: 1001, sets: first },
        { port: 1002, sets: second },
        { port: 1001, sets: first, minute },
      ] as const
    assert.deepEqual([sent(...steps(30)), sent(...steps(31))], [true, false])
  })
})

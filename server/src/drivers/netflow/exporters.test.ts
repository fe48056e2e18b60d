// Differences of single exporters from the documents, or from each other, as their captures show them; built with the encoder of the tests.
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { SamplingRecord } from '../../flow/flow-decoder.ts'
import { createDecoder } from './decoder.ts'
import {
  decodeAll,
  ethernetFrame,
  flowSample,
  ipOctets,
  ipfix,
  ipv4Frame,
  options,
  optionsV9,
  pack,
  rawHeader,
  set,
  sflowDatagram,
  template,
  testNowMs,
  u16,
  u32,
  u64,
  u8,
  v5,
  v9,
  xdr,
  type TemplateField,
  type Part,
  type FlowRow,
} from './testing.ts'

const pick = (rows: readonly FlowRow[], ...names: string[]) =>
  rows.map((row) => names.map((name) => row[name]))
const hosts = [ipOctets('192.0.2.1'), ipOctets('198.51.100.2')] as const

describe('connections of a firewall (NSEL)', () => {
  const layout = template(
    263,
    [148, 4],
    [8, 4],
    [12, 4],
    [7, 2],
    [11, 2],
    [4, 1],
    [233, 1],
    [323, 8],
    [152, 8],
    [231, 4],
    [232, 4],
  )
  const [created, deleted, updated] = [1, 2, 5]
  const start = 1_700_000_000_000
  type Event = { id?: number; at?: number; since?: number }
  const event = (
    kind: number,
    forward: number,
    reverse: number,
    { id = 7, at = 60_000, since = 0 }: Event = {},
  ) =>
    pack(
      u32(id),
      ...hosts,
      u16(50_000),
      u16(443),
      u8(6),
      u8(kind),
      u64(start + at),
      u64(start + since),
      u32(forward),
      u32(reverse),
    )
  /** The octets of every direction in the order of the events. */
  const counted = (...events: Uint8Array[]) => {
    const decoder = createDecoder()
    const rows = decodeAll(decoder, [
      v9({}, set(0, layout)),
      // From the first event on, the connection is complete.
      v9({}, set(263, event(created, 0, 0, { id: 1, at: 0 }))),
      ...events.map((one) => v9({}, set(263, one))),
    ])
    return pick(rows, 'src', 'octets').map(([src, octets]) => [src === '192.0.2.1' ? 'out' : 'in', octets])
  }

  it('are counted by their updates, and at the end by what no update had', () => {
    assert.deepEqual(
      counted(
        event(created, 0, 0),
        event(updated, 100, 900),
        event(updated, 50, 0),
        event(deleted, 170, 900),
      ),
      [
        ['out', 100],
        ['in', 900],
        ['out', 50],
        ['out', 20],
      ],
    )
  })

  it('are not counted twice by an update and an end of the same moment', () => {
    assert.deepEqual(counted(event(updated, 81, 6207), event(deleted, 81, 6207)), [
      ['out', 81],
      ['in', 6207],
    ])
  })

  it('are counted at the end if they had no update', () => {
    assert.deepEqual(counted(event(updated, 1, 1, { id: 8 }), event(deleted, 170, 900)).slice(2), [
      ['out', 170],
      ['in', 900],
    ])
  })

  it('are counted by updates only if they are older than what the collector saw', () => {
    const since = -3_600_000
    assert.deepEqual(
      counted(
        event(updated, 10, 20, { since }),
        event(deleted, 1000, 2000, { since }),
        event(deleted, 3000, 4000, { id: 9, since }),
      ),
      [
        ['out', 10],
        ['in', 20],
      ],
    )
  })

  it('are counted by their ends if the exporter sends no updates', () => {
    assert.deepEqual(counted(event(deleted, 1000, 0, { since: -3_600_000 })), [['out', 1000]])
  })
})

describe('elements of enterprises', () => {
  it('name client and server of a connection (Cisco AVC), also in NetFlow v9', () => {
    const record = pack(...hosts, u16(50_000), u16(443), u8(6), u64(1851), u64(9437), u32(17), u32(18))
    const counters = [
      [4, 1],
      [231, 8],
      [232, 8],
      [298, 4],
      [299, 4],
    ] as const
    const expected = [
      ['192.0.2.1', '198.51.100.2', 50_000, 443, 1851, 17],
      ['198.51.100.2', '192.0.2.1', 443, 50_000, 9437, 18],
    ]
    const overIpfix = template(
      256,
      [12_236, 4, 9],
      [12_237, 4, 9],
      [12_240, 2, 9],
      [12_241, 2, 9],
      ...counters,
    )
    const overV9 = template(256, [45_004, 4], [45_005, 4], [45_008, 2], [45_009, 2], ...counters)
    for (const datagram of [
      ipfix({}, set(2, overIpfix), set(256, record)),
      v9({}, set(0, overV9), set(256, record)),
    ]) {
      assert.deepEqual(
        pick(decodeAll(createDecoder(), [datagram]), 'src', 'dst', 'srcPort', 'dstPort', 'octets', 'packets'),
        expected,
      )
    }
  })

  it('have the TCP flags of both directions in two parts (YAF)', () => {
    const fields = template(
      256,
      [8, 4],
      [12, 4],
      [4, 1],
      [85, 8],
      [86, 8],
      [85, 8, 29_305],
      [86, 8, 29_305],
      [14, 1, 6871],
      [15, 1, 6871],
      [14 + 0x40_00, 1, 6871],
      [15 + 0x40_00, 1, 6871],
    )
    const record = pack(...hosts, u8(6), ...[172, 4, 92, 2].map(u64), u8(0xc2), u8(0x11), u8(0x12), u8(0x11))
    assert.deepEqual(
      pick(
        decodeAll(createDecoder(), [ipfix({}, set(2, fields), set(256, record))]),
        'octets',
        'packets',
        'tcpFlags',
      ),
      [
        [172, 4, 0xd3],
        [92, 2, 0x13],
      ],
    )
  })

  it('are never taken for those of IANA with the same number', () => {
    const decoder = createDecoder()
    decodeAll(decoder, [
      ipfix(
        {},
        set(3, options(300, [[149, 4]], [34, 4, 9999], [305, 4, 9999])),
        set(300, u32(1), u32(1000), u32(2000)),
      ),
    ])
    assert.deepEqual(decoder.samplings(), [])
  })
})

describe('sampling rates', () => {
  const flows = (domain: number) =>
    v9(
      { domain },
      set(0, template(256, [8, 4], [12, 4], [48, 4], [1, 4])),
      set(256, ...hosts, u32(1), u32(100)),
    )
  const announce = (domain: number, rate: number, sampler = 1) =>
    v9(
      { domain },
      set(1, optionsV9(300, [[1, 4]], [48, 4], [50, 4])),
      set(300, u32(0), u32(sampler), u32(rate)),
    )
  const rateOf = (...datagrams: Uint8Array[]) => decodeAll(createDecoder(), datagrams).at(-1)!['rate']

  it('of a sampler come from another domain if the own one knows none (IOS XE)', () => {
    const cases: [string, Uint8Array[], number][] = [
      ['another domain', [announce(6, 1000)], 1000],
      ['several that agree', [announce(6, 1000), announce(7, 1000)], 1000],
      ['several that differ', [announce(6, 1000), announce(7, 100)], 0],
      ['the own domain', [announce(6, 1000), announce(256, 100)], 100],
      ['another sampler', [announce(6, 1000, 2)], 0],
      ['one without flows before one with flows', [announce(7, 100), flows(7), announce(6, 1000)], 1000],
      ['one with flows', [announce(7, 100), flows(7)], 100],
      ['before it was known', [flows(256), announce(6, 1000)], 1000],
    ]
    for (const [name, datagrams, expected] of cases) {
      assert.equal(rateOf(...datagrams, flows(256)), expected, name)
    }
  })

  it('of interfaces in domain 0 are those of all domains', () => {
    const whole = ipfix(
      { domain: 0 },
      set(3, options(300, [[10, 4]], [34, 4])),
      set(300, u32(7), u32(1000), u32(8), u32(50)),
    )
    const data = (...fields: TemplateField[]) => template(256, [8, 4], [12, 4], [10, 4], [1, 4], ...fields)
    const record = (inIf: number) => pack(...hosts, u32(inIf), u32(100))
    const rates = (...sets: Uint8Array[]) =>
      decodeAll(createDecoder(), [whole, ipfix({ domain: 5 }, ...sets)]).map(({ rate }) => rate)
    assert.deepEqual(rates(set(2, data()), set(256, record(7), record(8), record(9))), [1000, 50, 0])
    assert.deepEqual(rates(set(2, data([302, 4])), set(256, record(7), u32(0))), [1000])
  })

  it('are the inverse of a probability (RFC 5477)', () => {
    const float = (value: number, length: 4 | 8): Part => {
      const view = new DataView(new ArrayBuffer(length))
      if (length === 4) view.setFloat32(0, value)
      else view.setFloat64(0, value)
      return new Uint8Array(view.buffer)
    }
    const data = ipfix(
      {},
      set(2, template(256, [8, 4], [12, 4], [302, 4], [1, 4])),
      set(256, ...hosts, u32(17), u32(100)),
    )
    const cases: [number, 4 | 8, number][] = [
      [0.001, 8, 1000],
      [0.01, 4, 100],
      [1, 8, 1],
      [0, 8, 0],
      [-1, 8, 0],
      [NaN, 4, 0],
      [1e-300, 8, 0xff_ff_ff_ff],
    ]
    for (const [probability, length, expected] of cases) {
      const report = ipfix(
        {},
        set(3, options(265, [[302, 4]], [304, 2], [311, length])),
        set(265, u32(17), u16(4), float(probability, length)),
      )
      assert.equal(rateOf(report, data), expected, `${probability} in ${length} octets`)
    }
  })
})

describe('sampling rates that change', () => {
  const interfaces = (id: number) => options(id, [[10, 4]], [34, 4])
  const whole = (id: number) => options(id, [[144, 4]], [34, 4])
  const samplers = options(300, [[144, 4]], [302, 4], [305, 4], [306, 4])
  const message = (...sets: Uint8Array[]) => ipfix({}, ...sets)
  const sampler = (id: number, rate: number) =>
    message(set(3, samplers), set(300, u32(1), u32(id), u32(1), u32(rate - 1)))
  const flow = ipfix(
    {},
    set(2, template(256, [8, 4], [12, 4], [10, 4], [1, 4])),
    set(256, ...hosts, u32(7), u32(100)),
  )
  const hour = 3_600_000

  /** A decoder with a clock, and its stored records. */
  function createExport() {
    const stored = new Map<string, SamplingRecord>()
    const keyOf = ({ sampler: id, inIf, domain }: SamplingRecord) => `${domain} ${id} ${inIf}`
    const start = () => {
      const started = createDecoder({
        onSampling: (one) => void stored.set(keyOf(one), one),
        onOutdatedSampling: (one) => void stored.delete(keyOf(one)),
      })
      return started
    }
    let decoder = start()
    let nowMs = testNowMs
    return {
      send: (...datagrams: Uint8Array[]) => decodeAll(decoder, datagrams, { nowMs }),
      rate: () => decodeAll(decoder, [flow], { nowMs })[0]!['rate'],
      wait: (ms: number) => void (nowMs += ms),
      /** Sends the datagrams so often in such an interval. */
      repeat(times: number, intervalMs: number, ...datagrams: Uint8Array[]) {
        for (let i = 0; i < times; i++) {
          decodeAll(decoder, datagrams, { nowMs })
          nowMs += intervalMs
        }
      },
      /** Like `listSamplings`: the newest record is from now. */
      restart() {
        const newest = Math.max(...Array.from(stored.values(), ({ announced }) => announced))
        decoder = start()
        for (const one of stored.values())
          decoder.addSampling({ ...one, announced: one.announced + Math.floor(nowMs / 1000) - newest })
      },
      stored: () => Array.from(stored.values(), ({ sampler: id, inIf, rate }) => [id, inIf, rate]),
    }
  }

  it('are those of the samplers that the exporter repeats, also after a restart', () => {
    for (const [intervalMs, hours] of [
      [60_000, 0.5],
      [600_000, 1.5],
      [1_800_000, 4],
    ] as const) {
      const one = createExport()
      one.repeat(5, intervalMs, sampler(1, 1000))
      assert.equal(one.rate(), 1000)
      one.send(sampler(2, 2000))
      assert.equal(one.rate(), 0, 'either may be in use')
      one.repeat(Math.ceil((hours * hour) / intervalMs), intervalMs, sampler(2, 2000))
      assert.equal(one.rate(), 2000, `${intervalMs} ms`)
      assert.deepEqual(one.stored(), [[2, 0, 2000]])
      one.restart()
      assert.equal(one.rate(), 2000)
    }
  })

  it('count for days if the exporter does not repeat them, whatever else it repeats', () => {
    const one = createExport()
    one.send(sampler(1, 1000))
    one.repeat(40, hour, sampler(2, 2000))
    assert.deepEqual(one.stored().length, 2)
    // The time before the restart counts.
    one.restart()
    one.repeat(40, hour, sampler(2, 2000))
    assert.equal(one.rate(), 2000)
  })

  it('hold for ever if the exporter announces them once', () => {
    const one = createExport()
    one.send(sampler(1, 1000))
    one.wait(1000 * hour)
    one.send(message(set(3, interfaces(301)), set(301, u32(7), u32(4000))))
    one.wait(1000 * hour)
    assert.equal(one.rate(), 4000)
    one.restart()
    one.wait(1000 * hour)
    assert.equal(one.rate(), 4000)
    assert.deepEqual(one.stored(), [
      [1, 0, 1000],
      [0, 7, 4000],
    ])
  })

  it('hold while the collector is down, and until the exporter repeats them', () => {
    const one = createExport()
    const table = message(set(3, interfaces(301)), set(301, u32(7), u32(4000)))
    for (let i = 0; i < 10; i++) {
      one.repeat(3, 600_000, sampler(1, 1000))
      one.send(table)
    }
    one.wait(500 * hour)
    one.restart()
    assert.equal(one.rate(), 4000)
    one.repeat(12, 600_000, sampler(1, 1000))
    assert.equal(one.rate(), 4000)
  })

  it('hold if several repetitions are lost', () => {
    const one = createExport()
    const table = message(set(3, interfaces(301)), set(301, u32(7), u32(4000), u32(8), u32(50)))
    const part = message(set(301, u32(8), u32(50)))
    one.repeat(3, 600_000, table)
    for (let i = 0; i < 20; i++) {
      one.repeat(4, 600_000, part)
      one.repeat(1, 600_000, table)
      assert.equal(one.rate(), 4000)
    }
  })

  it('are replaced at once if the options template has another scope', () => {
    const one = createExport()
    one.send(message(set(3, interfaces(301)), set(301, u32(7), u32(1000), u32(8), u32(1000))))
    assert.equal(one.rate(), 1000)
    one.send(message(set(3, whole(301)), set(301, u32(1), u32(4000))))
    assert.equal(one.rate(), 4000)
    one.send(message(set(3, options(301, [[144, 4]], [302, 4], [34, 4])), set(301, u32(1), u32(5), u32(6))))
    assert.equal(one.rate(), 6)
    assert.deepEqual(one.stored(), [[5, 0, 6]])
    // A template without rates replaces no rates.
    one.send(message(set(3, options(301, [[144, 4]], [41, 4])), set(301, u32(1), u32(9))))
    assert.equal(one.rate(), 6)
  })

  it('of another options template give way once they are no longer repeated', () => {
    const one = createExport()
    one.repeat(5, 60_000, message(set(3, interfaces(301)), set(301, u32(7), u32(1000))))
    one.repeat(120, 60_000, message(set(3, whole(302)), set(302, u32(1), u32(4000))))
    assert.equal(one.rate(), 4000)
  })

  it('are stored again once an hour, so that a restart knows which ones are repeated', () => {
    const times: number[] = []
    const decoder = createDecoder({ onSampling: ({ announced }) => void times.push(announced) })
    for (let minute = 0; minute <= 150; minute += 10)
      decodeAll(decoder, [sampler(1, 1000)], { nowMs: testNowMs + minute * 60_000 })
    assert.deepEqual(
      times.map((time) => time - testNowMs / 1000),
      [0, 3600, 7200],
    )
  })
})

describe('records without octets and packets', () => {
  it('are no traffic, with a template or without', () => {
    const decoder = createDecoder()
    const fields = template(256, [8, 4], [12, 4], [1, 4], [2, 4])
    const records = (octets: number) =>
      set(256, ...Array.from({ length: 300 }, () => pack(...hosts, u32(octets), u32(octets))))
    const empty = { src: '192.0.2.1', dst: '198.51.100.2', packets: 0, octets: 0 }
    // The second set is read by compiled code.
    const rows = decodeAll(decoder, [
      v9({}, set(0, fields), records(1), records(0), records(1)),
      v5({}, empty, { ...empty, packets: 1, octets: 40 }, empty),
    ])
    assert.deepEqual([rows.length, decoder.counters.recordsWithoutCounters], [601, 302])
  })
})

describe('messages', () => {
  const small = template(256, [8, 4], [12, 4], [1, 4], [2, 4])
  const message = (domain: number, sequence = 0) =>
    ipfix({ domain, sequence }, set(2, small), set(256, ...hosts, u32(domain), u32(1)))

  it('of IPFIX may be several in a datagram, each with its domain', () => {
    const decoder = createDecoder()
    const rows = decodeAll(decoder, [pack(message(7), message(8), message(7, 1))])
    assert.deepEqual(pick(rows, 'octets'), [[7], [8], [7]])
    assert.deepEqual([decoder.counters.datagrams.ipfix, decoder.counters.sequenceGaps], [3, 0])
  })

  it('of IPFIX that are shorter than their header are refused', () => {
    const decoder = createDecoder()
    for (const length of [0, 15]) {
      const broken = Uint8Array.from(message(7))
      broken.set(pack(u16(length)), 2)
      assert.deepEqual(decodeAll(decoder, [pack(broken, message(8))]), [])
    }
    assert.equal(decoder.counters.malformedDatagrams, 2)
  })

  it('go on after a template was redefined with other widths, and after a restart of the exporter', () => {
    const decoder = createDecoder()
    const wide = template(256, [8, 4], [12, 4], [1, 8], [2, 8])
    const record = set(256, ...hosts, u32(1), u32(1))
    const rows = decodeAll(decoder, [
      v9({ sequence: 0xff_ff_ff_ff }, set(0, small), record),
      v9({ sequence: 0 }, set(0, wide), set(256, ...hosts, u64(2), u64(1)), set(0, small), record),
      // Restarted: it counts from the beginning, and sends its data before its template.
      v9({ sequence: 0 }, set(300, ...hosts, u16(3))),
      v9({ sequence: 1 }, set(0, template(300, [8, 4], [12, 4], [1, 2]))),
    ])
    assert.deepEqual(pick(rows, 'octets'), [[1], [2], [1], [3]])
    assert.deepEqual([decoder.counters.sequenceGaps, decoder.counters.sequenceMissing], [1, 0])
  })
})

describe('sFlow', () => {
  const packet = ipv4Frame({ protocol: 17 }, u16(5000), u16(53), u16(8), u16(0))
  const decodeHeader = (header: Uint8Array, protocol = 1) =>
    pick(
      decodeAll(createDecoder(), [sflowDatagram({}, flowSample(1, rawHeader(protocol, 1000, header)))]),
      'src',
      'dstPort',
    )
  const expected = [['192.0.2.1', 53]]

  it('has interfaces of 32 bits in expanded samples', () => {
    const sample = (kind: number, value: number) =>
      xdr(
        3,
        ...[1, 0, 3, 100, 100, 0].map(u32),
        u32(0),
        u32(29_001),
        u32(kind),
        u32(value),
        u32(1),
        rawHeader(11, 100, packet),
      )
    const rows = decodeAll(createDecoder(), [
      sflowDatagram({}, sample(0, 1_285_816_721), sample(0, 0x3f_ff_ff_ff), sample(1, 5), sample(2, 3)),
    ])
    assert.deepEqual(pick(rows, 'inIf', 'outIf'), [
      [29_001, 1_285_816_721],
      [29_001, 0],
      [29_001, 0],
      [29_001, 0],
    ])
  })

  it('has frames behind labels with a control word and without one, and PPP of SONET', () => {
    const label = u32((100 << 12) | 0x1_40)
    const inner = (first: number) => pack(u8(first), new Uint8Array(11), u16(0x0800), packet)
    assert.deepEqual(decodeHeader(ethernetFrame(0x8847, label, u32(0), inner(0x02))), expected)
    assert.deepEqual(
      decodeHeader(ethernetFrame(0x8847, label, u32(0x1234), inner(0x02))),
      expected,
      'a sequence number',
    )
    for (const first of [0x02, 0x1c, 0x90]) {
      assert.deepEqual(
        decodeHeader(ethernetFrame(0x8847, label, inner(first))),
        expected,
        `an address with ${first}`,
      )
    }
    assert.deepEqual(decodeHeader(ethernetFrame(0x8847, label, u32(0x9012_3456))), [])
    assert.deepEqual(decodeHeader(pack(u16(0xff_03), u16(0x0021), packet), 14), expected)
  })

  it('has labels inside of labels only to a bounded depth', () => {
    // Every frame that may begin here contains labels again, with a control word and without one.
    const hostile = ethernetFrame(0x8847, ...Array.from({ length: 15_000 }, () => u32(0x0000_8847)), packet)
    const labels = ethernetFrame(
      0x8847,
      ...Array.from({ length: 2500 }, () => pack(u32(0x1_00), u32(0), new Uint8Array(12), u16(0x8847))),
      packet,
    )
    for (const header of [hostile, labels]) assert.deepEqual(decodeHeader(header), [])
  })
})

describe('an exporter that announces no rate', () => {
  const hourMs = 3_600_000
  const flow = { src: '192.0.2.1', dst: '198.51.100.2', packets: 1, octets: 100 }
  const layout = template(256, [8, 4], [12, 4], [1, 4], [2, 4])
  const ipfixFlow = set(256, pack(...hosts, u32(100), u32(1)))
  const rates = (rows: readonly FlowRow[]) => rows.map(({ rate }) => rate)

  it('does not sample after an hour, and has an unknown rate until then', () => {
    const decoder = createDecoder()
    const send = (ms: number) =>
      rates(decodeAll(decoder, [v5({}, flow), ipfix({}, ipfixFlow)], { nowMs: testNowMs + ms }))
    decodeAll(decoder, [ipfix({}, set(2, layout))])
    assert.deepEqual(send(hourMs - 1000), [0, 0])
    assert.deepEqual(send(hourMs), [1, 1])
    const announced = options(257, [[149, 4]], [34, 4])
    decodeAll(decoder, [ipfix({}, set(3, announced), set(257, pack(u32(1), u32(500))))], {
      nowMs: testNowMs + hourMs,
    })
    assert.deepEqual(send(hourMs), [0, 500], 'the header of v5 has its own rate')
  })

  it('is known for an hour if the database has it for an hour', () => {
    const decoder = createDecoder()
    decodeAll(decoder, [ipfix({}, set(2, layout))])
    decoder.setKnown(
      new Map([
        ['192.0.2.1', { firstSeen: (testNowMs - hourMs) / 1000, speeds: new Map(), isByPort: false }],
      ]),
    )
    assert.deepEqual(rates(decodeAll(decoder, [ipfix({}, ipfixFlow)])), [1])
  })
})

import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createFlowColumns } from '../../flow/flow-columns.ts'
import type { InterfaceCounters, SamplingRecord, TemplateRecord } from '../../flow/flow-decoder.ts'
import { createDecoder } from './decoder.ts'
import {
  bytes,
  decodeAll,
  ethernetFrame,
  flowSample,
  ipOctets,
  ipfix,
  ipv4Frame,
  ipv6Frame,
  options,
  optionsV9,
  pack,
  rawHeader,
  flowRowsOf,
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
  type FlowRow,
} from './testing.ts'

const nothing: FlowRow = {
  time: testNowMs / 1000,
  exporter: 0,
  srcPort: 0,
  dstPort: 0,
  protocol: 0,
  tcpFlags: 0,
  dscp: 0,
  fragment: 0,
  inIf: 0,
  outIf: 0,
  srcAs: 0,
  dstAs: 0,
  rate: 0,
  duration: 0,
}

/** Addresses, octets, packets. */
const small = template(256, [8, 4], [12, 4], [1, 4], [2, 4])
const smallRecord = (octets: number, packets = 1) =>
  pack(ipOctets('192.0.2.1'), ipOctets('198.51.100.2'), u32(octets), u32(packets))
const smallRow = (octets: number, packets = 1): FlowRow => ({
  ...nothing,
  src: '192.0.2.1',
  dst: '198.51.100.2',
  octets,
  packets,
})

const sum = (rows: readonly FlowRow[], name: string) =>
  rows.reduce((total, row) => total + Number(row[name]), 0)

describe('NetFlow v5', () => {
  const record = { src: '192.0.2.1', dst: '198.51.100.2', packets: 3, octets: 1500 }

  it('is decoded with all its fields, and the lower 14 bits of the sampling field', () => {
    const [row, ...others] = decodeAll(createDecoder(), [v5({ sampling: (1 << 14) | 1000 }, record)])
    assert.deepEqual(others, [])
    assert.deepEqual(row, {
      time: testNowMs / 1000,
      exporter: 0,
      src: '192.0.2.1',
      dst: '198.51.100.2',
      srcPort: 1000,
      dstPort: 53,
      protocol: 17,
      tcpFlags: 0x12,
      dscp: 46,
      fragment: 0,
      inIf: 3,
      outIf: 4,
      srcAs: 64_500,
      dstAs: 64_501,
      octets: 1500,
      packets: 3,
      rate: 1000,
      duration: 5000,
    })
  })

  it('has no rate if the header has none, and the one of the platform file if there is one', () => {
    const decoder = createDecoder()
    assert.equal(decodeAll(decoder, [v5({}, record)])[0]!['rate'], 0)
    decoder.setExporters([{ address: '192.0.2.1', samplingRate: 77 }])
    assert.equal(decodeAll(decoder, [v5({ sampling: 5 }, record)])[0]!['rate'], 77)
    decoder.setExporters([])
    assert.equal(decodeAll(decoder, [v5({ sampling: 5 }, record)])[0]!['rate'], 5)
  })

  it('with fewer records than announced gives those that are whole', () => {
    const decoder = createDecoder()
    const datagram = v5({}, record, record, record)
    assert.equal(decodeAll(decoder, [datagram.subarray(0, datagram.length - 1)]).length, 2)
    assert.equal(decoder.counters.truncated, 1)
  })

  it('counts the flows that are missing, for each engine', () => {
    const decoder = createDecoder()
    decodeAll(decoder, [
      v5({ sequence: 10 }, record),
      v5({ sequence: 11 }, record),
      v5({ sequence: 500, engine: 1 }, record),
    ])
    assert.equal(decoder.counters.sequenceGaps, 0)
    decodeAll(decoder, [v5({ sequence: 15 }, record), v5({ sequence: 501, engine: 1 }, record)])
    assert.deepEqual([decoder.counters.sequenceGaps, decoder.counters.sequenceMissing], [1, 3])
    decodeAll(decoder, [v5({ sequence: 0 }, record)])
    assert.deepEqual(
      [decoder.counters.sequenceGaps, decoder.counters.sequenceMissing],
      [2, 3],
      'a restart loses nothing',
    )
  })
})

describe('NetFlow v9 and IPFIX', () => {
  it('decode several sets of several templates in one message', () => {
    const v6 = template(300, [27, 16], [28, 16], [85, 8], [86, 8], [4, 1], [7, 2], [11, 2])
    const v6Record = pack(
      ipOctets('2001:db8::1'),
      ipOctets('2001:db8::2'),
      u64(2n ** 40n + 7n),
      u64(2n ** 33n),
      u8(6),
      u16(443),
      u16(50_000),
    )
    for (const [build, id] of [
      [v9, 0],
      [ipfix, 2],
    ] as const) {
      const rows = decodeAll(createDecoder(), [
        build(
          {},
          set(id, small, v6),
          set(256, smallRecord(100), smallRecord(200)),
          set(300, v6Record),
          set(256, smallRecord(300)),
        ),
      ])
      assert.deepEqual(rows, [
        smallRow(100),
        smallRow(200),
        {
          ...nothing,
          src: '2001:db8::1',
          dst: '2001:db8::2',
          octets: 2 ** 40 + 7,
          packets: 2 ** 33,
          protocol: 6,
          srcPort: 443,
          dstPort: 50_000,
        },
        smallRow(300),
      ])
    }
  })

  it('keep templates apart by version, domain and exporter, and not by source port', () => {
    const decoder = createDecoder()
    decodeAll(decoder, [v9({ domain: 1 }, set(0, small))])
    assert.equal(decodeAll(decoder, [v9({ domain: 2 }, set(256, smallRecord(1)))]).length, 0)
    assert.equal(decodeAll(decoder, [ipfix({ domain: 1 }, set(256, smallRecord(1)))]).length, 0)
    assert.equal(
      decodeAll(decoder, [v9({ domain: 1 }, set(256, smallRecord(1)))], { exporter: '192.0.2.2' }).length,
      0,
    )
    assert.equal(decodeAll(decoder, [v9({ domain: 1 }, set(256, smallRecord(1)))]).length, 1)
    assert.equal(decoder.counters.heldSets, 3)
  })

  it('accept counters and interfaces of reduced length', () => {
    const reduced = template(
      256,
      [8, 4],
      [12, 4],
      [1, 3],
      [2, 1],
      [10, 1],
      [14, 3],
      [16, 2],
      [17, 4],
      [23, 5],
    )
    const record = pack(
      ipOctets('192.0.2.1'),
      ipOctets('198.51.100.2'),
      [0x01_02_03, 3],
      u8(9),
      u8(7),
      [70_000, 3],
      u16(65_000),
      u32(4_200_000_000),
      [5, 5],
    )
    assert.deepEqual(decodeAll(createDecoder(), [ipfix({}, set(2, reduced), set(256, record))]), [
      { ...smallRow(0x01_02_03, 9), inIf: 7, outIf: 70_000, srcAs: 65_000, dstAs: 4_200_000_000 },
    ])
  })

  it('skip fields of variable length and of enterprises', () => {
    const open = template(256, [8, 4], [371, 65_535], [12, 4], [1, 4, 9999], [96, 65_535, 9], [1, 4], [2, 4])
    const record = (text: string) =>
      pack(
        ipOctets('192.0.2.1'),
        u8(text.length),
        bytes(text),
        ipOctets('198.51.100.2'),
        u32(0xffff),
        u8(255),
        u16(300),
        new Uint8Array(300),
        u32(50),
        u32(2),
      )
    const decoder = createDecoder()
    assert.deepEqual(
      decodeAll(decoder, [ipfix({}, set(2, open), set(256, record('a'), record(''), record('name')))]),
      [smallRow(50, 2), smallRow(50, 2), smallRow(50, 2)],
    )
    const named = template(256, [8, 4], [12, 4], [1, 4], [2, 4], [236, 65_535])
    const v9Record = (text: string) => pack(smallRecord(50, 2), u8(text.length), bytes(text))
    assert.deepEqual(
      decodeAll(createDecoder(), [v9({}, set(0, named), set(256, v9Record(''), v9Record('vpn1')))]),
      [smallRow(50, 2), smallRow(50, 2)],
      'as in the NetStream of H3C, which is NetFlow v9',
    )
    const cut = pack(u16(256), u16(10), ipOctets('192.0.2.1'), u8(200), u8(0))
    assert.equal(decodeAll(decoder, [ipfix({}, cut)]).length, 0)
  })

  it('read an address of variable length if it has four octets', () => {
    const open = template(256, [8, 65_535], [12, 4], [1, 4], [2, 4])
    const record = pack(u8(4), ipOctets('192.0.2.1'), ipOctets('198.51.100.2'), u32(5), u32(1))
    assert.deepEqual(decodeAll(createDecoder(), [ipfix({}, set(2, open), set(256, record))]), [smallRow(5)])
  })

  it('use OUT_BYTES and OUT_PKTS only without IN_BYTES and IN_PKTS', () => {
    const both = template(256, [8, 4], [12, 4], [23, 4], [24, 4], [1, 4], [2, 4])
    const only = template(257, [8, 4], [12, 4], [23, 4], [24, 4])
    const record = (...counters: number[]) =>
      pack(ipOctets('192.0.2.1'), ipOctets('198.51.100.2'), ...counters.map(u32))
    assert.deepEqual(
      decodeAll(createDecoder(), [
        v9(
          {},
          set(0, both, only),
          set(256, record(900, 9, 500, 5), record(900, 9, 0, 0)),
          set(257, record(700, 7)),
        ),
      ]),
      [smallRow(500, 5), smallRow(900, 9), smallRow(700, 7)],
    )
  })

  it('prefer deltas to totals', () => {
    const both = template(256, [8, 4], [12, 4], [85, 4], [86, 4], [1, 4], [2, 4])
    const record = pack(ipOctets('192.0.2.1'), ipOctets('198.51.100.2'), ...[9000, 90, 500, 5].map(u32))
    assert.deepEqual(decodeAll(createDecoder(), [ipfix({}, set(2, both), set(256, record))]), [
      smallRow(500, 5),
    ])
  })

  it('ignore addresses and ports after translation', () => {
    const nat = template(
      256,
      [225, 4],
      [226, 4],
      [227, 2],
      [228, 2],
      [8, 4],
      [12, 4],
      [7, 2],
      [11, 2],
      [1, 4],
      [2, 4],
    )
    const record = pack(
      ipOctets('203.0.113.1'),
      ipOctets('203.0.113.2'),
      u16(1),
      u16(2),
      ipOctets('192.0.2.1'),
      ipOctets('198.51.100.2'),
      u16(3),
      u16(4),
      u32(5),
      u32(1),
    )
    assert.deepEqual(decodeAll(createDecoder(), [ipfix({}, set(2, nat), set(256, record))]), [
      { ...smallRow(5), srcPort: 3, dstPort: 4 },
    ])
  })

  it('give a biflow as two flows, the second one reversed (RFC 5103)', () => {
    const biflow = template(
      256,
      [8, 4],
      [12, 4],
      [7, 2],
      [11, 2],
      [4, 1],
      [6, 1],
      [10, 4],
      [14, 4],
      [1, 4],
      [2, 4],

      [1, 4, 29_305],
      [2, 4, 29_305],
      [6, 1, 29_305],
    )
    const record = (forward: number, reverse: number) =>
      pack(
        ipOctets('192.0.2.1'),
        ipOctets('198.51.100.2'),
        u16(50_000),
        u16(443),
        u8(6),
        u8(2),
        u32(11),
        u32(12),
        u32(forward * 100),
        u32(forward),
        u32(reverse * 100),
        u32(reverse),
        u8(16),
      )
    const forward = {
      ...smallRow(500, 5),
      srcPort: 50_000,
      dstPort: 443,
      protocol: 6,
      tcpFlags: 2,
      inIf: 11,
      outIf: 12,
    }
    const reverse = {
      ...forward,
      src: '198.51.100.2',
      dst: '192.0.2.1',
      srcPort: 443,
      dstPort: 50_000,
      tcpFlags: 16,
      inIf: 12,
      outIf: 11,
      octets: 700,
      packets: 7,
    }
    assert.deepEqual(
      decodeAll(createDecoder(), [
        ipfix({}, set(2, biflow), set(256, record(5, 7), record(5, 0), record(0, 7))),
      ]),
      [forward, reverse, forward, reverse],
    )
  })

  it('give both directions of a connection of an ASA, and skip its events without counters', () => {
    const teardown = template(263, [8, 4], [12, 4], [7, 2], [11, 2], [4, 1], [233, 1], [231, 4], [232, 4])
    const created = template(256, [8, 4], [12, 4], [7, 2], [11, 2], [4, 1], [233, 1])
    const start = pack(ipOctets('192.0.2.1'), ipOctets('198.51.100.2'), u16(50_000), u16(443), u8(6))
    const decoder = createDecoder()
    const rows = decodeAll(decoder, [
      v9(
        {},
        set(0, created, teardown),
        set(256, start, u8(1)),
        set(263, pack(start, u8(2), u32(100), u32(9000)), pack(start, u8(3), u32(0), u32(0))),
      ),
    ])
    assert.deepEqual(
      rows.map(({ src, octets }) => [src, octets]),
      [
        ['192.0.2.1', 100],
        ['198.51.100.2', 9000],
      ],
    )
    assert.equal(decoder.counters.recordsWithoutCounters, 2)
  })

  it('have type and code of ICMP in the destination port, whichever elements contain them', () => {
    const elements = [
      [1, [32, 2], u16(0x0301), 0x0301],
      [58, [139, 2], u16(0x8000), 0x8000],
      [17, [32, 2], u16(0x0301), 99],
      [1, [139, 2], u16(0x8000), 99],
    ] as const
    for (const [protocol, element, value, expected] of elements) {
      const icmp = template(256, [8, 4], [12, 4], [4, 1], [11, 2], element, [1, 4])
      const record = pack(
        ipOctets('192.0.2.1'),
        ipOctets('198.51.100.2'),
        u8(protocol),
        u16(99),
        value,
        u32(60),
      )
      const [row] = decodeAll(createDecoder(), [ipfix({}, set(2, icmp), set(256, record))])
      assert.equal(row!['dstPort'], expected)
    }
    const apart = template(256, [8, 4], [12, 4], [4, 1], [176, 1], [177, 1], [1, 4])
    const record = pack(ipOctets('192.0.2.1'), ipOctets('198.51.100.2'), u8(1), u8(11), u8(1), u32(60))
    assert.equal(
      decodeAll(createDecoder(), [ipfix({}, set(2, apart), set(256, record))])[0]!['dstPort'],
      0x0b01,
    )
  })

  it('decide the family by the version if a template has both', () => {
    const both = template(256, [60, 1], [8, 4], [12, 4], [27, 16], [28, 16], [1, 4])
    const none6 = new Uint8Array(32)
    const none4 = new Uint8Array(8)
    const rows = decodeAll(createDecoder(), [
      ipfix(
        {},
        set(2, both),
        set(
          256,
          pack(u8(4), ipOctets('192.0.2.1'), ipOctets('198.51.100.2'), none6, u32(1)),
          pack(u8(6), none4, ipOctets('2001:db8::1'), ipOctets('2001:db8::2'), u32(2)),
          pack(u8(0), none4, ipOctets('2001:db8::1'), ipOctets('2001:db8::2'), u32(3)),
        ),
      ),
    ])
    assert.deepEqual(
      rows.map(({ src }) => src),
      ['192.0.2.1', '2001:db8::1', '2001:db8::1'],
    )
  })

  it('recognise fragments, the DSCP, and physical interfaces', () => {
    const fields = template(256, [8, 4], [12, 4], [88, 2], [197, 1], [195, 1], [10, 4], [252, 4], [1, 4])
    const record = (offset: number, flags: number, inIf: number) =>
      pack(
        ipOctets('192.0.2.1'),
        ipOctets('198.51.100.2'),
        u16(offset),
        u8(flags),
        u8(46),
        u32(inIf),
        u32(8),
        u32(1),
      )
    const rows = decodeAll(createDecoder(), [
      ipfix({}, set(2, fields), set(256, record(0, 0x40, 5), record(0, 0x20, 0), record(185, 0, 5))),
    ])
    assert.deepEqual(
      rows.map(({ fragment, dscp, inIf }) => [fragment, dscp, inIf]),
      [
        [0, 46, 5],
        [1, 46, 8],
        [1, 46, 5],
      ],
    )
  })

  it('have the duration of a flow, whichever clock its times are of', () => {
    const cases: [TemplateField[], Uint8Array, number][] = [
      [
        [
          [22, 4],
          [21, 4],
        ],
        pack(u32(0xffff_ff00), u32(0x100)),
        0x200,
      ],
      [
        [
          [152, 8],
          [153, 8],
        ],
        pack(u64(1_700_000_000_000), u64(1_700_000_060_000)),
        60_000,
      ],
      [
        [
          [150, 4],
          [151, 4],
        ],
        pack(u32(1_700_000_000), u32(1_700_000_030)),
        30_000,
      ],
      [[[161, 4]], pack(u32(1234)), 1234],
      [
        [
          [22, 4],
          [21, 4],
        ],
        pack(u32(5000), u32(4000)),
        0,
      ],
      [[[22, 4]], pack(u32(5000)), 0],
    ]
    for (const [fields, times, expected] of cases) {
      const timed = template(256, [8, 4], [12, 4], [1, 4], ...fields)
      const record = pack(ipOctets('192.0.2.1'), ipOctets('198.51.100.2'), u32(60), times)
      assert.equal(
        decodeAll(createDecoder(), [ipfix({}, set(2, timed), set(256, record))])[0]!['duration'],
        expected,
      )
    }
  })

  it('skip and count records without addresses: layer 2 and MPLS', () => {
    const decoder = createDecoder()
    const layer2 = template(256, [56, 6], [80, 6], [1, 4], [2, 4])
    const mpls = template(257, [70, 3], [71, 3], [1, 4], [2, 4])
    const rows = decodeAll(decoder, [
      v9(
        {},
        set(0, layer2, mpls),
        set(256, new Uint8Array(20), new Uint8Array(20)),
        set(257, new Uint8Array(14)),
      ),
    ])
    assert.deepEqual(rows, [])
    assert.equal(decoder.counters.recordsWithoutAddress, 3)
  })

  it('decode sections of packets (PSAMP)', () => {
    const sections = template(256, [10, 4], [312, 2], [315, 65_535])
    const packet = ethernetFrame(0x0800, ipv4Frame({ protocol: 17 }, u16(5000), u16(53), u16(8), u16(0)))
    const rows = decodeAll(createDecoder(), [
      ipfix({}, set(2, sections), set(256, u32(9), u16(1400), u8(packet.length), packet)),
    ])
    assert.deepEqual(rows, [
      { ...smallRow(1000), inIf: 9, srcPort: 5000, dstPort: 53, protocol: 17, dscp: 0 },
    ])
  })

  it('are left out and counted if no network can have sent them', () => {
    const wide = template(256, [8, 4], [12, 4], [1, 8], [2, 8], [34, 4])
    const record = (octets: number, packets: number, rate: number) =>
      pack(ipOctets('192.0.2.1'), ipOctets('198.51.100.2'), u64(octets), u64(packets), u32(rate))
    const decoder = createDecoder()
    const rows = decodeAll(decoder, [
      ipfix(
        {},
        set(2, wide),
        set(
          256,
          record(1000, 1, 1),
          // 2^63 octets in one packet, and 160 times what 800 Gbit/s send in a minute.
          record(2 ** 63, 1, 0),
          record(2000, 2, 1),
          record(1e12, 1e9, 1000),
          record(3000, 0, 1),
        ),
      ),
    ])
    assert.deepEqual(
      rows.map(({ octets, packets }) => [octets, packets]),
      [
        [1000, 1],
        [2000, 2],
        [3000, 0],
      ],
    )
    assert.deepEqual([decoder.counters.implausibleRecords, decoder.counters.flows], [2, 3])
  })

  it('of tunnels are flows of the outer packet, without the ports of the inner one', () => {
    const tunnel = template(
      256,
      [8, 4],
      [12, 4],
      [4, 1],
      [8, 4],
      [12, 4],
      [4, 1],
      [7, 2],
      [11, 2],
      [1, 4],
      [2, 4],
    )
    const [row] = decodeAll(createDecoder(), [
      ipfix(
        {},
        set(2, tunnel),
        set(
          256,
          pack(
            ipOctets('192.0.2.1'),
            ipOctets('198.51.100.2'),
            u8(47),
            ipOctets('10.0.0.1'),
            ipOctets('10.0.0.2'),
            u8(6),
          ),
          pack(u16(5000), u16(443), u32(1500), u32(1)),
        ),
      ),
    ])
    assert.deepEqual(
      [row!['src'], row!['dst'], row!['protocol'], row!['srcPort'], row!['dstPort'], row!['octets']],
      ['192.0.2.1', '198.51.100.2', 47, 0, 0, 1500],
    )
  })

  it('are read to the end of their set, also if the message states a smaller length', () => {
    const whole = ipfix({}, set(2, small), set(256, smallRecord(1), smallRecord(2)))
    new DataView(whole.buffer, whole.byteOffset).setUint16(2, whole.length - 8)
    const decoder = createDecoder()
    assert.equal(
      decodeAll(decoder, [pack(whole, ipfix({ sequence: 2 }, set(256, smallRecord(3))))]).length,
      3,
    )
    assert.equal(decoder.counters.truncated, 0)
  })

  it('refuse templates without fields, with records of no octets, and records over 64 kB', () => {
    const decoder = createDecoder()
    const zero = template(256, [1, 0], [2, 0])
    const wide = template(257, [8, 40_000], [12, 40_000])
    const many = template(258, ...Array.from({ length: 257 }, () => [5, 1] as const))
    decodeAll(decoder, [
      v9({}, set(0, zero)),
      v9({}, set(0, wide)),
      v9({}, set(0, many)),
      v9({}, set(0, pack(u16(300), u16(0)))),
    ])
    assert.equal(decoder.counters.refusedTemplates, 4)
    assert.deepEqual(decoder.templates(), [])
  })

  it('stop at a set whose length is impossible, after the ones before it', () => {
    const decoder = createDecoder()
    const good = pack(set(0, small), set(256, smallRecord(1)))
    for (const length of [0, 3, 500]) {
      assert.equal(decodeAll(decoder, [v9({}, good, pack(u16(256), u16(length)), good)]).length, 1)
    }
    assert.equal(decoder.counters.truncated, 3)
  })

  it('end where the rest of the datagram is filled with zeros', () => {
    const decoder = createDecoder()
    const filled = v9({}, set(0, small), set(256, smallRecord(1)), new Uint8Array(1000))
    assert.deepEqual(decodeAll(decoder, [filled]), [smallRow(1)])
    assert.equal(decoder.counters.truncated, 0)
  })

  it('count missing records of IPFIX and missing datagrams of v9', () => {
    const decoder = createDecoder()
    const two = set(256, smallRecord(1), smallRecord(2))
    decodeAll(decoder, [ipfix({ sequence: 5 }, set(2, small), two), ipfix({ sequence: 7 }, two)])
    assert.equal(decoder.counters.sequenceGaps, 0)
    decodeAll(decoder, [ipfix({ sequence: 19 }, two)])
    assert.deepEqual([decoder.counters.sequenceGaps, decoder.counters.sequenceMissing], [1, 10])
    decodeAll(decoder, [
      v9({ sequence: 4 }, set(0, small)),
      v9({ sequence: 5 }, two),
      v9({ sequence: 8 }, two),
    ])
    assert.deepEqual([decoder.counters.sequenceGaps, decoder.counters.sequenceMissing], [2, 12])
  })
})

describe('templates', () => {
  it('may come after their data, which waits and is decoded with the time of its receipt', () => {
    const decoder = createDecoder()
    const data = [v9({}, set(256, smallRecord(1))), v9({}, set(256, smallRecord(2)))]
    assert.deepEqual(decodeAll(decoder, data), [])
    const rows = decodeAll(decoder, [v9({}, set(0, small))], { nowMs: testNowMs + 30_000 })
    assert.deepEqual(rows, [smallRow(1), smallRow(2)])
    assert.equal(decoder.counters.flows, 2)
  })

  it('are waited for by at most 1 MB for 60 seconds', () => {
    const decoder = createDecoder()
    const data = v9({}, set(256, new Uint8Array(60_000)))
    decodeAll(
      decoder,
      Array.from({ length: 20 }, () => data),
    )
    assert.deepEqual([decoder.counters.heldSets, decoder.counters.overflowedSets], [17, 3])
    const columns = createFlowColumns(10)
    decoder.releaseHeld(testNowMs + 59_000, columns)
    assert.equal(decoder.counters.expiredSets, 0)
    decoder.releaseHeld(testNowMs + 61_000, columns)
    assert.equal(decoder.counters.expiredSets, 17)
    decodeAll(decoder, [data])
    assert.equal(decoder.counters.heldSets, 18, 'there is room again')
  })

  it('release waiting data only as far as there is room for it', () => {
    const decoder = createDecoder()
    decodeAll(
      decoder,
      [1, 2, 3].map((octets) => v9({}, set(256, smallRecord(octets)))),
    )
    const [known] = templatesOf(v9({}, set(0, small)))
    decoder.addTemplate(known!)
    const columns = createFlowColumns(2)
    const rows: FlowRow[] = []
    for (let i = 0; i < 3; i++) {
      columns.length = 0
      decoder.releaseHeld(testNowMs, columns)
      rows.push(...flowRowsOf(columns))
    }
    assert.deepEqual(rows, [smallRow(1), smallRow(2), smallRow(3)])
  })

  it('are reported once, and again when they change', () => {
    const reported: TemplateRecord[] = []
    const decoder = createDecoder({ onTemplate: (one) => reported.push(one) })
    const changed = template(256, [8, 4], [12, 4], [1, 8])
    decodeAll(decoder, [v9({}, set(0, small)), v9({}, set(0, small)), v9({}, set(0, changed))])
    assert.deepEqual(
      reported.map(({ fields }) => fields.length),
      [4, 3],
    )
    assert.deepEqual(decoder.templates(), reported.slice(1))
  })

  it('are asked for once when they are unknown, and can be added from outside', () => {
    const asked: unknown[] = []
    const decoder = createDecoder({ onUnknownTemplate: (key) => asked.push(key) })
    decodeAll(decoder, [
      ipfix({ domain: 7 }, set(256, smallRecord(1))),
      ipfix({ domain: 7 }, set(256, smallRecord(2))),
    ])
    assert.deepEqual(asked, [{ exporter: '192.0.2.1', version: 10, domain: 7, id: 256 }])
    const [known] = templatesOf(ipfix({ domain: 7 }, set(2, small)))
    decoder.addTemplate(known!)
    const columns = createFlowColumns(10)
    decoder.releaseHeld(testNowMs, columns)
    assert.deepEqual(flowRowsOf(columns), [smallRow(1), smallRow(2)])
  })

  it('are withdrawn one by one or all of a kind (IPFIX)', () => {
    const withdrawn: number[] = []
    const decoder = createDecoder({ onWithdrawal: ({ id }) => withdrawn.push(id) })
    const other = template(257, [8, 4], [12, 4], [1, 4])
    decodeAll(decoder, [ipfix({}, set(2, small, other), set(3, options(300, [[149, 4]], [34, 4])))])
    decodeAll(decoder, [ipfix({}, set(2, pack(u16(257), u16(0))))])
    assert.deepEqual(withdrawn, [257])
    decodeAll(decoder, [ipfix({}, set(2, pack(u16(2), u16(0))))])
    assert.deepEqual(withdrawn, [257, 256])
    assert.deepEqual(
      decoder.templates().map(({ id }) => id),
      [300],
    )
    decodeAll(decoder, [ipfix({}, set(3, pack(u16(3), u16(0))))])
    assert.deepEqual(withdrawn, [257, 256, 300])
  })

  it('are at most 4,096 for an exporter', () => {
    const decoder = createDecoder()
    for (let domain = 0; domain < 5; domain++) {
      decodeAll(decoder, [
        v9({ domain }, set(0, ...Array.from({ length: 1000 }, (_, i) => template(256 + i, [8, 4], [1, 4])))),
      ])
    }
    assert.equal(decoder.templates().length, 4096)
    assert.equal(decoder.counters.overLimit, 904)
    assert.equal(decodeAll(decoder, [v9({}, set(0, small))], { exporter: '192.0.2.2' }).length, 0)
    assert.equal(decoder.templates().length, 4097, 'another exporter has its own limit')
  })

  it('are at most 65,536 for exporters that the platform file does not name, those of replaced ones not counted', () => {
    const decoder = createDecoder({ exportersMax: 17 })
    decoder.setExporters([{ address: '203.0.113.1' }])
    const all = v9({}, set(0, ...Array.from({ length: 4096 }, (_, i) => template(256 + i, [8, 4], [1, 4]))))
    const countAfter = (exporter: string, nowMs = testNowMs) => {
      decodeAll(decoder, [v9({}, set(0, small))], { exporter, nowMs })
      return decoder.templates().length
    }
    for (let i = 1; i <= 16; i++) decodeAll(decoder, [all], { exporter: `198.51.100.${i}` })
    assert.equal(decoder.templates().length, 65_536)
    assert.equal(countAfter('203.0.113.1'), 65_537, 'named in the platform file')
    const laterMs = testNowMs + 3_700_000
    assert.equal(countAfter('192.0.2.1', laterMs), 65_537 - 4096 + 1)
    assert.equal(countAfter('192.0.2.2', laterMs), 65_537 - 2 * 4096 + 2)
  })
})

const templatesOf = (datagram: Uint8Array): TemplateRecord[] => {
  const decoder = createDecoder()
  decodeAll(decoder, [datagram])
  return decoder.templates()
}

describe('sampling rates', () => {
  const withSampler = template(257, [8, 4], [12, 4], [48, 1], [10, 4], [1, 4], [2, 4])
  const record = (sampler: number, inIf: number) =>
    pack(ipOctets('192.0.2.1'), ipOctets('198.51.100.2'), u8(sampler), u32(inIf), u32(100), u32(1))
  const rates = (rows: readonly FlowRow[]) => rows.map(({ rate }) => rate)

  it('come from options of the whole domain', () => {
    const cases: [string, Uint8Array, Uint8Array, number][] = [
      [
        '34, v9',
        v9({}, set(1, optionsV9(300, [[1, 4]], [34, 4], [35, 1])), set(300, u32(0), u32(512), u8(2))),
        v9({}, set(0, small), set(256, smallRecord(1))),
        512,
      ],
      [
        '50, v9',
        v9({}, set(1, optionsV9(300, [[1, 4]], [50, 4])), set(300, u32(0), u32(513))),
        v9({}, set(0, small), set(256, smallRecord(1))),
        513,
      ],
      [
        '305 and 306',
        ipfix(
          {},
          set(3, options(300, [[149, 4]], [304, 2], [305, 4], [306, 4])),
          set(300, u32(1), u16(1), u32(1), u32(999)),
        ),
        ipfix({}, set(2, small), set(256, smallRecord(1))),
        1000,
      ],
      [
        '305 alone',
        ipfix({}, set(3, options(300, [[144, 4]], [305, 4])), set(300, u32(1), u32(2000))),
        ipfix({}, set(2, small), set(256, smallRecord(1))),
        2000,
      ],
      [
        '309 and 310',
        ipfix({}, set(3, options(300, [[144, 4]], [309, 4], [310, 4])), set(300, u32(1), u32(2), u32(4000))),
        ipfix({}, set(2, small), set(256, smallRecord(1))),
        2000,
      ],
    ]
    for (const [name, option, data, expected] of cases) {
      assert.deepEqual(rates(decodeAll(createDecoder(), [option, data])), [expected], name)
    }
  })

  it('are those of the algorithm, or else of a complete pair before a single element', () => {
    const one = (fields: (readonly [number, number])[], ...values: number[]) =>
      rates(
        decodeAll(createDecoder(), [
          ipfix({}, set(3, options(300, [[144, 4]], ...fields)), set(300, u32(1), ...values.map(u32))),
          ipfix({}, set(2, small), set(256, smallRecord(1))),
        ]),
      )[0]
    const size: (readonly [number, number])[] = [
      [309, 4],
      [310, 4],
    ]
    // The sampler table of IOS XR: random, 1 in 1,000, with an interval of 1.
    assert.equal(one([[304, 4], [305, 4], ...size], 3, 1, 1, 1000), 1000)
    assert.equal(one([[305, 4], ...size], 1, 1, 1000), 1000)
    const count = [
      [305, 4],
      [306, 4],
    ] as const
    assert.equal(one([[304, 4], ...count, ...size], 1, 1, 99, 1, 1000), 100)
    const time = [
      [307, 4],
      [308, 4],
    ] as const
    assert.equal(one([[304, 4], ...time], 2, 10, 90), 10)
    // A filter selects by a property: the unselected part is unknown.
    assert.equal(one([[304, 4], ...size], 5, 1, 1000), 0)
    // The elements of the algorithm are missing.
    assert.equal(
      one(
        [
          [304, 4],
          [34, 4],
        ],
        2,
        64,
      ),
      64,
    )
    assert.equal(
      one(
        [
          [50, 4],
          [34, 4],
          [305, 4],
        ],
        7,
        64,
        3,
      ),
      64,
    )
  })

  it('belong to a sampler or to an interface', () => {
    const decoder = createDecoder()
    const bySampler = options(300, [[149, 4]], [302, 8], [305, 4], [306, 4])
    const byInterface = options(301, [[10, 4]], [34, 4])
    decodeAll(decoder, [
      ipfix(
        {},
        set(3, bySampler, byInterface),
        set(300, u32(1), u64(5), u32(1), u32(99)),
        set(300, u32(1), u64(6), u32(1), u32(199)),
        set(301, u32(11), u32(50)),
      ),
    ])
    const rows = decodeAll(decoder, [
      ipfix(
        {},
        set(2, small, withSampler),
        set(257, record(5, 1), record(6, 11), record(0, 11), record(0, 12), record(7, 1)),
        set(256, smallRecord(1)),
      ),
    ])
    assert.deepEqual(rates(rows), [100, 200, 50, 0, 0, 0])
  })

  it('of the only sampler hold for flows that name none, those of domain 0 for all domains', () => {
    const one = v9({}, set(1, optionsV9(300, [[1, 4]], [48, 1], [50, 4])), set(300, u32(0), u8(3), u32(64)))
    assert.deepEqual(
      rates(decodeAll(createDecoder(), [one, v9({}, set(0, small), set(256, smallRecord(1)))])),
      [64],
    )
    const whole = v9({ domain: 0 }, set(1, optionsV9(300, [[1, 4]], [34, 4])), set(300, u32(0), u32(128)))
    assert.deepEqual(
      rates(decodeAll(createDecoder(), [whole, v9({ domain: 9 }, set(0, small), set(256, smallRecord(1)))])),
      [128],
    )
  })

  it('of one domain hold for the others of the exporter, unless they differ or belong to interfaces', () => {
    const announce = (domain: number, rate: number) =>
      v9({ domain }, set(1, optionsV9(300, [[1, 4]], [34, 4])), set(300, u32(0), u32(rate)))
    const data = v9({ domain: 9 }, set(0, small), set(256, smallRecord(1)))
    const decoder = createDecoder()
    assert.deepEqual(rates(decodeAll(decoder, [announce(3, 64), data])), [64])
    assert.deepEqual(rates(decodeAll(decoder, [announce(4, 64), data])), [64])
    assert.deepEqual(rates(decodeAll(decoder, [announce(5, 128), data])), [0])
    const byInterface = v9(
      { domain: 3 },
      set(1, optionsV9(300, [[2, 4]], [34, 4])),
      set(300, u32(11), u32(64)),
    )
    assert.deepEqual(rates(decodeAll(createDecoder(), [byInterface, data])), [0])
  })

  it('in the record itself are used first', () => {
    const own = template(256, [8, 4], [12, 4], [34, 4], [1, 4])
    const data = pack(ipOctets('192.0.2.1'), ipOctets('198.51.100.2'), u32(10), u32(100))
    assert.deepEqual(rates(decodeAll(createDecoder(), [v9({}, set(0, own), set(256, data))])), [10])
  })

  it('are reported when they change, and can be added from outside', () => {
    const reported: SamplingRecord[] = []
    const decoder = createDecoder({ onSampling: (one) => reported.push(one) })
    const at = (rate: number) =>
      v9({}, set(1, optionsV9(300, [[2, 4]], [34, 4])), set(300, u32(11), u32(rate)))
    decodeAll(decoder, [at(100), at(100), at(200)])
    assert.deepEqual(
      reported.map(({ inIf, rate }) => [inIf, rate]),
      [
        [11, 100],
        [11, 200],
      ],
    )
    assert.deepEqual(decoder.samplings(), reported.slice(1))
    const other = createDecoder()
    for (const one of reported.slice(1)) other.addSampling(one)
    assert.deepEqual(other.samplings(), decoder.samplings())
  })
})

const udp = [u16(5000), u16(53), u16(8), u16(0)]

describe('sFlow', () => {
  const row = { ...smallRow(1000), srcPort: 5000, dstPort: 53, protocol: 17, inIf: 3, outIf: 4, rate: 1024 }
  const row6 = { ...row, octets: 140, src: '2001:db8::1', dst: '2001:db8::2', dscp: 46 }
  const decodeHeader = (header: Uint8Array, protocol = 1) =>
    decodeAll(createDecoder(), [sflowDatagram({}, flowSample(1024, rawHeader(protocol, 1018, header)))])

  it('samples are flows of one packet with its length and the rate of the sample', () => {
    assert.deepEqual(decodeHeader(ethernetFrame(0x0800, ipv4Frame({ protocol: 17 }, ...udp))), [row])
  })

  it('headers are decoded behind VLAN tags, MPLS labels, PPPoE, and without Ethernet', () => {
    const four = ipv4Frame({ protocol: 17 }, ...udp)
    const label = (value: number, isBottom: boolean) => u32((value << 12) | (isBottom ? 0x1_40 : 0x40))
    const cases: [string, Uint8Array, number?][] = [
      ['VLAN', ethernetFrame(0x8100, u16(100), u16(0x0800), four)],
      ['QinQ', ethernetFrame(0x88_a8, u16(100), u16(0x8100), u16(7), u16(0x0800), four)],
      ['MPLS', ethernetFrame(0x8847, label(100, false), label(200, true), four)],
      [
        'pseudowire',
        ethernetFrame(0x8847, label(100, true), u32(0), ethernetFrame(0x8100, u16(7), u16(0x0800), four)),
      ],
      ['PPPoE', ethernetFrame(0x8864, u8(0x11), u8(0), u16(1), u16(30), u16(0x0021), four)],
      ['SNAP', ethernetFrame(100, u16(0xaa_aa), u8(3), [0, 3], u16(0x0800), four)],
      ['IPv4', four, 11],
      ['MPLS without Ethernet', pack(label(3, true), four), 13],
      ['PPP', pack(u16(0xff_03), u16(0x0021), four), 7],
    ]
    for (const [name, header, protocol] of cases)
      assert.deepEqual(decodeHeader(header, protocol), [row], name)
    assert.deepEqual(decodeHeader(ethernetFrame(0x86_dd, ipv6Frame(17, ...udp))), [row6])
    assert.deepEqual(decodeHeader(ipv6Frame(17, ...udp), 12), [row6])
  })

  it('headers of fragments, ICMP and TCP have what they contain', () => {
    const of = (header: Uint8Array) => {
      const [one] = decodeHeader(header)
      return [one!['srcPort'], one!['dstPort'], one!['protocol'], one!['tcpFlags'], one!['fragment']]
    }
    const tcp = [u16(5000), u16(443), u32(1), u32(2), u8(0x50), u8(0x12), u16(0)]
    assert.deepEqual(of(ethernetFrame(0x0800, ipv4Frame({ protocol: 6 }, ...tcp))), [5000, 443, 6, 0x12, 0])
    assert.deepEqual(
      of(ethernetFrame(0x0800, ipv4Frame({ protocol: 17, fragment: 0x20_00 }, ...udp))),
      [5000, 53, 17, 0, 1],
    )
    assert.deepEqual(
      of(ethernetFrame(0x0800, ipv4Frame({ protocol: 17, fragment: 185 }, ...udp))),
      [0, 0, 17, 0, 1],
    )
    assert.deepEqual(
      of(ethernetFrame(0x0800, ipv4Frame({ protocol: 1 }, u16(0x0301), u16(0)))),
      [0, 0x0301, 1, 0, 0],
    )
    const hop = [u8(44), u8(0), u16(0), u32(0)]
    assert.deepEqual(
      of(ethernetFrame(0x86_dd, ipv6Frame(0, ...hop, u8(17), u8(0), u16(1), u32(9), ...udp))),
      [5000, 53, 17, 0, 1],
    )
    assert.deepEqual(
      of(ethernetFrame(0x86_dd, ipv6Frame(44, u8(17), u8(0), u16(8), u32(9), ...udp))),
      [0, 0, 17, 0, 1],
    )
  })

  it('headers that are cut give what is whole; other packets are counted', () => {
    const whole = ethernetFrame(0x0800, ipv4Frame({ protocol: 17 }, ...udp))
    assert.equal(decodeHeader(whole.subarray(0, 36))[0]!['srcPort'], 0)
    const decoder = createDecoder()
    const others = [whole.subarray(0, 30), ethernetFrame(0x0806, new Uint8Array(28)), new Uint8Array(0)]
    assert.deepEqual(
      decodeAll(decoder, [
        sflowDatagram({}, ...others.map((header) => flowSample(1, rawHeader(1, 60, header)))),
      ]),
      [],
    )
    assert.equal(decoder.counters.samplesWithoutAddress, 3)
  })

  it('samples of decoded fields, expanded samples, and the AS path of the gateway', () => {
    const sampled4 = xdr(
      3,
      u32(900),
      u32(17),
      ipOctets('192.0.2.1'),
      ipOctets('198.51.100.2'),
      u32(5000),
      u32(53),
      u32(0),
      u32(0xb8),
    )
    const sampled6 = xdr(
      4,
      u32(900),
      u32(17),
      ipOctets('2001:db8::1'),
      ipOctets('2001:db8::2'),
      u32(5000),
      u32(53),
      u32(0),
      u32(0xb8),
    )
    const gateway = xdr(
      1003,
      u32(1),
      ipOctets('192.0.2.254'),
      u32(64_500),
      u32(64_510),
      u32(64_511),
      u32(2),
      u32(2),
      u32(2),
      u32(1),
      u32(2),
      u32(1),
      u32(1),
      u32(64_999),
      u32(0),
      u32(100),
    )
    const local = xdr(
      1003,
      u32(1),
      ipOctets('192.0.2.254'),
      u32(64_500),
      u32(0),
      u32(0),
      u32(0),
      u32(0),
      u32(100),
    )
    const expanded = (...records: Uint8Array[]) =>
      xdr(
        3,
        u32(1),
        u32(0),
        u32(3),
        u32(2048),
        u32(9),
        u32(0),
        u32(0),
        u32(70_000),
        u32(1),
        u32(258),
        u32(records.length),
        ...records,
      )
    const rows = decodeAll(createDecoder(), [
      sflowDatagram({ agent: '2001:db8::9' }, flowSample(1024, sampled4, gateway), expanded(local, sampled6)),
    ])
    assert.deepEqual(rows, [
      { ...row, octets: 900, dscp: 46, srcAs: 64_510, dstAs: 64_999 },
      { ...row6, octets: 900, srcAs: 64_500, dstAs: 64_500, inIf: 70_000, outIf: 0, rate: 2048 },
    ])
  })

  it('counters of interfaces, and the header of every sample, are handed on', () => {
    const counters: InterfaceCounters[] = []
    const headers: [Uint8Array, number, number, number][] = []
    const decoder = createDecoder({
      onInterfaceCounters: (one) => counters.push(one),
      onHeader: (octets, offset, length, protocol, frameLength, at) =>
        headers.push([new Uint8Array(octets.subarray(offset, offset + length)), protocol, frameLength, at]),
    })
    const generic = xdr(
      1,
      ...[7, 6].map(u32),
      u64(10_000_000_000),
      u32(1),
      u32(3),
      u64(2n ** 50n),
      ...[1, 2, 3, 4, 5, 6].map(u32),
      u64(2n ** 51n),
      ...[11, 12, 13, 14, 15, 0].map(u32),
    )
    const header = ethernetFrame(0x0800, ipv4Frame({ protocol: 17 }, ...udp))
    decodeAll(decoder, [
      sflowDatagram(
        {},
        xdr(2, u32(1), u32(7), u32(3), xdr(2, new Uint8Array(52)), generic, xdr(1005, u32(4), bytes('eth7'))),
        flowSample(1, rawHeader(1, 1018, header)),
      ),
    ])
    assert.deepEqual(counters, [
      {
        exporter: '192.0.2.1',
        agent: '192.0.2.9',
        timeMs: testNowMs,
        uptimeMs: 1000,
        name: 'eth7',
        ifIndex: 7,
        ifType: 6,
        speed: 10_000_000_000n,
        direction: 1,
        adminUp: true,
        operUp: true,
        inOctets: 2n ** 50n,
        outOctets: 2n ** 51n,
        inUnicast: 1,
        inMulticast: 2,
        inBroadcast: 3,
        inDiscards: 4,
        inErrors: 5,
        outUnicast: 11,
        outMulticast: 12,
        outBroadcast: 13,
        outDiscards: 14,
        outErrors: 15,
      },
    ])
    assert.deepEqual(headers, [[new Uint8Array(header), 1, 1018, 0]])
  })
})

describe('the decoder', () => {
  it('counts datagrams of other protocols and versions, and too short ones', () => {
    const decoder = createDecoder()
    decodeAll(decoder, [
      bytes(''),
      bytes('abc'),
      pack(u16(7), new Uint8Array(60)),
      v5({}).subarray(0, 20),
      pack(u32(4), new Uint8Array(40)),
    ])
    assert.equal(decoder.counters.malformedDatagrams, 5)
  })

  it('has a place for an exporter of the platform file when forged senders fill all others', () => {
    const decoder = createDecoder({ exportersMax: 4 })
    decoder.setExporters([{ address: '203.0.113.1' }])
    const datagram = v5({}, { src: '192.0.2.1', dst: '192.0.2.2', packets: 1, octets: 1 })
    const from = (exporter: string, nowMs = testNowMs) =>
      sum(decodeAll(decoder, [datagram], { exporter, nowMs }), 'packets')
    for (let i = 1; i <= 5; i++) from(`198.51.100.${i}`)
    assert.equal(decoder.counters.overLimit, 2)
    assert.equal(from('203.0.113.1'), 1)
    assert.equal(from('198.51.100.99'), 0)
    assert.equal(
      from('198.51.100.99', testNowMs + 3_700_000),
      1,
      'one that was silent for an hour gives its place',
    )
    assert.equal(decoder.exporters.length, 4)
    assert.ok(decoder.exporters.includes('203.0.113.1') && decoder.exporters.includes('198.51.100.99'))
  })

  it('finds every exporter after places were given away many times', () => {
    const decoder = createDecoder({ exportersMax: 4 })
    const data = ipfix({}, set(256, smallRecord(1)))
    for (let hour = 0; hour < 30; hour++) {
      const nowMs = testNowMs + hour * 3_700_000
      const addresses = [1, 2, 3, 4].map((host) => `198.51.${hour}.${host}`)
      for (const exporter of addresses) decodeAll(decoder, [ipfix({}, set(2, small))], { exporter, nowMs })
      const rows = addresses.flatMap((exporter) => decodeAll(decoder, [data], { exporter, nowMs }))
      assert.deepEqual(
        rows.map(({ exporter }) => decoder.exporters[exporter as number]),
        addresses,
      )
    }
    assert.equal(decoder.counters.overLimit, 0)
  })
})

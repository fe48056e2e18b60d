import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { programPath, skipWithout } from '@pharos/lab/program'
import * as fc from 'fast-check'
import { parsePrefix } from '../../net/prefix.ts'
import { CaptureError, isCapture, readCapture, snapLength, writeCapture, type Packet } from './capture.ts'
import { acceptFile, cutCapture } from './event-file.ts'
import { ethernet, ipv4Packet, ipv6Packet, pcapngOf } from './testing.ts'
import { scaled } from '../../runtime/testing-scale.ts'

const runs = scaled(300)

const packets = fc.array(
  fc.record({
    at: fc.bigInt({ min: 0n, max: 4_000_000_000_999_999_999n }),
    length: fc.integer({ min: 300, max: 9_000 }),
    bytes: fc.uint8Array({ maxLength: 300 }),
  }),
  { maxLength: 20 },
)
const linkTypes = fc.constantFrom(1, 101, 113, 276)
const cut = ({ at, length, bytes }: Packet) => ({ at, length, bytes: [...bytes.subarray(0, snapLength)] })

describe('a capture', () => {
  test('that was written is read again, with at most 128 bytes of each packet', () => {
    fc.assert(
      fc.property(linkTypes, packets, (linkType, list) => {
        const read = readCapture(writeCapture({ linkType, packets: list }))
        assert.equal(read.linkType, linkType)
        assert.deepEqual(read.packets.map(cut), list.map(cut))
      }),
      { numRuns: runs },
    )
  })

  test('in pcapng has the same packets, in both byte orders and every resolution of time', () => {
    fc.assert(
      fc.property(
        linkTypes,
        packets,
        fc.boolean(),
        fc.constantFrom(6, 9),
        (linkType, list, isLittle, resolution) => {
          const unit = 10n ** BigInt(9 - resolution)
          const rounded = list.map((packet) => ({ ...packet, at: (packet.at / unit) * unit }))
          const read = readCapture(pcapngOf({ linkType, packets: rounded }, { isLittle, resolution }))
          assert.deepEqual(read.packets.map(cut), rounded.map(cut))
        },
      ),
      { numRuns: runs },
    )
  })

  test('that is truncated or changed anywhere is read in part or refused, and the result is never larger', () => {
    const file = fc.oneof(
      fc.tuple(linkTypes, packets).map(([linkType, list]) => writeCapture({ linkType, packets: list })),
      fc
        .tuple(linkTypes, packets, fc.boolean())
        .map(([linkType, list, isLittle]) =>
          pcapngOf({ linkType, packets: list }, { isLittle, resolution: 9 }),
        ),
    )
    const edits = fc.array(fc.tuple(fc.nat(), fc.nat(255)), { maxLength: 8 })
    fc.assert(
      fc.property(file, edits, fc.nat(), (bytes, changes, length) => {
        const mutated = Buffer.from(bytes)
        for (const [at, value] of changes) mutated[at % mutated.length] = value
        const part = mutated.subarray(0, length % (mutated.length + 1))
        let read
        try {
          read = readCapture(part)
        } catch (error) {
          if (!(error instanceof CaptureError)) throw error
          return
        }
        const written = writeCapture(read)
        assert.ok(written.length <= part.length + 24, `${written.length} of ${part.length}`)
        assert.deepEqual(readCapture(written).packets.length, read.packets.length)
      }),
      { numRuns: runs * 3 },
    )
  })

  test('is read by tshark as it was written', { skip: skipWithout('tshark') }, () => {
    const folder = mkdtempSync(join(tmpdir(), 'pharos-capture-'))
    const list = [
      {
        at: 1_700_000_000_123_456_789n,
        length: 900,
        bytes: ethernet(ipv4Packet('198.51.100.1', '203.0.113.7')),
      },
      {
        at: 1_700_000_001_000_000_000n,
        length: 78,
        bytes: ethernet(ipv6Packet('2001:db8:f::1', '2001:db8:a::7'), [7]),
      },
    ]
    const path = join(folder, 'a.pcap')
    writeFileSync(path, writeCapture({ linkType: 1, packets: list }))
    const fields = ['frame.time_epoch', 'frame.len', 'ip.dst', 'ipv6.dst', 'vlan.id']
    const text = execFileSync(
      programPath('tshark'),
      ['-r', path, '-T', 'fields', '-E', 'separator=,', ...fields.flatMap((field) => ['-e', field])],
      { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] },
    )
    rmSync(folder, { recursive: true })
    assert.deepEqual(
      text
        .trim()
        .split('\n')
        .map((line) => line.split(',')),
      [
        ['1700000000.123456789', '900', '203.0.113.7', '', ''],
        ['1700000001.000000000', '78', '', '2001:db8:a::7', '7'],
      ],
    )
  })
})

describe('the part of a capture', () => {
  const networks = ['203.0.113.0/25', '203.0.113.128/25', '2001:db8:a::/48'].map(parsePrefix)
  const packetOf = (bytes: Uint8Array): Packet => ({ at: 1n, length: bytes.length, bytes })
  const cutTo = (own: string, linkType: number, list: readonly Uint8Array[]) => {
    const part = cutCapture(writeCapture({ linkType, packets: list.map(packetOf) }), {
      networks,
      own: [parsePrefix(own)],
    })
    return part && readCapture(part).packets.length
  }

  test('has the packets of own addresses, with tags and labels, and none to or from networks of others', () => {
    const own = ipv4Packet('198.51.100.1', '203.0.113.7')
    const answer = ipv4Packet('203.0.113.7', '198.51.100.1')
    const foreign = ipv4Packet('198.51.100.1', '203.0.113.200')
    const between = ipv4Packet('203.0.113.200', '203.0.113.7')
    const six = ipv6Packet('2001:db8:f::1', '2001:db8:a::7')
    assert.equal(cutTo('203.0.113.0/25', 101, [own, answer, foreign, between, six]), 2)
    assert.equal(cutTo('203.0.113.0/25', 1, [ethernet(own), ethernet(own, [5, 6]), ethernet(foreign)]), 2)
    assert.equal(cutTo('2001:db8:a::/48', 101, [own, six]), 1)
    assert.equal(cutTo('203.0.113.0/25', 101, [foreign, Buffer.from('not a packet')]), undefined)
    assert.equal(cutTo('203.0.113.0/25', 999, [own]), undefined, 'an unknown link type is shown to nobody')
  })

  test('has no byte of a packet that concerns another network, for any packets', () => {
    const host = fc.nat(255).map((last) => `203.0.113.${last}`)
    const address = fc.oneof(host, fc.constant('198.51.100.1'))
    fc.assert(
      fc.property(fc.array(fc.tuple(address, address), { maxLength: 12 }), (pairs) => {
        const list = pairs.map(([source, destination]) => packetOf(ipv4Packet(source, destination)))
        const part = cutCapture(writeCapture({ linkType: 101, packets: list }), {
          networks,
          own: [networks[0]!],
        })
        for (const { bytes } of part ? readCapture(part).packets : []) {
          for (const at of [12, 16]) {
            const found = [...bytes.subarray(at, at + 4)].join('.')
            assert.ok(!found.startsWith('203.0.113.') || bytes[at + 3]! < 128, found)
          }
        }
      }),
      { numRuns: runs },
    )
  })
})

describe('a file of a detector', () => {
  test('is a capture, JSON or text by its content, whatever its name', () => {
    const capture = writeCapture({ linkType: 1, packets: [] })
    const kinds = (bytes: Buffer, name = 'x.exe') => acceptFile(bytes, name)?.kind
    assert.ok(isCapture(capture) && !isCapture(Buffer.from('abc')))
    assert.deepEqual(
      [
        kinds(capture),
        kinds(Buffer.from('{"a":1}')),
        kinds(Buffer.from('IP: 203.0.113.7\n')),
        kinds(Buffer.from([0x4d, 0x5a, 0])),
      ],
      ['pcap', 'json', 'other', undefined],
    )
    assert.equal(kinds(Buffer.alloc(0)), undefined)
    assert.equal(acceptFile(Buffer.from('text'), '../../etc/pass\u0000wd')!.filename, '.._.._etc_pass_wd')
  })
})

import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createDecoder } from './decoder.ts'
import { createRecentDatagrams, isRepeated } from './repeated.ts'
import { decodeAll, flowSample, ipv4Frame, rawHeader, sflowDatagram, v5 } from './testing.ts'

const flow = { src: '192.0.2.1', dst: '198.51.100.2', packets: 1, octets: 100 }
const counted = (datagrams: readonly Uint8Array[]) => {
  const decoder = createDecoder()
  const { length } = decodeAll(decoder, datagrams)
  return [length, decoder.counters.repeatedDatagrams]
}

describe('a datagram that arrives twice', () => {
  it('is dropped among 32 others, and by no other difference than its own', () => {
    const datagrams = Array.from({ length: 33 }, (_, at) => v5({ sequence: at + 1 }, flow))
    const [first, ...others] = datagrams as [Uint8Array, ...Uint8Array[]]
    assert.deepEqual(counted([first, ...others.slice(0, 31), first]), [32, 1])
    assert.deepEqual(counted([first, ...others, first]), [34, 0])
    assert.deepEqual(counted([first, v5({ sequence: 1 }, flow, flow)]), [3, 0], 'another length')
    assert.deepEqual(counted([first, v5({ sequence: 1 }, { ...flow, octets: 101 })]), [2, 0])
  })

  it('is no repetition without a sequence, or of another exporter', () => {
    assert.deepEqual(counted([v5({}, flow), v5({}, flow)]), [2, 0])
    const decoder = createDecoder()
    for (const exporter of ['192.0.2.1', '192.0.2.2'])
      assert.equal(decodeAll(decoder, [v5({ sequence: 1 }, flow)], { exporter }).length, 1)
  })

  it('needs no search for it once an exporter has begun to count again', () => {
    const recent = createRecentDatagrams()
    const check = (sequence: number) => {
      const datagram = v5({ sequence }, flow)
      return isRepeated(recent, new DataView(datagram.buffer, datagram.byteOffset), 0, datagram.length, 5)
    }
    for (const from of [2 ** 32 - 100, 1])
      for (let at = 0; at < 64; at++) assert.ok(!check((from + at) >>> 0))
    assert.ok(recent.last <= 64, `${recent.last} is above all kept numbers`)
    assert.ok(check(64) && check(40) && !check(20))
  })

  it('is recognised with agents of both families', () => {
    for (const agent of ['192.0.2.9', '2001:db8::9']) {
      const of = (sequence: number) =>
        sflowDatagram({ sequence, agent }, flowSample(100, rawHeader(11, 1000, ipv4Frame({ protocol: 17 }))))
      assert.deepEqual(counted([of(7), of(7), of(8), of(0), of(0)]), [4, 1])
    }
  })
})

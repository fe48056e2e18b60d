// Serial arithmetic over the wrap, and serials that are ahead of the Unix time.
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { compareSerials, isNewer, nextSerial, toSerial } from './serial.ts'

const now = 1_795_000_000

describe('serials', () => {
  it('wrap by RFC 1982', () => {
    assert.ok(isNewer(toSerial(5), toSerial(4_294_967_290)))
    assert.ok(!isNewer(toSerial(4_294_967_290), toSerial(5)))
    assert.equal(compareSerials(toSerial(0), toSerial(0x8000_0000)), undefined)
    assert.equal(compareSerials(toSerial(7), toSerial(7)), 0)
    assert.equal(compareSerials(toSerial(0x7fff_ffff), toSerial(0)), 1)
  })

  it('follow the time, and grow by one from a serial that is ahead of it', () => {
    assert.equal(nextSerial(undefined, now), now)
    assert.equal(nextSerial(toSerial(1), now), now)
    assert.equal(nextSerial(toSerial(now), now), now + 1)
    assert.equal(nextSerial(toSerial(2_026_112_205), now), 2_026_112_206)
    assert.equal(nextSerial(toSerial(0xffff_ffff), 10), 10)
    assert.equal(nextSerial(toSerial(0xffff_ffff), 0xffff_ffff), 1)
    assert.equal(nextSerial(toSerial((now + 0x8000_0000) % 2 ** 32), now), (now + 0x8000_0001) % 2 ** 32)
  })

  it('are 32-bit numbers', () => {
    for (const value of [-1, 2 ** 32, 1.5, Number.NaN]) assert.throws(() => toSerial(value), RangeError)
  })
})

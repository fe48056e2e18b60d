import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { formatPosition, isKept, parsePosition, positionAt, type StreamPosition } from './position.ts'

const digits = (longest: number) => fc.stringMatching(new RegExp(`^\\d{1,${longest}}$`))
const fields = {
  cluster: fc.stringMatching(/^[0-9a-f]{8}$/),
  xid: digits(19),
  id: digits(18),
  at: fc.integer({ min: 0, max: 99_999_999_999 }),
}
const positions: fc.Arbitrary<StreamPosition> = fc.record(fields, { noNullPrototype: true })

const horizon = { cluster: '00c0ffee', xmin: '100', xmax: '120', now: 1_800_000_000 }
const day = 86_400

describe('a position of the stream', () => {
  it('is parsed as it was formatted', () => {
    fc.assert(
      fc.property(positions, (position) =>
        assert.deepEqual(parsePosition(formatPosition(position)), position),
      ),
    )
  })

  it('rejects any other text', () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        const position = parsePosition(text)
        if (position) assert.equal(formatPosition({ ...position }).replace(/\.0*(?=\d+$)/, '.'), text)
      }),
    )
    for (const text of ['', '1', '00c0ffee.1.1', '00c0ffee.1.1.1 ', '00c0ffee.-1.1.1', '00C0FFEE.1.1.1'])
      assert.equal(parsePosition(text), undefined, text)
    assert.equal(parsePosition(`00c0ffee.${'1'.repeat(20)}.1.1`), undefined)
  })

  it('starts at the oldest running transaction', () => {
    assert.deepEqual(positionAt(horizon), { cluster: '00c0ffee', xid: '100', id: '0', at: 1_800_000_000 })
    assert.ok(isKept(positionAt(horizon), horizon))
  })

  it('is invalid in another database, in the future, and after a week', () => {
    const position = { ...positionAt(horizon), xid: '119' }
    assert.ok(isKept(position, horizon))
    assert.equal(isKept({ ...position, cluster: '00000000' }, horizon), false)
    assert.equal(isKept({ ...position, xid: '120' }, horizon), false)
    assert.equal(isKept({ ...position, at: horizon.now - 7 * day }, horizon), false)
    assert.ok(isKept({ ...position, at: horizon.now - 6 * day }, horizon))
  })
})

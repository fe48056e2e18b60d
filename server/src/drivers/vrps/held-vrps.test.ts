import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { parsePrefix } from '../../net/prefix.ts'
import { createRoaTable } from '../../registry/objects/roa-table.ts'
import { vrpBits } from '../../registry/objects/vrp.ts'
import type { VrpBits } from '../../registry/objects/vrp.ts'
import { HeldVrps } from './held-vrps.ts'

const vrps = (from: number, to: number): VrpBits[] =>
  Array.from({ length: to - from }, (_, i) =>
    vrpBits({ prefix: parsePrefix(`10.0.${from + i}.0/24`), maxLength: 24, asn: 64500 }),
  )
const tableOf = (size: number) => createRoaTable(vrps(0, size))

/** A holder whose wall clock is moved by hand; the time of confirmation never passes unless it is 0. */
async function holding(size: number | undefined, confirmMs = 3_600_000) {
  let at = new Date('2026-01-01T00:00:00Z')
  const held = new HeldVrps({ now: () => at, confirmMs })
  const touched: unknown[] = []
  held.onChange((one) => touched.push(one))
  const confirmed = () => ({ asOf: at, expires: new Date(at.getTime() + 86_400_000) })
  if (size !== undefined) await held.replace(tableOf(size), confirmed())
  touched.length = 0
  return {
    held,
    touched,
    confirmed,
    later: (ms: number) => (at = new Date(at.getTime() + ms)),
    send: (to: number) => held.replace(tableOf(to), confirmed()),
  }
}

describe('held VRPs', () => {
  it('uses a set that lost up to 20 %, or fewer than three, and keeps any other aside', async () => {
    for (const [before, after, isUsed] of [
      [100, 80, true],
      [100, 79, false],
      [100, 0, false],
      [4, 2, true],
      [4, 1, false],
      [1, 0, false],
      [10, 100, true],
    ] as const) {
      const { held, send } = await holding(before)
      await send(after)
      assert.deepEqual(
        [held.current()?.table.size, held.suspicion()?.table.size],
        isUsed ? [after, undefined] : [before, after],
        `${before} to ${after}`,
      )
    }
  })

  it('has no set while the first one is empty', async () => {
    const { held, send } = await holding(undefined)
    await send(0)
    assert.deepEqual([held.current(), held.suspicion()?.before], [undefined, 0])
    await send(1)
    assert.deepEqual([held.current()?.table.size, held.suspicion()], [1, undefined])
  })

  it('refuses a delta that takes too many away, and several small ones that come to the same', async () => {
    const { held, confirmed } = await holding(100)
    assert.equal(held.apply(vrps(75, 100), [], confirmed()), false)
    assert.equal(held.table?.size, 100)
    assert.equal(held.apply(vrps(90, 100), [], confirmed()), true)
    assert.equal(held.apply(vrps(80, 90), [], confirmed()), true)
    assert.equal(held.apply(vrps(79, 80), [], confirmed()), false)
    assert.equal(held.current()?.table.size, 80)
  })

  it('follows the set that is kept aside by its deltas, and uses it once it is no longer suspicious', async () => {
    const { held, send, confirmed, touched } = await holding(100)
    await send(10)
    assert.deepEqual(touched, [[]])
    assert.equal(held.apply([], vrps(10, 50), confirmed()), true)
    assert.deepEqual([held.current()?.table.size, held.suspicion()?.table.size], [100, 50])
    held.apply([], vrps(50, 100), confirmed())
    assert.deepEqual([held.current()?.table.size, held.suspicion()], [100, undefined])
    assert.equal(held.current()?.table.has(vrps(60, 61)[0]!), true)
  })

  it('keeps the age of the set in force while it is told of another, and lets it expire', async () => {
    const { held, send, later, touched } = await holding(100)
    const { asOf } = held.current()!
    later(3_600_000)
    await send(0)
    held.confirm({ asOf: new Date(0), expires: null })
    assert.deepEqual(held.current()?.asOf, asOf)
    later(86_400_000)
    assert.equal(held.current(), undefined)
    assert.deepEqual(touched, [[]])
  })

  it('begins the time of confirmation again when the set aside changes much, and not when it changes a little', async () => {
    const { held, send, later } = await holding(100)
    await send(50)
    const since = held.suspicion()!.since.getTime()
    later(1_000)
    await send(45)
    assert.equal(held.suspicion()!.since.getTime(), since)
    later(1_000)
    await send(30)
    assert.equal(held.suspicion()!.since.getTime(), since + 2_000)
  })

  it('uses what is kept aside when it is accepted, and compares with that from then on', async () => {
    const { held, send, touched } = await holding(100)
    await send(50)
    held.accept()
    assert.deepEqual([held.current()?.table.size, held.suspicion()], [50, undefined])
    await send(45)
    assert.equal(held.current()?.table.size, 45)
    assert.ok(touched.length > 0)
  })

  it('uses everything at once without a time of confirmation', async () => {
    const { held, send, confirmed } = await holding(100, 0)
    assert.equal(held.apply(vrps(10, 100), [], confirmed()), true)
    await send(0)
    assert.deepEqual([held.current()?.table.size, held.suspicion()], [0, undefined])
  })
})

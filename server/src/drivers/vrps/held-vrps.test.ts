import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { parsePrefix } from '../../net/prefix.ts'
import { createRoaTable } from '../../registry/objects/roa-table.ts'
import { createAnnouncedOrigins } from '../../registry/objects/announced-origins.ts'
import { vrpBits, vrpPrefix } from '../../registry/objects/vrp.ts'
import type { VrpBits } from '../../registry/objects/vrp.ts'
import { HeldVrps } from './held-vrps.ts'

const vrps = (from: number, to: number): VrpBits[] =>
  Array.from({ length: to - from }, (_, i) =>
    vrpBits({ prefix: parsePrefix(`10.0.${from + i}.0/24`), maxLength: 24, asn: 64500 }),
  )
/** Announces the first prefixes. */
const announce = (held: HeldVrps, count: number) =>
  held.setAnnounced(
    createAnnouncedOrigins(vrps(0, count).map((vrp) => ({ prefix: vrpPrefix(vrp), asn: vrp.asn }))),
  )
const tableOf = (size: number) => createRoaTable(vrps(0, size))

/** VRPs with a manual wall clock; the confirmation time never passes unless it is 0. */
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
  it('uses a set that lost up to 20 %, or fewer than three, and holds back any other', async () => {
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

  it('rejects a delta that removes too many, and several small ones with the same total', async () => {
    const { held, confirmed } = await holding(100)
    assert.equal(held.apply(vrps(75, 100), [], confirmed()), false)
    assert.equal(held.table?.size, 100)
    assert.equal(held.apply(vrps(90, 100), [], confirmed()), true)
    assert.equal(held.apply(vrps(80, 90), [], confirmed()), true)
    assert.equal(held.apply(vrps(79, 80), [], confirmed()), false)
    assert.equal(held.current()?.table.size, 80)
  })

  it('applies deltas to the set that is held back, and uses it once it is no longer suspicious', async () => {
    const { held, send, confirmed, touched } = await holding(100)
    await send(10)
    assert.deepEqual(touched, [[]])
    assert.equal(held.apply([], vrps(10, 50), confirmed()), true)
    assert.deepEqual([held.current()?.table.size, held.suspicion()?.table.size], [100, 50])
    held.apply([], vrps(50, 100), confirmed())
    assert.deepEqual([held.current()?.table.size, held.suspicion()], [100, undefined])
    assert.equal(held.current()?.table.has(vrps(60, 61)[0]!), true)
  })

  it('keeps the age of the current set while another is held back, and lets it expire', async () => {
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

  it('restarts the confirmation time when the held-back set changes much, and not when it changes a little', async () => {
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

  it('uses the held-back set when it is accepted, and compares with that from then on', async () => {
    const { held, send, touched } = await holding(100)
    await send(50)
    held.accept()
    assert.deepEqual([held.current()?.table.size, held.suspicion()], [50, undefined])
    await send(45)
    assert.equal(held.current()?.table.size, 45)
    assert.ok(touched.length > 0)
  })

  it('holds back a set that takes validity from many of our announcements, whatever its share', async () => {
    for (const [ours, lost, isUsed] of [
      [4, 3, true],
      [5, 4, false],
      [100, 5, true],
      [100, 6, false],
    ] as const) {
      const { held, send } = await holding(200)
      announce(held, ours)
      await held.replace(createRoaTable(vrps(lost, 200)), { asOf: new Date(), expires: null })
      const what = `${lost} of ${ours}`
      assert.deepEqual(
        [held.current()?.table.size, !held.suspicion()],
        [isUsed ? 200 - lost : 200, isUsed],
        what,
      )
      if (isUsed) continue
      assert.equal(
        held.suspicion()!.loss,
        `it takes validity from ${what} announcements, such as 10.0.0.0/24 of AS64500`,
      )
      // A source that still has them is no witness, although it has nearly the same VRPs.
      assert.equal(held.suspicion()!.isConfirmedBy(tableOf(200)), false)
      assert.equal(held.suspicion()!.isConfirmedBy(createRoaTable(vrps(lost, 190))), true)
      await send(200)
      assert.equal(held.suspicion(), undefined)
    }
  })

  it('rejects and undoes a delta that takes validity from many, and several small ones with the same total', async () => {
    const { held, confirmed } = await holding(200)
    announce(held, 20)
    assert.equal(held.apply(vrps(0, 4), vrps(200, 202), confirmed()), false)
    assert.equal(held.table?.size, 200)
    assert.ok(held.table?.has(vrps(0, 1)[0]!))
    assert.equal(held.apply(vrps(0, 2), vrps(0, 2), confirmed()), true)
    assert.equal(held.apply(vrps(0, 2), [], confirmed()), true)
    assert.equal(held.apply(vrps(2, 3), [], confirmed()), true)
    assert.equal(held.apply(vrps(3, 4), [], confirmed()), false)
    assert.equal(held.apply([], vrps(0, 2), confirmed()), true)
    assert.equal(held.apply(vrps(3, 5), [], confirmed()), true)
    assert.equal(held.apply(vrps(150, 160), [], confirmed()), true)
  })

  it('holds back a set without one of the trust anchors of the last, however small it is', async () => {
    const { held, confirmed } = await holding(undefined)
    const anchors = new Map([
      ['small', vrps(0, 4)],
      ['large', vrps(4, 50)],
    ])
    await held.replace(tableOf(200), confirmed(), anchors)
    const without = () => createRoaTable(vrps(4, 200))
    await held.replace(without(), confirmed(), new Map([['large', vrps(4, 50)]]))
    assert.equal(held.suspicion()?.loss, 'it has no VRPs of the trust anchor small')
    assert.equal(held.suspicion()?.isConfirmedBy(tableOf(200)), false)
    assert.equal(held.suspicion()?.isConfirmedBy(without()), true)
    held.accept()
    assert.deepEqual([held.current()?.table.size, held.suspicion()], [196, undefined])
    // Another name of an anchor is no loss.
    await held.replace(without(), confirmed(), new Map([['renamed', vrps(4, 50)]]))
    assert.equal(held.suspicion(), undefined)
  })

  it('uses every set at once without a confirmation time', async () => {
    const { held, send, confirmed } = await holding(100, 0)
    assert.equal(held.apply(vrps(10, 100), [], confirmed()), true)
    await send(0)
    assert.deepEqual([held.current()?.table.size, held.suspicion()], [0, undefined])
  })
})

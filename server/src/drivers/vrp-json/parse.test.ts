import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as fc from 'fast-check'
import { parsePrefix } from '../../net/prefix.ts'
import { readVrpExport, VrpExportError } from './parse.ts'
import type { VrpExport } from './parse.ts'
import { scaled } from '../../runtime/testing-scale.ts'

const now = new Date('2026-11-21T00:00:00Z')
const nowSeconds = now.getTime() / 1000

const routinator = {
  metadata: { generated: nowSeconds - 60, generatedTime: '2026-11-20T23:59:00Z' },
  roas: [
    { asn: 'AS64496', prefix: '192.0.2.0/24', maxLength: 26, ta: 'ripe' },
    { asn: 'AS0', prefix: '2001:db8::/32', maxLength: 128, ta: 'apnic' },
  ],
}
const rpkiClient = {
  metadata: { buildmachine: 'host', buildtime: '2026-11-20T23:00:00Z', roas: 3 },
  roas: [
    { asn: 64496, prefix: '192.0.2.0/24', maxLength: 24, ta: 'ripe', expires: nowSeconds + 3_600 },
    { asn: 4_294_967_295, prefix: '198.51.100.0/24', maxLength: 24, ta: 'arin', expires: nowSeconds + 60 },
    { asn: 64497, prefix: '203.0.113.0/24', maxLength: 24, ta: 'lacnic', expires: nowSeconds },
  ],
  bgpsec_keys: [],
}

describe('a VRP export', () => {
  it('is parsed in the format of Routinator', () => {
    const { table, anchors, generated, nextExpiry } = read(routinator)
    assert.deepEqual(
      [...anchors].map(([name, vrps]) => [name, vrps.map(({ asn }) => asn)]),
      [
        ['ripe', [64496]],
        ['apnic', [0]],
      ],
    )
    assert.deepEqual(coveringOf(table, '192.0.2.0/24'), [[26, 64496]])
    assert.deepEqual(coveringOf(table, '2001:db8::/32'), [[128, 0]])
    assert.deepEqual([generated?.toISOString(), nextExpiry], ['2026-11-20T23:59:00.000Z', undefined])
  })

  it('is parsed in the format of rpki-client, without expired VRPs', () => {
    const { table, generated, nextExpiry } = read(rpkiClient)
    assert.equal(table.size, 2)
    assert.deepEqual(coveringOf(table, '198.51.100.0/24'), [[24, 4_294_967_295]])
    assert.deepEqual(coveringOf(table, '203.0.113.0/24'), [])
    assert.equal(generated?.toISOString(), '2026-11-20T23:00:00.000Z')
    assert.equal(nextExpiry?.getTime(), now.getTime() + 60_000)
  })

  it('may repeat a VRP, as different trust anchors do, and omit the max length', () => {
    const { table } = read({
      roas: [routinator.roas[0], { ...routinator.roas[0], ta: 'arin' }, { asn: 1, prefix: '10.0.0.0/8' }],
    })
    assert.equal(table.size, 2)
    assert.deepEqual(coveringOf(table, '10.0.0.0/8'), [[8, 1]])
  })

  it('is found whatever surrounds the list, and parsed in batches with the same result', () => {
    const roas = Array.from({ length: 1_501 }, (_, i) => ({
      asn: i + 1,
      prefix: `10.${i >> 8}.${i & 255}.0/24`,
      ta: 'a "quoted" ] \\ [ {name',
    }))
    for (const count of [0, 1, 499, 500, 501, 1_000, 1_501]) {
      const document = {
        name: 'roas',
        list: ['roas', [{}]],
        roas: roas.slice(0, count),
        more: { roas: ['"'] },
      }
      for (const spaces of [0, 2])
        assert.equal(read(JSON.stringify(document, null, spaces), 2_000).table.size, count)
    }
    assert.throws(
      () => read(`{"roas":[${'{"asn":1,"prefix":"10.0.0.0/8"},'.repeat(500)}]}`, 2_000),
      /not JSON/,
    )
  })

  it('is rejected as a whole, with the place of the problem', () => {
    const [good] = routinator.roas
    const refused: readonly [document: unknown, reason: RegExp][] = [
      ['{"roas":[', /not JSON/],
      [[], /no list "roas"/],
      [null, /no list "roas"/],
      [{ roas: {} }, /no list "roas"/],
      ['{"roas":[],"roas":[{}]}', /or two/],
      [`{"roas":[${JSON.stringify(good)},]}`, /not JSON/],
      [`{"roas":[,${JSON.stringify(good)}]}`, /not JSON/],
      ['{"roas":[{]}]}', /not JSON/],
      ['{"roas":[]', /not JSON/],
      ['{"roas":[]}}', /not JSON/],
      [{ nested: { roas: [] } }, /no list "roas"/],
      [{ roas: [good, null] }, /^roas\[1\] is not an object/],
      [{ roas: [{ ...good, asn: 'AS1.1' }] }, /^roas\[0\]\.asn is not an AS number/],
      [{ roas: [{ ...good, asn: 2 ** 32 }] }, /\.asn is not/],
      [{ roas: [{ ...good, asn: -1 }] }, /\.asn is not/],
      [
        { roas: [{ ...good, prefix: '192.0.2.1/24' }] },
        /\.prefix: host bits are set: write 192\.0\.2\.0\/24/,
      ],
      [{ roas: [{ ...good, prefix: 1 }] }, /\.prefix is missing/],
      [{ roas: [{ ...good, maxLength: 23 }] }, /\.maxLength is not from 24 to 32/],
      [{ roas: [{ ...good, maxLength: 33 }] }, /\.maxLength is not/],
      [{ roas: [{ ...good, maxLength: '24' }] }, /\.maxLength is not/],
      [{ roas: [{ ...good, maxLength: 24.5 }] }, /\.maxLength is not/],
      [{ roas: [{ ...good, expires: 'soon' }] }, /\.expires is not a Unix time/],
      [{ roas: [good, good, good, good] }, /more than 3 VRPs/],
    ]
    for (const [document, reason] of refused)
      assert.throws(
        () => read(document),
        (error) => error instanceof VrpExportError && reason.test(error.message),
      )
  })

  const runs = scaled(100_000)
  it(`is parsed or rejected with VrpExportError, ${runs} times with mutations`, () => {
    const texts = [routinator, rpkiClient].map((document) => JSON.stringify(document))
    const edit = fc.tuple(
      fc.nat(400),
      fc.nat(4),
      fc.constantFrom('', '0', '9', '-', '"', '{', ']', ',', 'null', ':', '/', 'e9', '.', '[]'),
    )
    const seen = { read: 0, refused: 0 }
    fc.assert(
      fc.property(fc.constantFrom(...texts), fc.array(edit, { maxLength: 3 }), (text, edits) => {
        const changed = edits.reduce((rest, [at, cut, put]) => {
          const start = at % rest.length
          return rest.slice(0, start) + put + rest.slice(start + cut)
        }, text)
        try {
          assert.ok(read(changed).table.size <= 3)
          // Only text that is valid JSON as a whole is accepted.
          assert.ok(Array.isArray((JSON.parse(changed) as { roas: unknown }).roas))
          seen.read++
        } catch (error) {
          if (!(error instanceof VrpExportError)) throw error
          assert.ok(error.message.length < 200)
          seen.refused++
        }
      }),
      { numRuns: runs },
    )
    assert.ok(seen.read > runs / 20 && seen.refused > runs / 4, JSON.stringify(seen))
  })
})

function read(document: unknown, vrpsMax = 3): VrpExport {
  const text = typeof document === 'string' ? document : JSON.stringify(document)
  const reading = readVrpExport(text, { now, vrpsMax, seed: 1 })
  for (;;) {
    const step = reading.next()
    if (step.done) return step.value
  }
}

function coveringOf(table: VrpExport['table'], prefix: string): [maxLength: number, asn: number][] {
  return table.judge(parsePrefix(prefix), 1).covering.map(({ maxLength, asn }) => [maxLength, asn])
}

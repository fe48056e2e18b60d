// Modules and light levels of recorded tables: one recording for each family, made from its MIB, with the values that a person expects.
import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import * as fc from 'fast-check'
import type { OpticReading, SeenTransceiver } from '../../../inventory/collect/device-source.ts'
import type { OpticValue } from './family.ts'
import { listTransceivers, opticFamilies, type OpticWalk, readKnownOptics, readOptics } from './index.ts'
import { scaled } from '../../../runtime/testing-scale.ts'
import { groovePort, groovePortName } from './groove-port.ts'
import { indexBelow } from '../walk.ts'

const folder = join(import.meta.dirname, 'recordings')
const ifName = '1.3.6.1.2.1.31.1.1.1.1'
const names = readdirSync(folder).flatMap((file) => /^(.*)\.snmprec$/.exec(file)?.[1] ?? [])

type Row = readonly [oid: string, value: OpticValue]
type Expected = {
  readonly transceivers: readonly SeenTransceiver[]
  /**
   * Interface, lane, receive and transmit dBm, mA, degrees Celsius, V, and the bit error rate before FEC if measured.
   */
  readonly readings: readonly (readonly [string, number, ...(number | null)[]])[]
  /** By interface and lane: low alarm, low warning, high warning, high alarm. */
  readonly limits: Readonly<Record<string, Readonly<Record<string, readonly (number | null)[]>>>>
}

/** Lines of OID, tag (2 and 66 numbers, 4 text, 4x octets, 6 OID) and value. */
function readRecording(name: string): Row[] {
  const lines = readFileSync(join(folder, `${name}.snmprec`), 'utf8')
    .trimEnd()
    .split('\n')
  return lines.map((line) => {
    const [oid = '', tag, value = ''] = line.split('|')
    if (tag === '2' || tag === '66') return [oid, Number(value)]
    return [oid, tag === '6' ? value : Buffer.from(value, tag === '4x' ? 'hex' : 'utf8')]
  })
}

const walkOf =
  (rows: readonly Row[]): OpticWalk =>
  async (columns) => {
    const tables = new Map(columns.map((column) => [column, new Map<string, OpticValue>()]))
    for (const [oid, value] of rows)
      for (let at = oid.lastIndexOf('.'); at > 0; at = oid.lastIndexOf('.', at - 1))
        tables.get(oid.slice(0, at))?.set(oid.slice(at + 1), value)
    return tables
  }

const keysOf = (rows: readonly Row[]) =>
  new Map(
    rows.flatMap(([oid, value], at) => {
      if (oid.startsWith(`${ifName}.`))
        return [[Number(oid.slice(ifName.length + 1)), String(value)] as const]
      const port = indexBelow(`${groovePort}.20`, oid)
      return port === undefined ? [] : [[-at, groovePortName(port)] as const]
    }),
  )

const opticsOf = async (rows: readonly Row[]) =>
  readOptics(walkOf(rows), keysOf(rows), await readKnownOptics(walkOf(rows)))

const byKey = <T extends { readonly interfaceKey: string }>(values: readonly T[]) =>
  values.toSorted((a, b) => a.interfaceKey.localeCompare(b.interfaceKey))

const limitsOf = (reading: OpticReading) =>
  Object.fromEntries(
    Object.entries(reading.limits).map(([metric, of]) => [
      metric,
      [of.alarmLow, of.warnLow, of.warnHigh, of.alarmHigh],
    ]),
  )

for (const name of names) {
  describe(`the recording ${name}`, () => {
    const rows = readRecording(name)
    const expected = JSON.parse(readFileSync(join(folder, `${name}.json`), 'utf8')) as Expected

    it('has the expected modules', async () => {
      const found = listTransceivers(await readKnownOptics(walkOf(rows)), keysOf(rows))
      assert.deepEqual(byKey(found), byKey(expected.transceivers))
    })

    it('has the expected light levels and limits', async () => {
      const found = await opticsOf(rows)
      const values = found.map((one) => [
        one.interfaceKey,
        one.lane,
        one.rxDbm,
        one.txDbm,
        one.biasMa,
        one.temperatureC,
        one.voltageV,
        ...(one.preFecBer === null ? [] : [one.preFecBer]),
      ])
      const sort = (all: readonly (readonly unknown[])[]) => all.map((one) => JSON.stringify(one)).sort()
      assert.deepEqual(sort(values), sort(expected.readings))
      for (const one of found) assert.equal(one.isDark, one.rxDbm === -40)
      const limits = new Map(found.map((one) => [`${one.interfaceKey} ${one.lane}`, limitsOf(one)]))
      for (const [key, value] of Object.entries(expected.limits)) assert.deepEqual(limits.get(key), value)
    })
  })
}

describe('every family', () => {
  it('has a recording', async () => {
    const all = await Promise.all(
      names.map((name) => walkOf(readRecording(name))(opticFamilies.map(({ probe }) => probe))),
    )
    for (const { name, probe } of opticFamilies)
      assert.ok(
        all.some((tables) => tables.get(probe)!.size > 0),
        name,
      )
  })

  it('is not asked for its columns by a device without it', async () => {
    const asked = new Set<string>()
    const walk: OpticWalk = async (columns, part) => {
      if (part !== 'first') for (const column of columns) asked.add(column)
      return new Map()
    }
    assert.deepEqual(await readOptics(walk, new Map(), await readKnownOptics(walk)), [])
    for (const { columns } of opticFamilies) for (const column of columns) assert.ok(!asked.has(column))
  })

  it('reads between surveys only what is measured, and finds the same', async () => {
    for (const name of names) {
      const rows = readRecording(name)
      const known = await readKnownOptics(walkOf(rows))
      const asked = new Set<string>()
      const walk: OpticWalk = (columns, part) => {
        for (const column of columns) asked.add(column)
        return walkOf(rows)(columns, part)
      }
      const measured = new Set(known.families.flatMap((family) => family.measured))
      assert.deepEqual(await readOptics(walk, keysOf(rows), known), await opticsOf(rows))
      assert.deepEqual(asked, measured)
      for (const family of known.families)
        for (const column of family.measured)
          assert.ok(family.columns.includes(column), `${family.name} ${column}`)
    }
  })

  it('reports only levels that a module can have, whatever the cells contain', async () => {
    const odd = fc.oneof(
      fc.constantFrom(0, -1, -32_768, 2_147_483_647, -2_147_483_648, 1e9, -4_000, 2n ** 64n - 1n, ''),
      fc.integer(),
      fc.string(),
      fc.uint8Array({ maxLength: 20 }).map((octets) => Buffer.from(octets)),
    )
    const recordings = names.map(readRecording)
    const change = fc.record({ at: fc.nat(), value: odd })
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...recordings),
        fc.array(change, { minLength: 1, maxLength: 40 }),
        async (rows, changes) => {
          const changed = [...rows]
          for (const { at, value } of changes) changed[at % rows.length] = [rows[at % rows.length]![0], value]
          const keys = keysOf(rows)
          const known = await readKnownOptics(walkOf(changed))
          listTransceivers(known, keys)
          for (const one of await readOptics(walkOf(changed), keys, known)) {
            const { rxDbm, txDbm, biasMa, temperatureC, voltageV, lane, isDark } = one
            for (const power of [rxDbm, txDbm]) assert.ok(power === null || (power >= -40 && power <= 10))
            assert.ok(biasMa === null || (biasMa >= 0 && biasMa <= 2_000))
            assert.ok(temperatureC === null || (temperatureC >= -60 && temperatureC <= 150))
            assert.ok(voltageV === null || (voltageV > 0 && voltageV <= 60))
            assert.ok(one.preFecBer === null || (one.preFecBer > 0 && one.preFecBer < 1))
            assert.ok(Number.isInteger(lane) && lane >= 0)
            assert.equal(isDark, rxDbm === -40)
            for (const all of Object.values(limitsOf(one))) {
              const stated = all.filter((limit) => limit !== null)
              assert.deepEqual(
                stated,
                stated.toSorted((a, b) => a - b),
              )
            }
          }
        },
      ),
      { numRuns: scaled(1_000) },
    )
  })
})

// Sampling rates on their way to the database and back.
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { createTestDatabase } from '../db/testing.ts'
import type { SamplingRecord } from '../flow/flow-decoder.ts'
import { listSamplings } from './exporter.store.ts'
import { createExporterState, type ExporterState } from './exporter-state.ts'

it('sampling rates are stored with the time of their announcement until they are outdated', async () => {
  await using database = await createTestDatabase()
  const { owner } = database.postgres
  const start = Math.floor(Date.now() / 1000) - 1_000_000
  const hour = 3600
  const rateOf = (sampler: number, rate: number, hours: number, exporter = '192.0.2.1'): SamplingRecord => ({
    exporter,
    version: 10,
    domain: 2 ** 32 - 1,
    sampler,
    inIf: 0,
    rate,
    announced: start + hours * hour,
  })
  const [one, other] = [createExporterState(), createExporterState()]
  const add = (to: ExporterState, ...records: SamplingRecord[]) =>
    records.forEach((record) => to.addSampling(record))
  /** By exporter and sampler: the rate, and the hours of silence. */
  const stored = async () => {
    await one.save(owner)
    await other.save(owner)
    const now = Date.now() / 1000
    const records = await listSamplings(owner)
    return records
      .map((record) => [
        `${record.exporter} ${record.sampler}`,
        record.rate,
        Math.round((now - record.announced) / hour),
      ])
      .sort()
  }
  add(one, rateOf(1, 1000, 0), rateOf(2, 2000, 0), rateOf(1, 10, 50, '192.0.2.2'))
  assert.deepEqual(await stored(), [
    ['192.0.2.1 1', 1000, 0],
    ['192.0.2.1 2', 2000, 0],
    ['192.0.2.2 1', 10, 0],
  ])
  // It is repeated, and changes on another collector; the first one knows only the old one.
  add(one, rateOf(2, 2000, 3))
  add(other, rateOf(2, 4000, 4))
  one.removeSampling(rateOf(2, 2000, 3))
  assert.deepEqual(await stored(), [
    ['192.0.2.1 1', 1000, 4],
    ['192.0.2.1 2', 4000, 0],
    ['192.0.2.2 1', 10, 0],
  ])
  add(one, rateOf(2, 2000, 3))
  one.removeSampling(rateOf(1, 1000, 2))
  assert.deepEqual(await stored(), [
    ['192.0.2.1 2', 4000, 0],
    ['192.0.2.2 1', 10, 0],
  ])
})

import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { recountCommand, samplesFile, sortedRates } from './billing-samples.ts'

const csv = `start,covered_ms,octets_in,octets_out,in_bps,out_bps,sum_bps
2026-03-01T00:00:00Z,300000,0,0,900,7,907
2026-03-01T00:05:00Z,300000,0,0,80,60,140
2026-03-01T00:10:00Z,10000,0,0,,,
2026-03-01T00:15:00Z,300000,0,0,1000,500,1500
`

const bill = { name: 'xe-0/0/1', ranked: 'in', rank: 2 } as const

describe('the samples of a bill', () => {
  it('are in a file whose name a shell takes as it is', () => {
    assert.equal(samplesFile(bill, '2026-03'), 'samples-2026-03-xe-0-0-1.csv')
    assert.equal(samplesFile({ name: "Transit 'A'; x$(y) é" }, ''), 'samples-current-Transit-A-x-y-.csv')
  })

  it('are recounted by the command, in the file that was downloaded', () => {
    const folder = mkdtempSync(join(tmpdir(), 'pharos-samples-'))
    try {
      for (const one of [
        bill,
        { ...bill, ranked: 'out' },
        { ...bill, ranked: 'max', rank: 1 },
        { ...bill, ranked: 'sum', rank: 3, name: 'Transit of 2 ports' },
      ] as const) {
        writeFileSync(join(folder, samplesFile(one, '')), csv)
        const printed = execFileSync('sh', ['-c', recountCommand(one, '')], { cwd: folder, encoding: 'utf8' })
        assert.equal(Number(printed), sortedRates(csv, one)[one.rank - 1])
      }
    } finally {
      rmSync(folder, { recursive: true })
    }
  })

  it('are the column that the bill names', () => {
    assert.deepEqual(sortedRates(csv, bill), [80, 900, 1000])
    assert.deepEqual(sortedRates(csv, { ranked: 'out' }), [7, 60, 500])
    assert.deepEqual(sortedRates(csv, { ranked: 'max' }), [80, 900, 1000])
    assert.deepEqual(sortedRates(csv, { ranked: 'sum' }), [140, 907, 1500])
  })
})

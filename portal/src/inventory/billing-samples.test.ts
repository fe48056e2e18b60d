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

const bill = { name: 'xe-0/0/1', direction: 'max', p95_in_bps: 900, p95_out_bps: 60, rank: 2 } as const

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
        { ...bill, p95_out_bps: 901 },
        { ...bill, direction: 'sum', rank: 3, name: 'Transit of 2 ports' },
      ] as const) {
        writeFileSync(join(folder, samplesFile(one, '')), csv)
        const printed = execFileSync('sh', ['-c', recountCommand(one, '')], { cwd: folder, encoding: 'utf8' })
        assert.equal(Number(printed), sortedRates(csv, one)[one.rank - 1])
      }
    } finally {
      rmSync(folder, { recursive: true })
    }
  })

  it('are ranked by the direction that was greater', () => {
    assert.deepEqual(sortedRates(csv, bill), [80, 900, 1000])
    assert.deepEqual(sortedRates(csv, { ...bill, p95_out_bps: 901 }), [7, 60, 500])
  })
})

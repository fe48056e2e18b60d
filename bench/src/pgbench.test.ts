import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { parsePgbench } from './pgbench.ts'

const printed = `pgbench (15.18 (Debian 15.18-0+deb12u1), server 18.4)
transaction type: <builtin: select only>
scaling factor: 1
query mode: prepared
number of clients: 16
number of threads: 2
maximum number of tries: 1
duration: 5 s
number of transactions actually processed: 250105
number of failed transactions: 3 (0.001%)
latency average = 0.319 ms
initial connection time = 14.508 ms
tps = 50143.411931 (without initial connection time)
`

describe('the output of pgbench', () => {
  it('contains the rate, the average and the failures', () => {
    assert.deepEqual(parsePgbench(printed), {
      perSecond: 50143.411931,
      averageMs: 0.319,
      failed: 3,
      transactions: 250_105,
    })
  })

  it('is rejected if it contains no rate', () => {
    assert.throws(() => parsePgbench('pgbench: error: connection failed'), /no rate/)
  })
})

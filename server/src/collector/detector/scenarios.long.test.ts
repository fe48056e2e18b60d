// Days of usual traffic on a simulated clock, with several seeds: no report.
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { quietScenarios, type Scenario } from './scenarios.ts'
import { runScenario } from './testing-scenario.ts'

const seeds = [1, 2, 3]

/** Weekend, then a Monday with twice the traffic. */
const weekend: Scenario = {
  name: 'from a weekend to a Monday',
  sampling: 1000,
  seconds: 86_400,
  streams: [
    {
      to: '203.0.113.1',
      hosts: 10,
      bps: 50e6,
      octets: 900,
      protocol: 6,
      tcpFlags: 0x1b,
      srcPort: 443,
      shape: (second) => (second < 43_200 ? 0.5 : 1),
    },
  ],
}

describe('a day of usual traffic is not reported', { timeout: 3_600_000 }, () => {
  for (const scenario of [...quietScenarios, weekend]) {
    it(scenario.name, () => {
      for (const seed of seeds) {
        const reports = runScenario(scenario, { seed, randomFlows: 100_000 })
        assert.deepEqual(
          reports.map(({ network, at }) => `${network} after ${at} s, seed ${seed}`),
          [],
        )
      }
    })
  }

  it('when the collector restarts, with and without usual traffic of its former run', () => {
    const quiet = quietScenarios.find(({ name }) => name.includes('daily curve'))!
    for (const usual of [undefined, new Map([[1, { bps: 50e6, pps: 7000 }]])])
      for (const seed of seeds)
        assert.deepEqual(
          runScenario(quiet, {
            seed,
            seconds: 7200,
            restartAt: 3600,
            ...(usual && { rules: { baselines: usual } }),
          }),
          [],
        )
  })
})

// Attacks and usual traffic on a simulated clock: the delay of each report, and no report of usual traffic. Whole days
// are in scenarios.long.test.ts.
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { attackScenarios, quietScenarios } from './scenarios.ts'
import { runScenario } from './testing-scenario.ts'

describe('an attack is reported in time, once', () => {
  for (const scenario of attackScenarios) {
    it(scenario.name, () => {
      const { before = 0, networks, classification, direction = 'incoming', within } = scenario
      const reports = runScenario(scenario).filter(({ by }) => by === 0)
      const first = reports[0]
      assert.ok(first, 'it is reported')
      const delay = first.at + 1 - before
      assert.ok(delay > 0 && delay <= within, `after ${delay} s of ${within}`)
      assert.deepEqual([first.classification, first.direction], [classification, direction])
      assert.deepEqual([...new Set(reports.map(({ network }) => network))].toSorted(), networks.toSorted())
      assert.equal(new Set(reports.map(({ id }) => id)).size, scenario.events ?? networks.length)
    })
  }
})

/** Seconds of a scenario's day; networks are compared with their limits after ten minutes. */
const seconds = 1500

describe('usual traffic is not reported', () => {
  for (const scenario of quietScenarios) {
    it(scenario.name, () => {
      const reports = runScenario(scenario, { seconds: scenario.sampling === 1 ? 900 : seconds })
      assert.deepEqual(
        reports.map(({ network, at }) => `${network} after ${at} s`),
        [],
      )
    })
  }
})

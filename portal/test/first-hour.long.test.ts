// Runs docs/first-hour.md against the demo with its traffic.
import { after, before, describe, it } from 'node:test'
import { skipWithout } from '../../lab/src/program.ts'
import { runWalkthrough } from '../../lab/src/testing-walkthrough.ts'
import { Demo } from './demo.ts'

/** The demo's attack begins a minute after its start, and rules are suggested once there are flows of it. */
const blockMs = 300_000

describe('the first hour', { skip: skipWithout('curl', 'jq', 'dig') }, () => {
  const demo = new Demo({ traffic: true })
  before(() => demo.start())
  after(() => demo.stop())

  it('has commands that work as documented', async () => {
    await runWalkthrough({
      file: 'docs/first-hour.md',
      env: demo.environment,
      blockMs,
      rewrite: (code) =>
        code.startsWith('npm run lab')
          ? ':'
          : code.replace('http://127.0.0.1:8080', demo.url).replaceAll('8053', String(demo.dnsPort)),
    })
  })
})

// Runs the blocks of README.md that call the API, against the demo platform.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, it } from 'node:test'
import { pathToFileURL } from 'node:url'
import { skipWithout } from '@pharos/lab/program'
import { runWalkthrough } from '@pharos/lab/testing-walkthrough'
import { ingestDeliveries } from '../src/analysis/ingest.ts'
import { demoFile, prepareDemo } from '../src/commands/demo/demo.ts'
import { createOwnershipCache } from '../src/inventory/ownership.ts'
import { createTestApi } from './api.ts'

describe('the README', { skip: skipWithout('curl', 'jq') }, () => {
  it('has commands that work as documented', async () => {
    await using api = await createTestApi({
      PHAROS_IRR_SOURCES: pathToFileURL(demoFile('routes.rpsl')).href,
      PHAROS_RPKI_SOURCES: pathToFileURL(demoFile('vrps.json')).href,
    })
    await prepareDemo(api.database.postgres, api.config, new Date())
    await ingestDeliveries(api.database.postgres, createOwnershipCache())
    const url = await api.server.listen({ host: '127.0.0.1', port: 0 })
    await runWalkthrough({
      file: 'README.md',
      env: {},
      rewrite: (code) => (code.startsWith('npm ') ? ':' : code.replaceAll('http://127.0.0.1:8080', url)),
    })
  })

  it('has three of them; all others are in docs/first-hour.md', () => {
    const text = readFileSync(new URL('../../README.md', import.meta.url), 'utf8')
    assert.equal(text.match(/^```sh$/gm)?.length, 4)
    assert.match(text, /^```sh\nnpm start .*\nnpm test .*\n```$/m)
  })
})

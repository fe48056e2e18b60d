// The recorded examples of the contract are what the server answers: another answer fails here until `npm run generate` has recorded it.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { it } from 'node:test'
import { recordAll } from './support/recording/recordings.ts'

it('the recorded examples are up to date', async () => {
  const recorded = await recordAll()
  assert.ok(recorded.size > 0)
  for (const [file, text] of recorded)
    assert.equal(
      text,
      readFileSync(new URL(`../../contract/src/${file}`, import.meta.url), 'utf8'),
      `contract/src/${file} is out of date: run npm run generate and review the difference`,
    )
})

import assert from 'node:assert/strict'
import { it } from 'node:test'
import { detectorName } from './detector-name.ts'

it('a detector has the name of its product, or its key as words', () => {
  assert.deepEqual(['fastnetmon', 'flow-alarms', 'noc_probe', ''].map(detectorName), [
    'FastNetMon',
    'Flow alarms',
    'Noc probe',
    '',
  ])
})

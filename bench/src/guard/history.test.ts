import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, it } from 'node:test'
import { appendRun, parseHistory, type Run } from './history.ts'

const run: Run = {
  date: '2026-11-28',
  commit: '2fe733cf',
  processor: 'AMD EPYC',
  load: 3.2,
  figures: { P1: { ratio: 0.43, programMicros: 251, databaseMicros: 120 } },
}

describe('the history of the guard', () => {
  it('has a line for each run, in one table', () => {
    const text = appendRun(appendRun('# History\n', run, ['P1', 'P3']), { ...run, commit: 'abc+' }, [
      'P1',
      'P3',
    ])
    assert.equal(
      text,
      `# History

| Date | Commit | Processor | Load | P1 | P3 |
|---|---|---|---|---|---|
| 2026-11-28 | 2fe733cf | AMD EPYC | 3.2 | 0.43x 251+120 | - |
| 2026-11-28 | abc+ | AMD EPYC | 3.2 | 0.43x 251+120 | - |
`,
    )
    assert.deepEqual(parseHistory(text), [run, { ...run, commit: 'abc+' }])
  })

  it('begins another table when the paths change', () => {
    const other: Run = { ...run, figures: { D8: { ratio: 2, programMicros: 0.5, databaseMicros: 0 } } }
    const text = appendRun(appendRun('# History\n', run, ['P1']), other, ['P1', 'D8'])
    assert.equal(text.match(/\| Date/g)?.length, 2)
    assert.deepEqual(parseHistory(text), [run, other])
  })

  it('is the file in the repository', () => {
    const runs = parseHistory(readFileSync(new URL('../../HISTORY.md', import.meta.url), 'utf8'))
    assert.ok(runs.length > 0)
    for (const { date, figures } of runs) {
      assert.match(date, /^\d{4}-\d\d-\d\d$/)
      assert.ok(Object.values(figures).every(({ ratio }) => ratio > 0))
    }
  })
})

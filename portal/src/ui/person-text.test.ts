import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { problems, type Problem, type ProblemCode } from '@pharos/contract/problem'
import { isForPeople, wordsOfProblem } from './person-text.ts'

const problemOf = (code: ProblemCode, detail: string): Problem => ({
  type: `https://portal.example.net/docs/problems/${code}`,
  title: problems[code].title,
  status: problems[code].status,
  detail,
  code,
  request_id: 'none',
})

describe('the text of a problem', () => {
  it('names no path, key or field for any code', () => {
    for (const code of Object.keys(problems) as ProblemCode[]) {
      const { title, detail } = wordsOfProblem(problemOf(code, problems[code].help))
      assert.ok(isForPeople(title) && isForPeople(detail), `${code}: ${title} ${detail}`)
    }
  })

  it('is the detail of the server if that is written for people', () => {
    const detail = 'ann@example.net is already a member of the team. Change the role of the member instead.'
    assert.equal(wordsOfProblem(problemOf('already_member', detail)).detail, detail)
    const technical = 'Set up a second factor for your own account first (`POST /v3/session/totp`).'
    assert.notEqual(wordsOfProblem(problemOf('conflict', technical)).detail, technical)
  })

  it('is generic for a code that the page does not know', () => {
    const unknown = { ...problemOf('conflict', 'x'), code: 'added_later' as ProblemCode }
    assert.equal(wordsOfProblem(unknown).title, 'Something went wrong')
  })
})

// The messages about regions: one per team, with a limit.
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { regionMessages } from './region-message.ts'

const at = new Date('2026-04-01T09:21:04.512Z')

it('a team gets one message for all of its changes, and none of another team', () => {
  const change = { region: 'ams', state: 'withdrawn' as const }
  const messages = regionMessages(
    [
      { id: 1, teamId: 7, ...change },
      { id: 2, teamId: 8, ...change },
      { id: 3, teamId: 7, ...change },
    ],
    at,
  )
  assert.deepEqual(
    messages.map(({ teamId, data }) => [teamId, data.changes.map(({ announcement_id }) => announcement_id)]),
    [
      [7, [1, 3]],
      [8, [2]],
    ],
  )
})

it('a message has at most a hundred changes, and says so', () => {
  const many = Array.from({ length: 101 }, (_, id) => ({
    id,
    teamId: 7,
    region: 'ams',
    state: 'announced' as const,
  }))
  const [message] = regionMessages(many, at)
  assert.deepEqual([message!.data.changes.length, message!.data.truncated], [100, true])
  assert.equal(regionMessages(many.slice(1), at)[0]!.data.truncated, false)
  assert.deepEqual(regionMessages([], at), [])
})

import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { tasksOf, type Known } from './tasks.ts'

const now = Date.parse('2026-03-01T12:00:00Z')
const textsOf = (known: Known) => tasksOf(known, now).map(({ text, to }) => `${text} -> ${to}`)
const page = <T>(...results: T[]) => ({ results, count: results.length })

describe('what waits for a person', () => {
  it('is nothing where nothing does, or nothing is known', () => {
    assert.deepEqual(tasksOf({}), [])
    const secondFactor = { enabled: '2026-01-01T00:00:00Z', recovery_codes_left: 10 }
    const empty = {
      stuck: page(),
      invited: page(),
      unproved: page(),
      webhooks: page(),
      tokens: page(),
    } as Known
    assert.deepEqual(tasksOf({ ...empty, holds: page(), letters: page(), secondFactor }), [])
  })

  it('is a second factor that is not set up, or whose codes run out', () => {
    assert.deepEqual(textsOf({ secondFactor: { enabled: null, recovery_codes_left: 0 } }), [
      'Set up a second factor -> /profile',
    ])
    const [task] = tasksOf({ secondFactor: { enabled: '2026-01-01T00:00:00Z', recovery_codes_left: 1 } })
    assert.equal(task?.detail, '1 code is left')
  })

  it('is each announcement that is stuck, with what the server says, and how many more', () => {
    const one = {
      id: 7,
      cidr: '192.0.2.0/24',
      state_messages: [
        { severity: 'info', message: 'checked' },
        { severity: 'error', message: 'No ROA covers it.' },
      ],
    }
    const tasks = tasksOf({ stuck: { results: [one], count: 3 } as never })
    assert.deepEqual(
      tasks.map(({ text, detail, to }) => [text, detail, to]),
      [
        ['192.0.2.0/24', 'No ROA covers it.', '/announcements/7'],
        ['2 more', 'that cannot be announced', '/announcements'],
      ],
    )
  })

  it('is a webhook that fails or was given up, not one that somebody switched off', () => {
    const webhooks = page(
      {
        url: 'https://a.example/x',
        enabled: true,
        failing_since: '2026-01-01T00:00:00Z',
        disabled_reason: null,
      },
      { url: 'https://b.example/x', enabled: false, failing_since: null, disabled_reason: 'failing' },
      { url: 'https://c.example/x', enabled: false, failing_since: null, disabled_reason: 'user' },
      { url: 'https://d.example/x', enabled: true, failing_since: null, disabled_reason: null },
    )
    assert.deepEqual(textsOf({ webhooks } as never), [
      'a.example -> /team/webhooks',
      'b.example -> /team/webhooks',
    ])
  })

  it('is an API token that ends within two weeks', () => {
    const tokens = page(
      { name: 'soon', expires: '2026-03-03T12:00:00Z' },
      { name: 'later', expires: '2026-06-01T00:00:00Z' },
      { name: 'never', expires: null },
    )
    assert.deepEqual(tasksOf({ tokens } as never, now), [
      { text: 'soon', detail: 'this API token ends in 2 days', to: '/team/tokens' },
    ])
  })

  it('is what staff decide on, before all else', () => {
    const tasks = textsOf({ holds: page({}), letters: page({}, {}), invited: page({}) })
    assert.deepEqual(tasks, [
      'Changes in 1 region need approval -> /staff/holds',
      '2 letters wait -> /staff/letters',
      '1 invitation -> /team/members',
    ])
  })
})

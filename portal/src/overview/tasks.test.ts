import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { tasksOf, type Known, type Task } from './tasks.ts'

const now = Date.parse('2026-03-01T12:00:00Z')
const pathOf = ({ to: { to, params } }: Task) =>
  String(to).replace('$id', (params as { id?: string } | undefined)?.id ?? '$id')
const textsOf = (known: Known) => tasksOf(known, now).map((task) => `${task.text} -> ${pathOf(task)}`)
const page = <T>(...results: T[]) => ({ results, count: results.length })

describe('the tasks of the overview', () => {
  it('are empty if there is nothing to do, or no answer yet', () => {
    assert.deepEqual(tasksOf({}), [])
    const secondFactor = { enabled: '2026-01-01T00:00:00Z', recovery_codes_left: 10 }
    const empty = {
      failed: page(),
      invited: page(),
      unverified: page(),
      webhooks: page(),
      tokens: page(),
    } as Known
    assert.deepEqual(
      tasksOf({
        ...empty,
        secondFactor,
      }),
      [],
    )
  })

  it('include a second factor that is not set up or has few codes left', () => {
    assert.deepEqual(textsOf({ secondFactor: { enabled: null, recovery_codes_left: 0 } }), [
      'Set up two-factor authentication -> /profile',
    ])
    const [task] = tasksOf({ secondFactor: { enabled: '2026-01-01T00:00:00Z', recovery_codes_left: 1 } })
    assert.equal(task?.detail, '1 code left')
  })

  it('include each failed announcement with its message, and the number of further ones', () => {
    const one = {
      id: 7,
      cidr: '192.0.2.0/24',
      state_messages: [
        { severity: 'info', message: 'checked' },
        { severity: 'error', message: 'No ROA covers it.' },
      ],
    }
    const tasks = tasksOf({ failed: { results: [one], count: 3 } } as unknown as Known)
    assert.deepEqual(
      tasks.map((task) => [task.text, task.detail, pathOf(task)]),
      [
        ['192.0.2.0/24', 'No ROA covers it.', '/announcements/7'],
        ['2 more', 'Cannot be announced', '/announcements'],
      ],
    )
    assert.deepEqual(tasks.at(-1)?.to.search, { status: ['validation_failed', 'suspended', 'error'] })
  })

  it('say who acts, with what the person does before what the provider does', () => {
    const failed = page(
      { id: 1, cidr: '192.0.2.0/24', status: 'suspended', details: { suspended_reason: 'abuse report' } },
      { id: 2, cidr: '198.51.100.0/24', status: 'error', state_messages: [] },
      {
        id: 3,
        cidr: '203.0.113.0/24',
        status: 'validation_failed',
        validations: [{ kind: 'roa', name: 'ROA', state: 'missing' }],
      },
    )
    assert.deepEqual(
      tasksOf({ failed } as unknown as Known).map(({ text, who, verb, color }) => [text, who, verb, color]),
      [
        ['203.0.113.0/24', 'you', 'Fix', 'warn'],
        ['192.0.2.0/24', 'provider', 'View', 'bad'],
        ['198.51.100.0/24', 'provider', 'View', 'bad'],
      ],
    )
  })

  it('include a webhook that fails or was disabled after failures, not one that a user disabled', () => {
    const webhooks = page(
      {
        id: 1,
        url: 'https://a.example/x',
        enabled: true,
        failing_since: '2026-01-01T00:00:00Z',
        disabled_reason: null,
      },
      { id: 2, url: 'https://b.example/x', enabled: false, failing_since: null, disabled_reason: 'failing' },
      { id: 3, url: 'https://c.example/x', enabled: false, failing_since: null, disabled_reason: 'user' },
      { id: 4, url: 'https://d.example/x', enabled: true, failing_since: null, disabled_reason: null },
    )
    assert.deepEqual(textsOf({ webhooks } as unknown as Known), [
      'a.example -> /team/webhooks/1',
      'b.example -> /team/webhooks/2',
    ])
  })

  it('include an API token that expires within two weeks', () => {
    const tokens = page(
      { name: 'soon', expires: '2026-03-03T12:00:00Z' },
      { name: 'now', expires: '2026-03-01T13:00:00Z' },
      { name: 'later', expires: '2026-06-01T00:00:00Z' },
      { name: 'never', expires: null },
      { name: 'expired', expires: '2026-03-01T11:00:00Z' },
    )
    assert.deepEqual(
      tasksOf({ tokens } as unknown as Known, now).map((task) => [task.text, task.detail, pathOf(task)]),
      [
        ['soon', 'API token expires in 2 days', '/team/tokens'],
        ['now', 'API token expires in 1 hour', '/team/tokens'],
      ],
    )
  })

  it('say of a zone who acts: a follower behind, a change that needs approval, a primary server that is away, a claimed name', () => {
    const zone = (id: number, status: string, ...tags: string[]) => ({
      id,
      name: `z${id}.example`,
      status,
      state_messages: tags.map((tag) => ({ tag, message: 'x' })),
    })
    const troubledZones = page(
      zone(1, 'error', 'zone_servers_behind'),
      zone(2, 'error', 'zone_held'),
      zone(3, 'error', 'zone_not_transferred'),
      zone(4, 'pending_verification'),
      zone(5, 'error', 'zone_of_a_newer_server'),
    )
    assert.deepEqual(
      tasksOf({ troubledZones } as unknown as Known).map(({ text, who, color, verb, detail, to }) => [
        text,
        who,
        color,
        verb,
        detail,
        (to.search as { tab?: string }).tab,
      ]),
      [
        [
          'z3.example',
          'you',
          'bad',
          'Fix',
          'The primary servers do not hand out the zone; the last copy is served',
          undefined,
        ],
        [
          'z1.example',
          'provider',
          'bad',
          'View',
          'A name server does not serve the newest version',
          'servers',
        ],
        [
          'z2.example',
          'provider',
          'bad',
          'View',
          'The change removes many names; the provider must approve it',
          undefined,
        ],
        ['z5.example', 'provider', 'bad', 'View', 'The zone is not up to date everywhere', undefined],
        [
          'z4.example',
          'provider',
          'warn',
          'View',
          'Another customer has the name; the provider decides',
          undefined,
        ],
      ],
    )
  })

  it('include a zone whose DNSSEC has failed, before one that only waits for its DS record', () => {
    const dnssecZones = page({ id: 1, name: 'waits.example', dnssec: 'pending_ds' })
    const troubledZones = page({
      id: 2,
      name: 'fails.example',
      status: 'error',
      dnssec: 'error',
      state_messages: [{ tag: 'zone_dnssec_error', message: 'x' }],
    })
    assert.deepEqual(
      tasksOf({ dnssecZones, troubledZones } as unknown as Known).map(({ text, color, verb }) => [
        text,
        color,
        verb,
      ]),
      [
        ['fails.example', 'bad', 'Fix'],
        ['waits.example', 'warn', 'Show DS record'],
      ],
    )
  })

  it('include a zone whose DS record is missing at the parent, with the way to it', () => {
    const [task, more] = tasksOf({
      dnssecZones: { results: [{ id: 8, name: 'signed.example' }], count: 3 },
    } as unknown as Known)
    assert.deepEqual(
      [
        task!.text,
        task!.who,
        task!.color,
        task!.verb,
        pathOf(task!),
        (task!.to.search as { tab?: string }).tab,
      ],
      ['signed.example', 'you', 'warn', 'Show DS record', '/zones/8', 'dnssec'],
    )
    assert.deepEqual(
      [more!.text, pathOf(more!), more!.to.search],
      ['2 more zones', '/zones', { dnssec: ['pending_ds'] }],
    )
  })
})

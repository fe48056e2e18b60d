import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { notificationText } from '@pharos/contract/messages/notification-text'
import { notificationsOf, occurrencesOf, type Recipient, type ReportedMessage } from './recipient.ts'
import { settingsOf, type RecipientSettings } from './settings.ts'

const at = new Date('2026-04-01T10:00:00Z')
const recipient = (
  change: Partial<RecipientSettings> = {},
  userId = 1,
  teamId: number | null = 7,
): Recipient => ({
  userId,
  teamId,
  joined: new Date(0),
  roles: teamId === null ? [] : ['reader'],
  settings: { ...settingsOf(undefined), ...change },
})

const attack = (type: 'incident.started' | 'incident.updated' | 'incident.ended', bps: number, pps = 1000) =>
  ({
    id: '1.1',
    teamId: 7,
    type,
    at,
    data: {
      id: 'e1',
      network: '203.0.113.0/24',
      direction: 'incoming',
      classification_key: 'udp.flood',
      start: at.toISOString(),
      end: type === 'incident.ended' ? at.toISOString() : null,
      affected_bps: bps,
      affected_pps: pps,
      sources: ['edge', 'flows'],
      event_count: 2,
      merged_into: null,
    },
  }) as ReportedMessage

const status = (before: string, after: string) =>
  ({
    id: '1.2',
    teamId: 7,
    type: 'announcement.status_changed',
    at,
    data: {
      announcement_id: 42,
      cidr: '203.0.113.0/24',
      origin_asn: 64496,
      before,
      after,
      at: at.toISOString(),
    },
  }) as ReportedMessage

const approval = {
  id: '1.3',
  teamId: null,
  type: 'approval.opened',
  at,
  data: {
    id: 17,
    area: 'routes',
    subject: { type: 'region', id: 1, name: 'ams' },
    team: null,
    item_count: 6,
    teams: [
      { team: { id: 7, name: 'Blue' }, withdrawal_count: 4 },
      { team: null, withdrawal_count: 1 },
    ],
  },
} as unknown as ReportedMessage

const alert = (type: 'alert.fired' | 'alert.cleared' | 'alert.unknown', rest: object) =>
  ({
    id: '1.4',
    teamId: 7,
    type,
    at,
    data: {
      alert_rule_id: 14,
      name: 'Uplink full',
      severity: 'warning',
      object: { type: 'port', id: 512, name: 'et-0/0/1' },
      threshold: 80,
      unit: 'percent',
      comparison: 'above',
      portal_path: '/alerts/14?from=2026-04-01T04:00Z&to=2026-04-01T10:00Z',
      at: at.toISOString(),
      ...rest,
    },
  }) as unknown as ReportedMessage

const kindsOf = (message: ReportedMessage, ...recipients: Recipient[]) =>
  notificationsOf(occurrencesOf(message), recipients).map(
    ({ kind, userId, isMailed }) => `${kind} ${userId}${isMailed ? ' mailed' : ''}`,
  )

describe('an alert rule', () => {
  const textsOf = (message: ReportedMessage) =>
    occurrencesOf(message).map(({ kind, attrs }) => notificationText(kind, attrs))

  it('is reported to those who see alerts, with its value or the reason', () => {
    const fired = alert('alert.fired', { value: 84.06 })
    assert.deepEqual(kindsOf(fired, recipient()), ['alert 1 mailed'])
    assert.deepEqual(kindsOf(fired, { ...recipient(), roles: ['dns'] }), [])
    assert.deepEqual(textsOf(fired), ['Alert "Uplink full (et-0/0/1)" fires: 84.1 %, above 80 %'])
    assert.deepEqual(textsOf(alert('alert.unknown', { reason: 'no_data' })), [
      'Alert "Uplink full (et-0/0/1)" has no data: There are no measured values.',
    ])
  })

  it('is reported when it ends by its values, and not when somebody has ended it', () => {
    assert.deepEqual(textsOf(alert('alert.cleared', { ending: 'cleared' })), [
      'Alert "Uplink full (et-0/0/1)" has ended',
    ])
    assert.deepEqual(textsOf(alert('alert.cleared', { ending: 'changed' })), [])
  })
})

describe('an attack', () => {
  it('is reported if it reaches one of the thresholds', () => {
    assert.deepEqual(kindsOf(attack('incident.started', 999_999_999), recipient()), [])
    assert.deepEqual(kindsOf(attack('incident.started', 1_000_000_000), recipient()), ['attack 1 mailed'])
    assert.deepEqual(kindsOf(attack('incident.started', 1, 1_000_000), recipient()), ['attack 1 mailed'])
    assert.deepEqual(kindsOf(attack('incident.started', 1, 1_000_000), recipient({ attackPps: null })), [])
  })

  it('is reported once it grows above a threshold', () =>
    assert.deepEqual(kindsOf(attack('incident.updated', 2e9), recipient()), ['attack 1 mailed']))

  it('is not reported anew by a review long after it, nor to those who joined after it began', () => {
    const updated = (start: string, end: string | null) => {
      const message = attack('incident.updated', 2e9)
      return { ...message, data: { ...message.data, start, end } } as ReportedMessage
    }
    const hours = (count: number) => new Date(at.getTime() - count * 3_600_000).toISOString()
    assert.deepEqual(kindsOf(updated(hours(26), hours(25)), recipient()), [])
    assert.deepEqual(kindsOf(updated(hours(8 * 24), null), recipient()), [])
    // A peak that became known late.
    assert.deepEqual(kindsOf(updated(hours(26), hours(23)), recipient()), ['attack 1 mailed'])
    const later = { ...recipient(), joined: new Date(hours(1)) }
    assert.deepEqual(kindsOf(updated(hours(2), null), later), [])
  })

  it('that ends is reported again, but not to those who do not want it', () => {
    const not = recipient({ kinds: { ...settingsOf(undefined).kinds, attack_ended: false } })
    assert.deepEqual(kindsOf(attack('incident.ended', 2e9), not, recipient({}, 2)), [
      'attack 1 mailed',
      'attack 2 mailed',
      'attack_ended 2 mailed',
    ])
  })

  it('is not reported to those who joined later, or are in another team', () => {
    const later = { ...recipient(), joined: new Date(at.getTime() + 1) }
    assert.deepEqual(kindsOf(attack('incident.started', 2e9), later, recipient({}, 2, 8)), [])
  })

  it('is reported to members whose roles let them see attacks', () => {
    const billing: Recipient = { ...recipient({}, 2), roles: ['billing', 'dns'] }
    const both: Recipient = { ...recipient({}, 3), roles: ['billing', 'reader'] }
    assert.deepEqual(kindsOf(attack('incident.started', 2e9), recipient(), billing, both), [
      'attack 1 mailed',
      'attack 3 mailed',
    ])
  })

  it('is in the feed without a mail if mails are off', () => {
    const { kinds } = settingsOf(undefined)
    const off = [recipient({ mail: false }), recipient({ kinds: { ...kinds, attack: false } }, 2)]
    assert.deepEqual(kindsOf(attack('incident.started', 2e9), ...off), ['attack 1', 'attack 2'])
  })
})

describe('an announcement', () => {
  it('is reported when it becomes blocked, and not while it is new', () => {
    assert.deepEqual(kindsOf(status('announced', 'validation_failed'), recipient()), [
      'announcement_blocked 1 mailed',
    ])
    assert.deepEqual(kindsOf(status('ready', 'suspended'), recipient()), ['announcement_blocked 1 mailed'])
    assert.deepEqual(kindsOf(status('validating', 'validation_failed'), recipient()), [])
  })

  it('is reported when it has an error, and not for the states in between', () => {
    assert.deepEqual(kindsOf(status('announcing', 'error'), recipient()), ['announcement_error 1 mailed'])
    assert.deepEqual(kindsOf(status('announcing', 'announced'), recipient()), [])
  })
})

describe('an announcement that nobody sees, or nobody through us', () => {
  const seen = (type: 'announcement.not_visible' | 'announcement.other_path', active: boolean) =>
    ({
      id: '1.9',
      teamId: 7,
      type,
      at,
      data: {
        announcement_id: 42,
        cidr: '203.0.113.0/24',
        origin_asn: 64496,
        active,
        collectors_seeing: 3,
        collectors_total: 300,
        at: at.toISOString(),
      },
    }) satisfies ReportedMessage

  it('is reported when it starts, and not when it ends', () => {
    const [notVisible] = occurrencesOf(seen('announcement.not_visible', true))
    assert.match(
      notificationText(notVisible!.kind, notVisible!.attrs),
      /^Only 3 of 300 .* 203\.0\.113\.0\/24/,
    )
    const [otherPath] = occurrencesOf(seen('announcement.other_path', true))
    assert.match(
      notificationText(otherPath!.kind, otherPath!.attrs),
      /203\.0\.113\.0\/24 .* through the provider/,
    )
    for (const type of ['announcement.not_visible', 'announcement.other_path'] as const)
      assert.deepEqual(occurrencesOf(seen(type, false)), [])
  })
})

describe('a port', () => {
  const port = { port_id: 5, name: 'et-0/0/1', circuit_id: 'AMS-1', device_name: 'r1', service_id: 1 }
  const change = (before: string, after: string, admin = 'up') =>
    ({
      id: '1.4',
      teamId: 7,
      type: 'port.status_changed',
      at,
      data: { ...port, before, after, admin_status: admin, at: at.toISOString() },
    }) as ReportedMessage

  it('is reported when it goes down, and not when the provider disables it or it is up again', () => {
    assert.deepEqual(kindsOf(change('up', 'down'), recipient()), ['port_down 1 mailed'])
    assert.deepEqual(kindsOf(change('up', 'down', 'down'), recipient()), [])
    assert.deepEqual(kindsOf(change('down', 'up'), recipient()), [])
    const [{ attrs }] = occurrencesOf(change('up', 'down')) as [ReturnType<typeof occurrencesOf>[number]]
    assert.equal(notificationText('port_down', attrs), 'The port et-0/0/1 of r1 (AMS-1) is down')
  })

  it('is reported once for a warning of its module', () => {
    const warning = (state: 'raised' | 'cleared') =>
      ({
        id: '1.5',
        teamId: 7,
        type: 'port.optic_warning',
        at,
        data: { ...port, state, warning: { message: 'Receive power falls.' }, at: at.toISOString() },
      }) as unknown as ReportedMessage
    assert.deepEqual(kindsOf(warning('raised'), recipient()), ['optic_warning 1 mailed'])
    assert.deepEqual(kindsOf(warning('cleared'), recipient()), [])
  })
})

describe('a cross connect', () => {
  it('is reported when the team has to act', () => {
    const moved = (after: string) =>
      ({
        id: '1.6',
        teamId: 7,
        type: 'cross_connect.status_changed',
        at,
        data: { cross_connect_id: 3, name: 'X', circuit_id: 'XC-1', before: 'reserved', after },
      }) as unknown as ReportedMessage
    assert.deepEqual(kindsOf(moved('awaiting_loa'), recipient()), ['letter_needed 1 mailed'])
    assert.deepEqual(kindsOf(moved('connected'), recipient()), [])
  })
})

describe('a list of shield rules', () => {
  it('is reported unless it changed as the team wanted', () => {
    const changed = (change: string) =>
      ({
        id: '1.7',
        teamId: 7,
        type: 'shield.list_changed',
        at,
        data: {
          list_id: 3,
          prefix: '203.0.113.0/24',
          version: 2,
          change,
          reason: null,
          detail: '',
          rule_ids: [],
        },
      }) as unknown as ReportedMessage
    const reported = ['applied', 'expired', 'reverted', 'removed', 'held', 'rejected'].filter(
      (change) => kindsOf(changed(change), recipient()).length > 0,
    )
    assert.deepEqual(reported, ['reverted', 'removed', 'held', 'rejected'])
  })
})

describe('an approval', () => {
  it('is reported to the teams that it concerns, and to staff without a second mail', () => {
    assert.deepEqual(kindsOf(approval, recipient(), recipient({}, 2, null), recipient({}, 3, 9)), [
      'approval_opened 2',
      'changes_paused 1 mailed',
    ])
  })
})

describe('settings', () => {
  it('that were saved before a kind existed have its default', () => {
    const saved = { mail: true, digest: 'daily', attackBps: null, attackPps: null, kinds: { attack: false } }
    const { kinds } = settingsOf(saved as Parameters<typeof settingsOf>[0])
    assert.equal(kinds.attack, false)
    assert.equal(kinds.letter_decided, true)
    assert.equal(kinds.approval_opened, false)
  })
})

describe('the text', () => {
  it('names the prefix, the class and the peak of an attack', () => {
    const [one] = occurrencesOf(attack('incident.ended', 9_512_000_000, 812_345))
    assert.equal(
      notificationText(one!.kind, one!.attrs),
      'Attack on 203.0.113.0/24: UDP flood, peak 9.51 Gbps, 812 kpps, ended',
    )
  })

  it('counts the paused withdrawals of the team only', () => {
    const [, mine] = occurrencesOf(approval)
    assert.match(notificationText(mine!.kind, mine!.attrs), /4 withdrawals of your team/)
  })
})

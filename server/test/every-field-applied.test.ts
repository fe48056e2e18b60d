// Every property of the body of every PATCH and PUT of the contract is applied: the test sends a value that differs from the stored
// value, and a GET must show it. The properties are enumerated from the schemas, so that an accepted field that no code stores is found.
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { urlOf } from '@pharos/contract/client'
import { routes } from '@pharos/contract/document/routes'
import { examples } from '@pharos/contract/examples/index'
import type { Route } from '@pharos/contract/route'
import { sql } from 'kysely'
import { createTestApi, type TestApi } from './api.ts'
import { createFixtures, type Fixtures } from './support/fixtures.ts'
import { addSecondFactor } from './support/second-factor.ts'
import { subjects } from './support/subjects.ts'
import { addKey } from './support/subjects-dns.ts'
import { createTestKey } from '../src/drivers/saml/testing-certificate.ts'
import { metadataOf } from '../src/drivers/saml/testing.ts'
import { samlMetadata } from './support/identity.ts'
import { addDomain } from './support/domains.ts'
import { prepareSuccess } from './support/successful-call.ts'

type Json = Readonly<Record<string, unknown>>

type Field = {
  /** The value to send, or what creates it. */
  readonly value: unknown
  /** Further properties of the body, by path. */
  readonly with?: Json
  /** Path in the answer of the GET; the path in the body by default. */
  readonly shownAt?: string
  /** The value in that answer; the sent value by default. */
  readonly shown?: unknown
  /** Query of the GET, instead of the one of the operation. */
  readonly query?: Json
}

const field = (value: unknown, rest: Omit<Field, 'value'> = {}): Field => ({ value, ...rest })

type Operation = {
  /** The GET that shows the fields. */
  readonly read: string
  readonly query?: Json
  /** The caller of `callers.ts`, if the first allowed one may not change all fields. */
  readonly caller?: string
  /** The form of the subject, if it has several. */
  readonly form?: string
  /** Properties that the schema requires, by path. */
  readonly base?: Json
  /** The path in the answer of the GET, for a path in the body. */
  readonly pathOf?: (path: string) => string
  /** Runs before each request. */
  readonly prepare?: () => Promise<unknown>
  /** By path; the items of an array have the index 0. */
  readonly fields: Readonly<Record<string, Field>>
  /** Properties that no answer shows, with the reason. */
  readonly notShown?: Readonly<Record<string, string>>
}

let api: TestApi
let fixtures: Fixtures
let tsigKeyId: number
let providerDomainId: number

before(async () => {
  api = await createTestApi()
  fixtures = await createFixtures(api)
  tsigKeyId = await addKey(api, fixtures.red)
  providerDomainId = await addDomain(owner(), fixtures.red.teamId)
})
after(() => api[Symbol.asyncDispose]())

const owner = () => api.database.postgres.owner

const all = (names: readonly string[], value: unknown): Record<string, Field> =>
  Object.fromEntries(names.map((name) => [name, field(value)]))

const notificationSettings = examples.get('updateNotificationSettings')!.body as unknown as {
  readonly kinds: Json
}
const staffSettings = {
  mail: true,
  digest: 'immediate',
  kinds: { approval_opened: true, letter_to_review: true, sampling_implausible: true },
}
const teamKinds = Object.keys(notificationSettings.kinds).map((kind) => `kinds.${kind}`)
const staffKinds = Object.keys(staffSettings.kinds).map((kind) => `staff.kinds.${kind}`)

const later = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString()

const ofAnswer = 'sent back from the answer of getRecordSet; the path and Pharos decide it'

const otherCertificate = createTestKey({ kind: 'ec' }).certificate

const operations: Readonly<Record<string, Operation>> = {
  updateUser: {
    read: 'getSessionToken',
    pathOf: (path) => `user.${path}`,
    fields: {
      first_name: field('Grace'),
      last_name: field('Hopper'),
      display_name: field('Rear Admiral'),
      country: field('NL'),
    },
  },
  updateNotificationSettings: {
    read: 'getNotificationSettings',
    base: { ...notificationSettings, monthly_report: false },
    fields: {
      ...all(['mail', ...teamKinds], false),
      // Off by default.
      'kinds.staff_access': field(true),
      digest: field('daily'),
      attack_bps: field(123),
      attack_pps: field(null),
      monthly_report: field(true),
    },
  },
  'updateNotificationSettings of staff': {
    read: 'getNotificationSettings',
    caller: 'staff',
    base: { ...notificationSettings, staff: staffSettings },
    fields: {
      ...all(['staff.mail', ...staffKinds], false),
      'staff.digest': field('hourly'),
    },
  },
  updateSetupProgress: { read: 'getSetupProgress', fields: { dismissed: field(true) } },
  updateTeam: {
    read: 'getTeam',
    prepare: async () => {
      await owner().updateTable('teams').set({ require_2fa: false }).execute()
      await addSecondFactor(api, fixtures.people.admin.userId)
    },
    fields: {
      name: field('Renamed'),
      description: field('A new text.'),
      billing_email: field('billing@example.com'),
      technical_email: field('technical@example.com'),
      abuse_email: field('abuse@example.com'),
      noc_phone: field('+31 20 123 4567'),
      country: field('NL'),
      timezone: field('Europe/Amsterdam'),
      require_2fa: field(true),
      default_roles: field(['network']),
      token_days_max: field(90),
    },
  },
  updateMember: {
    read: 'getMember',
    form: 'a member',
    fields: { roles: field(['reader', 'billing']), is_admin: field(true) },
  },
  updateDomain: { read: 'getDomain', fields: { auto_join: field(true) } },
  updatePasskey: { read: 'getPasskey', fields: { name: field('Phone') } },
  updateProvider: {
    read: 'getProvider',
    fields: {
      name: field('Company'),
      status: field('disabled'),
      client_id: field('another'),
      domain_ids: field(() => [providerDomainId]),
      session_hours: field(3),
      second_factor: field('trust'),
      second_factor_values: field(['phrh']),
      groups_claim: field('roles'),
      default_roles: field(['dns']),
      sign_out_at_provider: field(true),
      'mappings.0.group': field('net-ops', { with: { 'mappings.0.roles': ['network'] } }),
      'mappings.0.roles': field(['network'], { with: { 'mappings.0.group': 'net-ops' } }),
    },
    notShown: { client_secret: 'a secret' },
  },
  'updateProvider of SAML': {
    read: 'getProvider',
    form: 'of SAML',
    fields: {
      sign_on_url: field('https://idp.example/new'),
      certificates: field([otherCertificate]),
      metadata: field(metadataOf(samlMetadata.entityId, 'https://idp.example/read', [otherCertificate]), {
        shownAt: 'sign_on_url',
        shown: 'https://idp.example/read',
      }),
    },
    notShown: { metadata_url: 'it has to answer: saml-sign-in.test.ts' },
  },
  updateTeamSignIn: { read: 'getTeamSignIn', fields: { policy: field('optional') } },
  updateView: {
    read: 'getView',
    base: {
      'panels.0.kind': 'traffic',
      'panels.0.width': 'half',
      'panels.0.height': 'normal',
      'panels.0.title': '',
      'panels.0.search': '',
    },
    fields: {
      name: field('Ongoing'),
      search: field('?ongoing=true'),
      'panels.0.kind': field('ports'),
      'panels.0.width': field('third'),
      'panels.0.height': field('tall'),
      'panels.0.title': field('Inbound'),
      'panels.0.search': field('?by=protocol'),
    },
  },
  updateServiceAccount: {
    read: 'getServiceAccount',
    fields: {
      name: field('deploy'),
      description: field('Deploys the site.'),
      roles: field(['network']),
      disabled: field(true),
    },
  },
  updateToken: {
    read: 'getToken',
    fields: {
      name: field('renamed'),
      allowed_subnets: field(['192.0.2.0/24']),
      expires: field(later(30)),
    },
  },
  updateAlertRule: {
    read: 'getAlertRule',
    /** The fixtures exist once a test runs. */
    get base() {
      return {
        condition: {
          kind: 'port_utilisation',
          port_id: fixtures.red.portId,
          direction: 'either',
          above_percent: 80,
          for_minutes: 15,
        },
      }
    },
    fields: {
      name: field('Uplink full'),
      'condition.direction': field('out'),
      'condition.above_percent': field(70.5),
      'condition.for_minutes': field(30),
      severity: field('critical'),
      enabled: field(false),
      clear_minutes: field(60),
    },
    notShown: {
      'condition.kind': 'has other fields, and is replaced with them: watch-rules.test.ts',
      'condition.port_id': 'the team has no other port: watch-rules.test.ts',
    },
  },
  updateWebhook: {
    read: 'getWebhook',
    fields: {
      url: field('https://hooks.example.net/other'),
      description: field('the pager'),
      events: field(['event.started']),
      enabled: field(false),
    },
  },
  updateAnnouncement: {
    read: 'getAnnouncement',
    caller: 'an admin',
    query: { include: 'details' },
    prepare: () =>
      sql`update announcements set enabled = false, description = '', as_set = null, delegate_loa = false, loa_signatory = ''
        where id = ${fixtures.red.announcements.off}`.execute(owner()),
    fields: {
      enabled: field(true),
      region: field('lon', { with: { enabled: true }, shownAt: 'regions', shown: ['lon'] }),
      regions: field(['ams', 'fra']),
      description: field('Our office', { shownAt: 'details.description' }),
      as_set: field('AS-EXAMPLE', { shownAt: 'details.as_set' }),
      delegate_loa: field(true, { shownAt: 'details.delegate_loa' }),
      loa_signatory: field('Ada Lovelace', { shownAt: 'details.loa_signatory' }),
    },
  },
  reviewEvent: {
    read: 'getRelatedEvent',
    query: { include: 'review' },
    prepare: () => sql`delete from event_reviews`.execute(owner()),
    fields: {
      verdict: field('false_positive', { shownAt: 'review.verdict' }),
      acknowledged: field(true, {
        shownAt: 'review.acknowledged_by',
        shown: () => `user:${fixtures.people.member.userId}`,
      }),
      comment: field('Seen.', { shownAt: 'review.comments.0.text' }),
    },
  },
  updateZoneSettings: {
    read: 'getZoneSettings',
    prepare: () =>
      sql`insert into dns_defaults (key, is_apex_ns_editable) values ('dns', true) on conflict do nothing`.execute(
        owner(),
      ),
    fields: {
      default_ttl: field(7201),
      minimum_ttl: field(120),
      'soa.rname': field('noc.example.net.'),
      'soa.refresh': field(9000),
      'soa.retry': field(1801),
      'soa.expire': field(1_300_000),
      'soa.negative_ttl': field(301),
      apex_ns_editable: field(false),
      nameservers: field(['ns8.example.net.', 'ns9.example.net.']),
      'also_notify.0.address': field('192.0.2.53'),
      'also_notify.0.port': field(5353, { with: { 'also_notify.0.address': '192.0.2.53' } }),
      allow_transfer: field(['192.0.2.0/24']),
      tsig_key_ids: field(() => [tsigKeyId]),
      protect_delete: field(true),
      auto_ptr: field(true),
      multi_signer: field(true),
      history_days: field(33),
    },
  },
  updateRecordSet: {
    read: 'getRecordSet',
    fields: {
      ttl: field(300, { with: { records: ['192.0.2.1'] } }),
      records: field(['192.0.2.9'], { with: { ptr: false } }),
      add: field(['192.0.2.9'], {
        with: { ptr: false },
        shownAt: 'records',
        shown: ['192.0.2.1', '192.0.2.9'],
      }),
      remove: field(['192.0.2.1'], {
        with: { add: ['192.0.2.9'], ptr: false },
        shownAt: 'records',
        shown: ['192.0.2.9'],
      }),
      comment: field('The site', { with: { records: ['192.0.2.1'] } }),
    },
    notShown: {
      ptr: 'writes records of a reverse zone: dns-reverse.test.ts',
      id: 'compared with the path',
      zone_id: ofAnswer,
      name: ofAnswer,
      fqdn: ofAnswer,
      type: ofAnswer,
      managed: ofAnswer,
      created: ofAnswer,
      touched: ofAnswer,
      source: ofAnswer,
      'warnings.0.code': ofAnswer,
      'warnings.0.message': ofAnswer,
      'warnings.0.address': ofAnswer,
    },
  },
  changeRecordSets: {
    read: 'listRecordSets',
    query: { name: 'www', type: 'A' },
    base: {
      'recordsets.0.name': 'www',
      'recordsets.0.type': 'A',
      'recordsets.0.records': ['192.0.2.1'],
    },
    pathOf: (path) => path.replace('recordsets', 'results'),
    fields: {
      'recordsets.0.name': field('other', { query: { name: 'other' } }),
      'recordsets.0.type': field('AAAA', {
        with: { 'recordsets.0.records': ['2001:db8::1'] },
        query: { type: 'AAAA' },
      }),
      'recordsets.0.ttl': field(300),
      'recordsets.0.records': field(['192.0.2.9'], { with: { 'recordsets.0.ptr': false } }),
      'recordsets.0.comment': field('The site'),
    },
    notShown: { 'recordsets.0.ptr': 'writes records of a reverse zone: dns-reverse.test.ts' },
  },
  updateShieldRules: {
    read: 'listShieldRules',
    prepare: () => sql`delete from shield_lists`.execute(owner()),
    base: { rules: [{ action: 'allow' }] },
    pathOf: (path) => path.replace('rules', 'results'),
    fields: {
      prefix: field(() => fixtures.red.marks[0] + '0/25', { shownAt: 'results.0.prefix' }),
      'rules.0.sequence': field(17),
      'rules.0.enabled': field(false),
      'rules.0.action': field('deny', { with: { force: true } }),
      'rules.0.protocol': field('tcp'),
      'rules.0.source': field('192.0.2.0/24'),
      'rules.0.source_port': field('53', { with: { 'rules.0.protocol': 'udp' } }),
      'rules.0.destination': field(() => fixtures.red.marks[0] + '7/32'),
      'rules.0.destination_port': field('443', { with: { 'rules.0.protocol': 'udp' } }),
      'rules.0.tcp_flags': field('syn', { with: { 'rules.0.protocol': 'tcp' } }),
      'rules.0.icmp_type': field(8, { with: { 'rules.0.protocol': 'icmp' } }),
      'rules.0.icmp_code': field(1, { with: { 'rules.0.protocol': 'icmp', 'rules.0.icmp_type': 3 } }),
      'rules.0.fragment': field('yes'),
      'rules.0.packet_length': field('64-128'),
      'rules.0.dscp': field(46),
      'rules.0.rate_bps': field(8000, { with: { 'rules.0.action': 'rate_limit', force: true } }),
      'rules.0.rate_pps': field(100, { with: { 'rules.0.action': 'rate_limit', force: true } }),
      'rules.0.comment': field('Office'),
      'rules.0.expires': field(later(1)),
      force: field(true, { with: { 'rules.0.action': 'deny' }, shownAt: 'results.0.action', shown: 'deny' }),
    },
    notShown: {
      version: 'only compared, as If-Match: shield.test.ts',
      confirm_within: 'shown by listShieldLists, as `confirm_by`: shield.test.ts',
      strict: 'turns warnings into errors: shield.test.ts',
    },
  },
}

type Schema = {
  readonly type?: string
  readonly properties?: Readonly<Record<string, Schema>>
  readonly items?: Schema
  readonly anyOf?: readonly Schema[]
}

/** Returns the paths of the properties that are no objects. */
function leavesOf(schema: Schema, path: string): string[] {
  const object = [schema, ...(schema.anyOf ?? [])].find(({ properties }) => properties)
  if (object) {
    return Object.entries(object.properties!).flatMap(([name, inner]) =>
      leavesOf(inner, path === '' ? name : `${path}.${name}`),
    )
  }
  return schema.items?.properties ? leavesOf(schema.items, `${path}.0`) : [path]
}

const valueAt = (json: unknown, path: string): unknown =>
  path.split('.').reduce<unknown>((value, name) => (value as Json | null | undefined)?.[name], json)

function setAt(json: Json, path: string, value: unknown): Json {
  const copy = structuredClone(json)
  const names = path.split('.')
  const last = names.pop()!
  let place = copy as Record<string, unknown>
  for (const [at, name] of names.entries()) {
    place = (place[name] ??= (names[at + 1] ?? last) === '0' ? [] : {}) as Record<string, unknown>
  }
  place[last] = value
  return copy
}

const routeOf = (name: string): Route => {
  const route = routes.find((each) => each.name === name)
  assert.ok(route, `no operation ${name}`)
  return route
}
const isPatchOrPut = ({ method }: Route) => method === 'PATCH' || method === 'PUT'
const routeNameOf = (key: string) => key.split(' ')[0]!

/** Sends the field and returns what the GET shows at its place before and after. */
async function change(
  key: string,
  path: string,
  { value, with: rest = {}, shownAt, shown, query }: Field,
): Promise<{ before: unknown; after: unknown; expected: unknown }> {
  const operation = operations[key]!
  await operation.prepare?.()
  const route = routeOf(routeNameOf(key))
  const subject = subjects.find(
    (each) => each.route === route.name && (operation.form === undefined || each.form === operation.form),
  )!
  const prepared = await prepareSuccess(api, fixtures, subject, route, operation.caller)
  assert.ok(prepared, 'no caller succeeds with it')
  const { request, presented, send } = prepared
  const own = request.body as Json
  const prefix = own['prefix'] === undefined ? {} : { prefix: own['prefix'] }
  const created = (each: unknown) => (typeof each === 'function' ? (each as () => unknown)() : each)
  const sent = created(value)
  const body = Object.entries({ ...operation.base, ...prefix, ...rest, [path]: sent }).reduce<Json>(
    (json, [at, part]) => setAt(json, at, part),
    {},
  )
  const read = async (): Promise<unknown> => {
    const answer = await api.server.inject({
      url: urlOf(
        routeOf(operation.read),
        request.params ?? {},
        (query ?? operation.query ?? {}) as Record<string, string>,
      ),
      headers: { authorization: presented.authorization! },
    })
    assert.equal(answer.statusCode, 200, answer.body)
    return valueAt(answer.json(), shownAt ?? operation.pathOf?.(path) ?? path)
  }
  const first = await read()
  const { statusCode, body: text } = await send({ body })
  assert.ok(statusCode < 300, `${statusCode} ${text} for ${JSON.stringify(body)}`)
  return { before: first, after: await read(), expected: shown === undefined ? sent : created(shown) }
}

describe('every field of a PATCH or PUT', () => {
  for (const [key, { fields }] of Object.entries(operations)) {
    for (const [path, each] of Object.entries(fields)) {
      it(`is applied: ${key} ${path}`, async () => {
        const { before: first, after: last, expected } = await change(key, path, each)
        assert.notDeepEqual(first, expected, 'the value does not differ')
        assert.deepEqual(last, expected)
      })
    }
  }

  for (const route of routes.filter(isPatchOrPut)) {
    it(`is tried: ${route.name}`, () => {
      const named = Object.entries(operations).filter(([key]) => routeNameOf(key) === route.name)
      const paths = named.flatMap(([, { fields, notShown = {} }]) => [
        ...Object.keys(fields),
        ...Object.keys(notShown),
      ])
      assert.deepEqual(paths.toSorted(), leavesOf(route.body as Schema, '').toSorted())
    })
  }
})

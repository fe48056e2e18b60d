// Elements of the platform that the portal manages: every kind is created, read, edited and deleted over HTTP, and neither a file nor the
// portal changes what the other one manages. Kinds are enumerated.
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { PlatformElement, PlatformKind, PlatformPlan } from '@pharos/contract/operator/platform'
import type { Member } from '@pharos/contract/team/member'
import { sql } from 'kysely'
import { applyPlatform, preparePlatform } from '../src/platform/engine/apply.ts'
import { parseYaml } from '../src/platform/engine/document.ts'
import { platformKinds } from '../src/platform/kinds/index.ts'
import {
  addSampleZone,
  elementSamples,
  sampleElement,
  samplePlatform,
  type SampleElement,
} from '../src/platform/testing-elements.ts'
import { addTeam, addUser, createTestApi, type TestApi } from './api.ts'

let api: TestApi
let staff: Awaited<ReturnType<typeof addUser>>
let authorization: string
let kinds: readonly PlatformKind[] = []

before(async () => {
  api = await createTestApi()
  const team = await addTeam(api, 'red')
  staff = await addUser(api, 'staff', [team], { staff: true })
  authorization = `Bearer ${(await api.signIn(staff.email)).access}`
  kinds = (await get<{ kinds: PlatformKind[] }>('')).kinds
})
after(() => api[Symbol.asyncDispose]())

async function get<T>(path: string): Promise<T> {
  const response = await api.server.inject({ url: `/v3/admin/platform${path}`, headers: { authorization } })
  assert.equal(response.statusCode, 200, response.body)
  return response.json()
}

type Change = {
  readonly action: 'create' | 'update' | 'delete'
  readonly section: string
  readonly key?: string
  readonly values?: SampleElement
  readonly if_match?: string
}

const post = (changes: readonly Change[], query = '') =>
  api.server.inject({
    method: 'POST',
    url: `/v3/admin/platform/changes${query}`,
    headers: { authorization },
    payload: { changes },
  })

async function change(changes: readonly Change[], query = ''): Promise<PlatformPlan> {
  const response = await post(changes, query)
  assert.equal(response.statusCode, 200, `${JSON.stringify(changes)} ${response.body}`)
  return response.json()
}

const planned = async (changes: readonly Change[]): Promise<PlatformPlan> =>
  ((await change(changes, '?dry_run=true')) as unknown as { result: PlatformPlan }).result

type Problem = {
  code: string
  detail: string
  errors?: { loc: (string | number)[]; msg: string; type: string }[]
}

async function refused(changes: readonly Change[]): Promise<string[]> {
  const response = await post(changes)
  assert.equal(response.statusCode, 422, response.body)
  return response.json<Problem>().errors!.map(({ loc, type, msg }) => `${loc.join('.')} ${type}: ${msg}`)
}

type Elements = { readonly results: readonly PlatformElement[]; readonly count: number }

const elementsOf = async (section: string, query = ''): Promise<readonly PlatformElement[]> =>
  (await get<Elements>(`/${section}?limit=1000${query}`)).results

async function find(section: string, key: string): Promise<PlatformElement | undefined> {
  return (await elementsOf(section, `&key=${encodeURIComponent(key)}`))[0]
}

async function applyFile(
  text: string,
  options: { prune?: boolean; enforce?: boolean; release?: boolean } = {},
): Promise<readonly string[]> {
  const { owner } = api.database.postgres
  const document = parseYaml('customers.yaml', text)
  const deps = { ring: api.config.secret, readText: () => assert.fail() }
  const prepared = await preparePlatform(platformKinds, owner, document, deps, {
    prune: false,
    enforce: false,
    ...options,
  })
  await applyPlatform(platformKinds, owner, prepared, new Date())
  return prepared.plan.notices
}

const given = (element: SampleElement): SampleElement =>
  Object.fromEntries(Object.entries(element).filter(([, value]) => value !== undefined))

/** A field of a file is not accepted; identities never change. */
const changedFields = ({ section, fields }: PlatformKind) =>
  fields.filter(
    ({ name, is_identity: isIdentity }) =>
      !isIdentity && name !== 'team' && name in elementSamples[section]!.fields,
  )

describe('every kind that the portal changes', () => {
  it('has a reason if it is not one of them', () => {
    const left = platformKinds.kinds.filter(({ name }) => !kinds.some(({ kind }) => kind === name))
    assert.deepEqual(
      left.map(({ name, outsideOfPortal: reason }) => [name, typeof reason]),
      [
        ['user', 'string'],
        ['membership', 'string'],
        ['announcement', 'string'],
        ['staff_sign_in', 'string'],
      ],
    )
  })

  it('is created, and read as it was written', async () => {
    for (const { section } of kinds) {
      const created = samplePlatform[section]!.map((values): Change => ({
        action: 'create',
        section,
        values,
      }))
      const { changes } = await change(created)
      assert.ok(
        changes.length >= created.length && changes.every(({ action }) => action === 'create'),
        section,
      )
      const elements = await elementsOf(section, '&managed_by=portal')
      assert.equal(elements.length, created.length, section)
      for (const { values, key } of elements) {
        const again = await planned([{ action: 'update', section, key, values }])
        assert.deepEqual([again.changes, again.notices], [[], []], `${section} ${key}`)
      }
      assert.doesNotMatch(JSON.stringify(elements), /a-community|demo-secret|c2VjcmV0|sealed|_mac/)
    }
  })

  it('has fields for a form that name what they refer to', () => {
    const sections = new Set(kinds.map(({ section }) => section))
    for (const { section, fields } of kinds)
      for (const { name, refers_to: target, type, choices } of fields) {
        assert.ok(target === null || sections.has(target), `${section} ${name}`)
        assert.equal(choices.length > 0, type === 'choice' || type === 'choices', `${section} ${name}`)
        assert.doesNotMatch(name, /_file$/)
      }
  })

  it('is not changed with the etag of an earlier state', async () => {
    for (const kind of kinds) {
      const { section } = kind
      const [first] = changedFields(kind)
      const values = given(sampleElement(section))
      const other = given({ ...values, ...elementSamples[section]!.fields[first!.name]! })
      const plan = await planned([{ action: 'update', section, values: other }])
      const { key } = plan.changes.find((one) => one.kind === kind.kind)!
      const { etag } = (await find(section, key))!
      await change([{ action: 'update', section, values: other, if_match: etag }])
      for (const action of ['update', 'delete'] as const) {
        const stale = { action, section, key, ...(action === 'update' ? { values } : {}), if_match: etag }
        const answer = await post([stale])
        assert.deepEqual([answer.statusCode, answer.json().code], [412, 'precondition_failed'], section)
      }
      const now = (await find(section, key))!
      assert.notEqual(now.etag, etag, section)
      await change([{ action: 'update', section, key, values, if_match: now.etag }])
    }
  })

  it('is edited, field by field', async () => {
    await addSampleZone(api.database.postgres.owner)
    for (const kind of kinds) {
      const { section } = kind
      for (const { name } of changedFields(kind)) {
        const values = given({ ...sampleElement(section), ...elementSamples[section]!.fields[name]! })
        const plan = await planned([{ action: 'update', section, values }])
        assert.ok(plan.changes.length > 0, `${section} ${name}`)
        assert.ok(
          plan.changes.every(({ action }) => action === 'update'),
          `${section} ${name}`,
        )
      }
      const [first] = changedFields(kind)
      const values = given({ ...sampleElement(section), ...elementSamples[section]!.fields[first!.name]! })
      await change([{ action: 'update', section, values }])
      assert.deepEqual((await planned([{ action: 'update', section, values }])).changes, [], section)
    }
    await sql`delete from dns_zones`.execute(api.database.postgres.owner)
  })

  it('stays when a file with empty sections is applied with --prune', async () => {
    const empty = kinds.filter(({ is_single: isSingle }) => !isSingle).map(({ section }) => `${section}: []`)
    await applyFile(empty.join('\n'), { prune: true })
    for (const { section } of kinds)
      assert.equal(
        (await elementsOf(section, '&managed_by=portal')).length,
        samplePlatform[section]!.length,
        section,
      )
  })

  it('is deleted, after what takes it out of use', async () => {
    for (const { section } of kinds.toReversed())
      for (const { key } of await elementsOf(section, '&managed_by=portal')) {
        for (let step = 0; step < 3 && (await find(section, key)); step++)
          await change([{ action: 'delete', section, key }])
        assert.equal(await find(section, key), undefined, `${section} ${key}`)
      }
    const { rows } = await sql`
      select kind, row_id from platform_owners where managed_by = 'portal'`.execute(
      api.database.postgres.owner,
    )
    assert.deepEqual(rows, [])
  })
})

const place = (key: string, name = 'Place') => ({ key, name, country: 'NL', timezone: 'UTC' })
const creation = (key: string): Change => ({ action: 'create', section: 'locations', values: place(key) })

describe('the managers of elements', () => {
  it('leave what the file names to the file, with its name', async () => {
    await applyFile('locations: [{key: filed, name: Filed, country: NL, timezone: UTC}]')
    const filed = (await find('locations', 'filed'))!
    assert.deepEqual([filed.managed_by, filed.file], ['file', 'customers.yaml'])
    const by = 'is location filed, which is managed by the file customers.yaml: change it there'
    assert.deepEqual(await refused([{ action: 'update', section: 'locations', values: place('filed') }]), [
      `body.changes.0 managed: ${by}`,
    ])
    assert.deepEqual(await refused([{ action: 'delete', section: 'locations', key: 'filed' }]), [
      `body.changes.0 managed: ${by}`,
    ])
  })

  it('are the portal until a file takes the element over with --enforce', async () => {
    await change([creation('ours')])
    const text = 'locations: [{key: ours, name: Theirs, country: NL, timezone: UTC}]'
    assert.deepEqual(await applyFile(text), [
      'location ours: managed by portal; name kept (--enforce changes that)',
    ])
    assert.deepEqual((await find('locations', 'ours'))!.managed_by, 'portal')
    await applyFile(text, { enforce: true })
    const { managed_by: manager, file, values } = (await find('locations', 'ours'))!
    assert.deepEqual([manager, file, values['name']], ['file', 'customers.yaml', 'Theirs'])
  })

  it('change although no field differs', async () => {
    await change([creation('equal')])
    await applyFile('locations: [{key: equal, name: Place, country: NL, timezone: UTC}]', { enforce: true })
    assert.equal((await find('locations', 'equal'))!.managed_by, 'file')
  })

  it('become the portal when the file is applied with --release', async () => {
    const text = 'locations: [{key: left, name: Place, country: NL, timezone: UTC}]'
    await applyFile(text)
    await applyFile(text, { release: true })
    assert.equal((await find('locations', 'left'))!.managed_by, 'portal')
    await change([{ action: 'update', section: 'locations', values: place('left', 'Ours') }])
    await applyFile(text)
    assert.equal((await find('locations', 'left'))!.values['name'], 'Ours')
  })

  it('keep the prefix of a customer that another source gives to another one', async () => {
    const team = (slug: string): Change => ({
      action: 'create',
      section: 'teams',
      values: { slug, name: slug },
    })
    const prefix = (slug: string): Change => ({
      action: 'create',
      section: 'prefixes',
      values: { team: slug, prefix: '198.18.7.0/24' },
    })
    await change([team('north'), team('south'), prefix('north')])
    await applyFile('prefixes: [{team: south, prefix: 198.18.7.0/24}]')
    assert.ok(await find('prefixes', 'north 198.18.7.0/24'))
    assert.equal(await find('prefixes', 'south 198.18.7.0/24'), undefined)
  })
})

describe('changes of elements', () => {
  it('are refused with the places of all problems', async () => {
    const values = { ...place('wrong'), country: 'Holland', colour: 'red' }
    const errors = await refused([creation('fine'), { action: 'create', section: 'locations', values }])
    assert.deepEqual(
      errors.map((line) => line.split(' ')[0]),
      ['body.changes.1.values.colour', 'body.changes.1.values.country'].toSorted(),
    )
    assert.equal(await find('locations', 'fine'), undefined)
  })

  it('create only what is new, and update and delete only what exists', async () => {
    await change([creation('once')])
    const absent = { action: 'update', section: 'locations', values: place('absent') } as const
    assert.deepEqual(
      await refused([creation('once'), absent, { action: 'delete', section: 'locations', key: 'gone' }]),
      [
        'body.changes.0 exists: is location once, which exists already',
        'body.changes.1 unknown: is location absent, which does not exist',
        'body.changes.2 unknown: is location gone, which does not exist',
      ],
    )
    const twice = await refused([creation('twice'), creation('twice')])
    assert.deepEqual(twice, ['body.changes.1 duplicate: is the second change of twice'])
  })

  it('name no files and programs of the server, no users and no announcements', async () => {
    const region = {
      slug: 'x',
      name: 'X',
      location: 'once',
      speaker: { kind: 'gobgp', tls: { ca_file: '/etc/hostname' } },
    }
    assert.deepEqual(
      (
        await refused([
          { action: 'create', section: 'users', values: { email: 'x@x.example' } },
          { action: 'create', section: 'announcements', values: { prefix: '192.0.2.0/24' } },
          { action: 'create', section: 'regions', values: region },
          { action: 'create', section: 'scrubbers', values: { name: 's', settings: { command: ['id'] } } },
        ])
      ).map((line) => line.split(':')[0]),
      [
        'body.changes.0.section unknown',
        'body.changes.1.section unknown',
        'body.changes.2.values.speaker.tls.ca_file not_accepted',
        'body.changes.3.values.settings.command not_accepted',
      ],
    )
  })

  it('keep what is in use, with the reason', async () => {
    await change([
      creation('used'),
      {
        action: 'create',
        section: 'regions',
        values: { slug: 'lab', name: 'Lab', location: 'used', speaker: { kind: 'sandbox' } },
      },
    ])
    const response = await post([{ action: 'delete', section: 'locations', key: 'used' }])
    assert.equal(response.statusCode, 409)
    assert.match(response.json<Problem>().detail, /location used is kept: region lab refers to it/)
    await change([
      { action: 'delete', section: 'locations', key: 'used' },
      { action: 'delete', section: 'regions', key: 'lab' },
    ])
    assert.equal(await find('locations', 'used'), undefined)
  })

  it('hold many deletions until they are approved', async () => {
    const keys = Array.from({ length: 6 }, (_, at) => `mass-${at}`)
    await change(keys.map(creation))
    const deletions = keys.map((key): Change => ({ action: 'delete', section: 'locations', key }))
    const response = await post(deletions)
    assert.equal(response.statusCode, 409)
    assert.match(response.json<Problem>().detail, /6 locations \(limit 3\)/)
    const { held, evidence } = await planned(deletions)
    assert.deepEqual(held, [{ kind: 'location', deletions: 6, limit: 3 }])
    await change(deletions, `?deletions=6&evidence=${evidence}`)
    assert.deepEqual(await elementsOf('locations', '&search=mass-'), [])
  })

  it('refuse a router of another region', async () => {
    const region = (slug: string): Change => ({
      action: 'create',
      section: 'regions',
      values: {
        slug,
        name: slug,
        location: 'once',
        speaker: { kind: 'gobgp', address: '127.0.0.1:50051', owner: '64500:1:1' },
      },
    })
    await change([region('one')])
    const [error] = await refused([region('two')])
    assert.match(error!, /region one has a speaker with the router and the owner of two/)
  })

  it('are in the audit log as changes of the employee', async () => {
    const { rows } = await sql`
      select distinct actor, by_staff from audit_entries
      where action = 'location.create' and target = 'location:once'`.execute(api.database.postgres.owner)
    assert.deepEqual(rows, [{ actor: `user:${staff.userId}`, by_staff: true }])
  })
})

describe('the first admin of a customer', () => {
  const invite = (teamId: number, email: string) =>
    api.server.inject({
      method: 'POST',
      url: `/v3/admin/teams/${teamId}/invitations`,
      headers: { authorization },
      payload: { email },
    })

  it('is invited once, by the provider, while the team has nobody', async () => {
    await change([{ action: 'create', section: 'teams', values: { slug: 'bakery', name: 'Bakery' } }])
    const { owner } = api.database.postgres
    const { id } = await owner
      .selectFrom('teams')
      .select('id')
      .where('slug', '=', 'bakery')
      .executeTakeFirstOrThrow()
    const first = await invite(id, 'ann@bakery.example')
    assert.equal(first.statusCode, 201, first.body)
    const { roles, status, invited_by: by } = first.json<Member>()
    assert.deepEqual([roles, status, by], [['admin'], 'invited', null])
    assert.equal((await invite(id, 'ANN@bakery.example')).statusCode, 200)
    assert.equal((await invite(id, 'bob@bakery.example')).json<Problem>().code, 'conflict')
    const { rows } = await sql<{ sent: number }>`
      select count(*) as sent from mails where team_id = ${id} and template = 'invitation'`.execute(owner)
    assert.equal(Number(rows[0]!.sent), 1)
  })

  it('is not invited to a team with members', async () => {
    const { owner } = api.database.postgres
    const { id } = await owner
      .selectFrom('teams')
      .select('id')
      .where('slug', '=', 'red')
      .executeTakeFirstOrThrow()
    assert.equal((await invite(id, 'new@red.example')).json<Problem>().code, 'conflict')
  })
})

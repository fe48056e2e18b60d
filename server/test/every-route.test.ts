// Calls every operation of the contract as every kind of caller, on an object of its own team, of another team and a
// missing one: the status and the code follow exactly from the declared permission and the object, and a refused call
// changes no row. Operations are enumerated from the contract.
import assert from 'node:assert/strict'
import { after, afterEach, before, describe, it } from 'node:test'
import { urlOf } from '@pharos/contract/client'
import { problems } from '@pharos/contract/problem'
import { grants, hasGrant, roles, type Role } from '@pharos/contract/role'
import { staffHasGrant } from '@pharos/contract/staff-role'
import { grantsNeeded, isOfTeamInPath, type Permission, type Route } from '@pharos/contract/route'
import { routes } from '@pharos/contract/document/routes'
import { sql } from 'kysely'
import { addUser, createTestApi, type TestApi } from './api.ts'
import { callers, userIn, type Caller, type Identity, type Presented } from './support/callers.ts'
import { openSession } from './support/credentials.ts'
import { addProvider } from './support/identity.ts'
import { formOf, formType } from './support/letters.ts'
import { removeSecondFactors } from './support/second-factor.ts'
import type { Outcome, Subject, SubjectRequest, Which } from './support/subject.ts'
import { secondFactorSubjects } from './support/subjects-second-factor.ts'
import { subjects } from './support/subjects.ts'
import { trackChanges, type Changes } from './support/changes.ts'
import { expectedAccessOf, outsideOfLimit } from './support/expected-access.ts'
import { createFixtures, type Fixtures, type Person } from './support/fixtures.ts'
import { isLongRun } from '../src/runtime/testing-scale.ts'

/** Operations, or variants of them, that no caller tries, each `operation: reason`. Must stay empty. */
const untested: readonly string[] = []

const which: readonly Which[] = ['own', 'foreign', 'missing']

let api: TestApi
let elsewhere: TestApi
let fixtures: Fixtures
let changesSince: Changes
/** Of all people. */
let passwordHash: string | null

before(async () => {
  api = await createTestApi()
  elsewhere = await createTestApi(
    { PHAROS_HOST: '0.0.0.0', PHAROS_PUBLIC_URL: 'http://localhost:8080' },
    { sameInstallationAs: api },
  )
  fixtures = await createFixtures(api)
  await setPolicies()
  passwordHash = (
    await api.database.postgres.owner
      .selectFrom('users')
      .select('password_hash')
      .where('id', '=', fixtures.people.admin.userId)
      .executeTakeFirstOrThrow()
  ).password_hash
  changesSince = await trackChanges(api.database.postgres.owner)
})
after(async () => {
  await elsewhere[Symbol.asyncDispose]()
  await api[Symbol.asyncDispose]()
})

/** Blue requires its identity provider of addresses in its domain, and its admin has used a recovery code. */
async function setPolicies(): Promise<void> {
  await addProvider(api, fixtures.blue, {
    key: 'callersofblu',
    issuer: 'https://192.0.2.1',
    domain: 'blue.example',
  })
  await sql`update teams set sign_in_policy = 'required_domain' where id = ${fixtures.blue.teamId}`.execute(
    api.database.postgres.owner,
  )
}

/** Post-response tasks of one call must not be counted as changes of the next. */
const settled = () => Promise.all([api.settled(), elsewhere.settled()])

/** Removes objects created by requests: they would slow down the next operation. */
async function removeCreated(): Promise<void> {
  await sql`
    with d1 as (delete from outbox), d2 as (delete from mails), d3 as (delete from service_accounts) delete from webhooks`.execute(
    api.database.postgres.owner,
  )
}

/** Removes the callers' credentials, and restores their passwords. */
async function removeCredentials(): Promise<void> {
  credentials.clear()
  await sql`
    with d1 as (delete from sessions), d2 as (delete from api_tokens), d3 as (delete from staff_tokens),
      d4 as (delete from second_factors), d5 as (delete from recovery_codes), d6 as (delete from passkeys)
    update users set totp_enabled = null, passkey_added = null where totp_enabled is not null or passkey_added is not null`.execute(
    api.database.postgres.owner,
  )
  await sql`update users set password_hash = ${passwordHash} where password_hash <> ${passwordHash}`.execute(
    api.database.postgres.owner,
  )
}

const routesByName = new Map(routes.map((route) => [route.name, route]))
const routeOf = (subject: Subject): Route => routesByName.get(subject.route)!
const isMounted = ({ method, path }: Route): boolean =>
  api.server.hasRoute({ method, url: path.replace(/\{(\w+)\}/g, ':$1') })

type Answer = { readonly status: number; readonly headers: Record<string, unknown>; readonly body: string }
type Answers = Map<Which, Answer>

/** Operations that create, change or end sessions and tokens: each call to them presents a new credential. */
const isAboutCredentials = ({ path }: Route) => /^\/v3\/(session|tokens)\b/.test(path)

const credentials = new Map<Caller, { readonly presented: Presented; readonly since: number }>()
/** An access token is valid for 300 s. */
const CREDENTIAL_MS = 100_000

async function credentialOf(caller: Caller, route: Route): Promise<Presented> {
  if (isAboutCredentials(route)) return await caller.present(api, fixtures)
  const known = credentials.get(caller)
  if (known && performance.now() - known.since < CREDENTIAL_MS) return known.presented
  const presented = await caller.present(api, fixtures)
  credentials.set(caller, { presented, since: performance.now() })
  return presented
}

function expectedOf(subject: Subject, { identity }: Caller, which: Which): Outcome {
  const route = routeOf(subject)
  const access = expectedAccessOf(route, identity)
  if (access !== 'pass') return access
  const isLimited = 'isLimited' in identity && identity.isLimited
  return (isLimited && outsideOfLimit(route)) || subject.answers(which, identity)
}

async function send(
  route: Route,
  caller: Caller,
  presented: Presented,
  request: SubjectRequest,
): Promise<Answer> {
  const { server } = caller.elsewhere ? elsewhere : api
  const { statusCode, headers, body } = await server.inject({
    method: route.method,
    url: urlOf(route, request.params ?? {}, request.query ?? {}),
    ...(request.body === undefined ? {} : { payload: request.body as object }),
    ...(request.form === undefined ? {} : { payload: formOf(request.form) }),
    headers: {
      ...(request.form === undefined ? {} : { 'content-type': formType }),
      ...(presented.authorization === undefined ? {} : { authorization: presented.authorization }),
    },
    ...(presented.from === undefined ? {} : { remoteAddress: presented.from }),
  })
  return { status: statusCode, headers, body }
}

type Refused = { readonly answers: Answers; readonly changes: readonly string[] }

/**
 * Sends the calls of these callers with an expected refusal, and returns the rows changed in the meantime. Callers with
 * the same request share its object: no refused call changes it.
 */
async function sendRefused(subject: Subject, among: readonly Caller[]): Promise<Map<Caller, Refused>> {
  const route = routeOf(subject)
  const requests = new Map<string, SubjectRequest>()
  const calls: { caller: Caller; presented: Presented; which: Which; request: SubjectRequest }[] = []
  for (const caller of among) {
    const { identity } = caller
    for (const which of objectsFor(subject, caller)) {
      if (typeof expectedOf(subject, caller, which) === 'number') continue
      const presented = await credentialOf(caller, route)
      const key = [which, 'team' in identity && identity.team, 'key' in identity && identity.key].join()
      const request =
        requests.get(key) ?? (await subject.requests[which]!({ api, fixtures, identity, presented }))
      requests.set(key, request)
      calls.push({ caller, presented, which, request })
    }
  }
  const refused = new Map(among.map((caller) => [caller, { answers: new Map(), changes: [] } as Refused]))
  if (calls.length === 0) return refused
  await changesSince()
  for (const { caller, presented, which, request } of calls)
    refused.get(caller)!.answers.set(which, await send(route, caller, presented, request))
  await settled()
  const changes = await changesSince()
  return changes.length === 0 ? refused : await withChanges(subject, refused, changes)
}

/**
 * Finds the callers whose refused calls changed rows, by sending the calls again; all callers if the second calls
 * change no rows.
 */
async function withChanges(
  subject: Subject,
  refused: Map<Caller, Refused>,
  changes: readonly string[],
): Promise<Map<Caller, Refused>> {
  const blamed = new Map(refused)
  if (refused.size > 1)
    for (const caller of refused.keys())
      blamed.set(caller, (await sendRefused(subject, [caller])).get(caller)!)
  if ([...blamed.values()].some((one) => one.changes.length > 0)) return blamed
  return new Map([...refused].map(([caller, { answers }]) => [caller, { answers, changes }]))
}

/** Each accepted call is about a new object. */
async function sendAccepted(subject: Subject, caller: Caller, answers: Answers): Promise<void> {
  const route = routeOf(subject)
  const { identity } = caller
  for (const which of objectsFor(subject, caller)) {
    if (typeof expectedOf(subject, caller, which) !== 'number') continue
    const presented = await credentialOf(caller, route)
    const request = await subject.requests[which]!({ api, fixtures, identity, presented })
    answers.set(which, await send(route, caller, presented, request))
  }
}

const codeOf = (body: string): string => (JSON.parse(body) as { code: string }).code

/**
 * A team's marks never occur in a response to another team, or to a caller without a team. Staff also work in one team at a time.
 */
function assertNothingForeign(identity: Identity, { body }: Answer): void {
  const team = 'team' in identity ? identity.team : undefined
  if (team === 'red') return assertWithout(body, fixtures.blue.marks)
  if (team === 'blue') return assertWithout(body, fixtures.red.marks)
}

function assertWithout(body: string, marks: readonly string[]): void {
  for (const mark of marks)
    assert.ok(!body.includes(mark), `the response contains ${mark}: ${body.slice(0, 500)}`)
}

/**
 * Removes the identifiers of the request: the rest of two responses must be equal, so that neither reveals whether an object
 * exists.
 */
function withoutIdentifiers({ status, headers, body }: Answer): unknown {
  const { 'x-request-id': id, date: _, 'ratelimit-remaining': __, 'ratelimit-reset': ___, ...rest } = headers
  return { status, headers: rest, body: body.replaceAll(String(id), '<request id>') }
}

function assertOutcome({ status, headers, body }: Answer, expected: Outcome): void {
  const got = `${status} ${body.slice(0, 300)}`
  assert.equal(status, typeof expected === 'number' ? expected : problems[expected].status, got)
  if (typeof expected === 'number') return
  assert.equal(codeOf(body), expected, got)
  assert.match(String(headers['content-type']), /^application\/problem\+json/)
}

/** Tokens are returned for a valid credential in the body, whatever the header. */
const givesTokens = ({ route }: Subject) =>
  ['createSessionToken', 'refreshSession', 'completeSingleSignOn'].includes(route)

const isOfAllTeams = ({ ofAllTeams }: Subject, identity: Identity): boolean =>
  ofAllTeams === 'staff' ? 'isStaff' in identity && identity.isStaff : ofAllTeams === true

/**
 * Callers that an operation cannot distinguish: the same access is expected, and the same kind of identity with the same team and
 * role. In `npm test` each operation is tried by one caller of each such kind, in turns, so that each caller tries some operation
 * of each kind; in the long run each caller tries each operation.
 */
function kindOf(route: Route, { identity, elsewhere }: Caller): string {
  const { kind, team, isAdmin, isStaff, isLimited, demoElsewhere, staffRoles, entry, openedBy } = {
    ...noRole,
    ...identity,
  }
  return [
    expectedAccessOf(route, identity),
    kind,
    team,
    isAdmin,
    isStaff,
    isLimited,
    demoElsewhere,
    elsewhere,
    openedBy,
    // The use case distinguishes them, in the team of the path.
    ...(isOfTeamInPath(route) ? [staffRoles, entry] : []),
  ].join()
}

/** Few operations take such a credential. */
const isRare = (credential: Permission['credential']) => credential === 'optional' || credential === 'source'

const isChecked = (credential: Permission['credential']) => credential !== 'none'

const noRole = {
  isLimited: undefined,
  team: undefined,
  isAdmin: undefined,
  isStaff: undefined,
  demoElsewhere: undefined,
  staffRoles: undefined,
  entry: undefined,
  openedBy: undefined,
}

/** An invalid credential is refused in one place (http/authenticate.ts), with many cases: more of them try each operation. */
const strangersAtOnce = 4

function callersFor(subject: Subject, turn: number): readonly Caller[] {
  const route = routeOf(subject)
  const { credential } = route.permission
  if (isLongRun || isRare(credential)) return callers
  const kinds = Map.groupBy(callers, (caller) => kindOf(route, caller))
  return [...kinds.values()].flatMap((alike) => {
    const atOnce = alike[0]!.identity.kind === 'stranger' ? strangersAtOnce : 1
    return alike.filter((_, at) => (at + turn * atOnce) % alike.length < atOnce)
  })
}

const tried = new Map(
  [...Map.groupBy(subjects, (subject) => routeOf(subject).permission.credential).values()].flatMap((alike) =>
    alike.map((subject, turn) => [subject, callersFor(subject, turn)]),
  ),
)

/** A caller without access is refused before the object is read: in `npm test` each tries one object, in turns. */
function objectsFor(subject: Subject, caller: Caller): readonly Which[] {
  const objects = Object.keys(subject.requests) as Which[]
  if (isLongRun || expectedAccessOf(routeOf(subject), caller.identity) === 'pass') return objects
  return [objects[(subjects.indexOf(subject) + callers.indexOf(caller)) % objects.length]!]
}

for (const subject of subjects) {
  const route = routeOf(subject)
  const all = tried.get(subject)!
  describe(`${subject.route}${subject.form ? `, ${subject.form}` : ''}`, () => {
    // For all callers together, before any call is accepted.
    let refusedOfAll: Promise<Map<Caller, Refused>> | undefined
    const refusedOf = (caller: Caller) =>
      isAboutCredentials(route)
        ? sendRefused(subject, [caller])
        : (refusedOfAll ??= sendRefused(subject, all))
    afterEach(settled)
    after(async () => {
      await removeCreated()
      if (route.name === 'updateTeamSignIn') await setPolicies()
      if (isAboutCredentials(route)) await removeCredentials()
    })
    if (secondFactorSubjects.includes(subject)) afterEach(() => removeSecondFactors(api))
    for (const caller of all) {
      it(`returns to ${caller.name} exactly the status and code of the contract`, async (t) => {
        if (!isMounted(route)) return t.skip('the server does not implement the operation yet')
        const { answers, changes } = (await refusedOf(caller)).get(caller)!
        assert.deepEqual(changes, [], 'refused, and changed')
        await sendAccepted(subject, caller, answers)
        for (const which of objectsFor(subject, caller)) {
          assertOutcome(answers.get(which)!, expectedOf(subject, caller, which))
          if (!givesTokens(subject) && !isOfAllTeams(subject, caller.identity))
            assertNothingForeign(caller.identity, answers.get(which)!)
        }
        const [foreign, missing] = [answers.get('foreign'), answers.get('missing')]
        if (foreign && missing && foreign.status === missing.status)
          assert.deepEqual(withoutIdentifiers(foreign), withoutIdentifiers(missing))
      })
    }
  })
}

/**
 * One operation for each grant, on an object that does not exist, and every operation whose use case checks the grant, because its path
 * names the team. `contract/src/role.test.ts` compares the table of roles; the permission of every other operation is checked in one place
 * (http/authenticate.ts), which the callers above try with each operation.
 */
const subjectsOfRoles: readonly (readonly [Subject, Which])[] = [
  ...grants.flatMap((grant) => {
    const subject = subjects.find(
      (one) =>
        grantsNeeded(routeOf(one).permission, []).includes(grant) &&
        !isOfTeamInPath(routeOf(one)) &&
        (one.requests.missing || routeOf(one).method === 'GET'),
    )
    return subject ? [[subject, subject.requests.missing ? 'missing' : 'only'] as const] : []
  }),
  ...subjects
    .filter((one) => isOfTeamInPath(routeOf(one)))
    .map((one) => [one, one.requests.own ? 'own' : 'only'] as const),
]

describe('a member', () => {
  const people = new Map<Role, Person>()
  before(async () => {
    for (const role of roles)
      people.set(role, await addUser(api, `as-${role}`, [fixtures.red], { roles: [role] }))
  })

  it('is tried with an operation of every grant', () => {
    const tried = new Set(subjectsOfRoles.flatMap(([one]) => grantsNeeded(routeOf(one).permission, [])))
    // A field of updateTeam: see teams.test.ts.
    assert.deepEqual(
      grants.filter((grant) => !tried.has(grant)),
      ['billing.manage'],
    )
  })

  for (const role of roles)
    it(`with the role ${role} may do what the grants of the role allow, and is told the roles that would do`, async () => {
      const { userId } = people.get(role)!
      const { access } = await openSession(api, userId, fixtures.red.teamId)
      const presented = { authorization: `Bearer ${access}`, userId }
      const identity = userIn('red', { isAdmin: role === 'admin' })
      const caller: Caller = { name: role, identity, present: async () => presented }
      for (const [subject, object] of subjectsOfRoles) {
        const route = routeOf(subject)
        const [grant] = grantsNeeded(route.permission, [])
        const request = await subject.requests[object]!({ api, fixtures, identity, presented })
        const answer = await send(route, caller, presented, request)
        const isRefused = isOfTeamInPath(route)
          ? subject.answers(object, identity) === 'forbidden'
          : !hasGrant([role], grant!)
        const got = `${subject.route} ${subject.form ?? ''}: ${answer.status} ${answer.body.slice(0, 300)}`
        const isForbidden = answer.status === 403 && codeOf(answer.body) === 'forbidden'
        assert.equal(isForbidden, isRefused, got)
        if (!isRefused) continue
        assert.match(answer.body, /Needs the role .*Admin\. Ask an admin of the team\./, got)
      }
    })
})

describe('if members may not toggle announcements', () => {
  it('only admins and staff may, with any credential', async () => {
    await using strict = await createTestApi(
      { PHAROS_MEMBERS_MAY_TOGGLE: 'false' },
      { sameInstallationAs: api },
    )
    const outcomes: Record<string, number> = {}
    for (const { name, present, identity } of callers) {
      if (!('team' in identity) || identity.team !== 'red' || identity.demoElsewhere) continue
      if (identity.kind === 'token' && (identity.isLimited || !identity.scopes.includes('ipam:write')))
        continue
      const { authorization, from } = await present(api, fixtures)
      const { statusCode } = await strict.server.inject({
        method: 'PATCH',
        url: `/v3/ipam/announcements/${fixtures.red.announcements.off}`,
        headers: { authorization },
        payload: { enabled: false },
        ...(from === undefined ? {} : { remoteAddress: from }),
      })
      outcomes[name] = statusCode
      const isAllowed = identity.isStaff
        ? identity.entry === 'changing' && staffHasGrant(identity.staffRoles, 'ipam.manage')
        : identity.isAdmin && identity.openedBy !== 'foreign provider'
      assert.equal(statusCode, isAllowed ? 200 : 403, name)
    }
    assert.deepEqual([...new Set(Object.values(outcomes))].toSorted(), [200, 403])
  })
})

describe('the enumeration', () => {
  it('finds every operation of the contract on the server', () => {
    assert.deepEqual(
      routes.filter((route) => !isMounted(route)).map(({ name }) => name),
      [],
    )
  })

  it('covers every operation and every kind of object', () => {
    const tested = new Set(subjects.map(({ route }) => route))
    const missing = routes.filter(({ name }) => !tested.has(name)).map(({ name }) => `${name}: no subject`)
    for (const { route, form, requests, without } of subjects) {
      if (requests.only) continue
      for (const one of which)
        if (!requests[one] && !without?.[one]) missing.push(`${route} ${form ?? ''}: no ${one} object`)
    }
    assert.deepEqual(missing, untested)
  })

  it('tries each operation with path parameters on own, foreign and missing objects', () => {
    const withParams = routes.filter(({ params }) => Object.keys(params.properties).length > 0)
    const found = withParams.filter(
      ({ name }) =>
        !subjects.some(({ route, requests }) => route === name && requests.own && requests.missing),
    )
    assert.deepEqual(
      found.map(({ name }) => name),
      [],
    )
  })

  it('tries every caller with every kind of credential, and every kind of caller with every operation', () => {
    // Operations without a credential ignore it.
    const credentials = new Set(routes.map(({ permission }) => permission.credential).filter(isChecked))
    for (const caller of callers) {
      const of = subjects.filter((subject) => tried.get(subject)!.includes(caller))
      assert.deepEqual(
        new Set(of.map((subject) => routeOf(subject).permission.credential).filter(isChecked)),
        credentials,
        caller.name,
      )
    }
    for (const subject of subjects) {
      const kinds = (of: readonly Caller[]) => new Set(of.map((caller) => kindOf(routeOf(subject), caller)))
      assert.deepEqual(kinds(tried.get(subject)!), kinds(callers), subject.route)
    }
  })

  it('has callers of every kind that permissions distinguish', () => {
    const verdicts = new Set(
      routes.flatMap((route) => callers.map(({ identity }) => expectedAccessOf(route, identity))),
    )
    assert.deepEqual([...verdicts].sort(), [
      'forbidden',
      'local_sign_in_required',
      'module_disabled',
      'pass',
      'reason_required',
      'resource_limited',
      'scope_missing',
      'second_factor_required',
      'sign_in_required',
      'unauthenticated',
      'wrong_scheme',
    ])
  })
})

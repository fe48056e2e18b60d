// Teams with an admin and a member, and their HTTP calls: for the tests of teams, members and invitations.
import assert from 'node:assert/strict'
import { problems, type Problem, type ProblemCode } from '@pharos/contract/problem'
import { withPersonalTexts } from '../../src/db/audit-addresses.ts'
import type { MailContents, MailTemplate } from '../../src/mail/mail.ts'
import { open } from '../../src/runtime/secrets.ts'
import { addTeam, addUser, type TestApi, type TestTeam } from '../api.ts'
import { openSession } from './credentials.ts'

export type Colleague = {
  readonly userId: number
  readonly email: string
  readonly memberId: number
  readonly authorization: string
}

export type Company = TestTeam & { readonly admin: Colleague; readonly member: Colleague }

/** Creates a team with an admin and a member. */
export async function addCompany(api: TestApi, slug: string): Promise<Company> {
  const team = await addTeam(api, slug)
  const admin = await addColleague(api, team, 'admin', { admin: true })
  return { ...team, admin, member: await addColleague(api, team, 'member') }
}

export async function addColleague(
  api: TestApi,
  team: TestTeam,
  name: string,
  flags: Parameters<typeof addUser>[3] = {},
): Promise<Colleague> {
  const { userId, email } = await addUser(api, name, [team], flags)
  return {
    userId,
    email,
    memberId: await memberIdOf(api, team, userId),
    authorization: await authorizationOf(api, userId, team),
  }
}

export async function memberIdOf(api: TestApi, { teamId }: TestTeam, userId: number): Promise<number> {
  const { id } = await api.database.postgres.owner
    .selectFrom('memberships')
    .select('id')
    .where('team_id', '=', teamId)
    .where('user_id', '=', userId)
    .executeTakeFirstOrThrow()
  return id
}

export async function authorizationOf(api: TestApi, userId: number, { teamId }: TestTeam): Promise<string> {
  return `Bearer ${(await openSession(api, userId, teamId)).access}`
}

export type Answered = {
  readonly status: number
  readonly headers: Record<string, unknown>
  readonly body: string
  json<T>(): T
}

/** Calls the API, by default `PATCH /v3/teams/current`, with the given authorization. */
export async function call(
  api: TestApi,
  authorization: string | undefined,
  line: string,
  payload?: object,
  headers: Record<string, string> = {},
): Promise<Answered> {
  const [method, url] = line.split(' ') as ['GET' | 'POST' | 'PATCH' | 'DELETE', string]
  const response = await api.server.inject({
    method,
    url,
    headers: { ...(authorization === undefined ? {} : { authorization }), ...headers },
    ...(payload === undefined ? {} : { payload }),
  })
  const { statusCode: status, headers: answered, body } = response
  return { status, headers: answered, body, json: () => response.json() }
}

export function assertProblem({ status, body }: Answered, code: ProblemCode): Problem {
  assert.equal(status, problems[code].status, body)
  const problem = JSON.parse(body) as Problem
  assert.equal(problem.code, code, body)
  return problem
}

export function assertAnswered<T>(answered: Answered, status = 200): T {
  assert.equal(answered.status, status, answered.body)
  return answered.body === '' ? (undefined as T) : answered.json<T>()
}

/** Returns the pending mails of the template to the address, oldest first. */
export async function mailsTo<T extends MailTemplate>(
  api: TestApi,
  recipient: string,
  template: T,
): Promise<MailContents[T][]> {
  const rows = await api.database.postgres.owner
    .selectFrom('mails')
    .select('content_sealed')
    .where('recipient', '=', recipient)
    .where('template', '=', template)
    .orderBy('id')
    .execute()
  return rows.map(({ content_sealed: sealed }) =>
    JSON.parse(open(api.config.secret, 'mail', sealed!, template).toString()),
  )
}

/** Returns the token in the link of the newest invitation to the address. */
export async function invitedBy(api: TestApi, recipient: string): Promise<string> {
  const link = (await mailsTo(api, recipient, 'invitation')).at(-1)!.link
  return new URL(link).hash.slice(1)
}

export type Audited = {
  readonly team_id: number | null
  readonly actor: string
  readonly action: string
  readonly target: string
  readonly before: unknown
  readonly after: unknown
}

/** Returns the audit entries of the target, oldest first. */
export async function auditOfTarget({ database }: TestApi, target: string): Promise<Audited[]> {
  const { owner } = database.postgres
  const rows = await owner
    .selectFrom('audit_entries')
    .select(['team_id', 'actor', 'action', 'target', 'before', 'after'])
    .where('target', '=', target)
    .orderBy('id')
    .execute()
  return withPersonalTexts(owner, null, rows)
}

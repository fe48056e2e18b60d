// Teams with DNS for tests of zones over HTTP, and calls as a user of a team.
import { sql } from 'kysely'
import { addTeam, addUser, type TestApi, type TestTeam } from '../api.ts'

// oxlint-disable-next-line typescript/no-explicit-any -- each test knows the operation
export type Answered = any

export type DnsCall = {
  readonly status: number
  readonly body: Answered
  readonly etag: string
  readonly headers: Readonly<Record<string, unknown>>
  readonly text: string
}

export type DnsTeam = TestTeam & {
  readonly call: (
    method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE',
    path: string,
    payload?: unknown,
    headers?: Readonly<Record<string, string>>,
  ) => Promise<DnsCall>
}

/** Creates a team whose admin calls paths below `/v3/dns`, and paths that start with `/v3/`. */
export async function addDnsTeam(api: TestApi, slug: string): Promise<DnsTeam> {
  const team = await addTeam(api, slug)
  const { email } = await addUser(api, 'admin', [team], { admin: true })
  const { access } = await api.signIn(email)
  return {
    ...team,
    async call(method, path, payload, headers = {}) {
      const answer = await api.server.inject({
        method,
        url: path.startsWith('/v3/') ? path : `/v3/dns${path}`,
        headers: {
          authorization: `Bearer ${access}`,
          ...(payload === undefined ? {} : { 'content-type': 'application/json' }),
          ...headers,
        },
        ...(payload === undefined ? {} : { payload: JSON.stringify(payload) }),
      })
      const isJson = /json/.test(String(answer.headers['content-type']))
      return {
        status: answer.statusCode,
        body: isJson && answer.body !== '' ? answer.json() : null,
        etag: String(answer.headers['etag']),
        headers: answer.headers,
        text: answer.body,
      }
    },
  }
}

/** Gives the team a prefix of the provider. */
export const addPrefix = async (api: TestApi, { teamId }: TestTeam, prefix: string): Promise<void> => {
  await sql`insert into prefixes (team_id, prefix) values (${teamId}, ${prefix}::cidr)`.execute(
    api.database.postgres.owner,
  )
}

/** The version of a zone. */
export async function versionOf(api: TestApi, name: string): Promise<number> {
  const { rows } = await sql<{ version: number }>`
    select version from dns_zones where name = ${name} and deleted is null`.execute(
    api.database.postgres.owner,
  )
  return rows[0]!.version
}

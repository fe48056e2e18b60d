// The accounts of the bench: one team or many, a user for each client, signed in through the API as any user is.
import type { Client } from 'pg'
import { hashPassword } from '../../server/src/session/password.ts'
import { ask, HttpConnection, renderRequest } from './http-connection.ts'

export type Signed = { readonly access: string; readonly refresh: string }

const password = 'a-password-for-the-bench'
const emailOf = (user: number): string => `user-${user}@bench.example`

/** The credentials of a user. */
export const userOf = (user: number): { email: string; password: string } => ({
  email: emailOf(user),
  password,
})

/** Teams 1 to `teams`, with every module. */
export async function seedTeams(client: Client, teams: number): Promise<void> {
  await client.query(
    `insert into teams (slug, name, enable_dns, enabled_modules)
     select 'team-' || n, 'Team ' || n, true, '{inventory,ipam,lighthouse,shield,dns}'
     from generate_series(1, $1::integer) n order by n`,
    [teams],
  )
}

/** Users 1 to `users`; user n is an admin of team (n - 1) modulo the teams, plus one. */
export async function seedUsers(client: Client, users: number, teams: number): Promise<void> {
  await client.query(
    `insert into users (email, email_confirmed, password_hash, username, first_name, last_name, display_name, country)
     select 'user-' || n || '@bench.example', now(), $2, 'user-' || n, 'User', s.n::text, 'User ' || n, 'NL'
     from generate_series(1, $1::integer) s(n) order by s.n`,
    [users, await hashPassword(password)],
  )
  await client.query(
    `insert into memberships (team_id, user_id, is_admin, roles)
     select (n - 1) % $2::integer + 1, n, true, '{admin}' from generate_series(1, $1::integer) n`,
    [users, teams],
  )
}

/** Tokens of new sessions of users 1 to `users`. */
export async function signIn(url: string, users: number): Promise<Signed[]> {
  const connection = await HttpConnection.open(url)
  const signed: Signed[] = []
  for (let user = 1; user <= users; user++) {
    const body = JSON.stringify(userOf(user))
    const request = renderRequest(new URL(url).host, { method: 'POST', path: '/v3/session/token', body })
    const answer = await ask(connection, request)
    if (answer.status !== 200) throw new Error(`signing in: ${answer.status} ${answer.body}`)
    signed.push(JSON.parse(answer.body) as Signed)
  }
  connection.close()
  return signed
}

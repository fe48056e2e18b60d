// An identity provider of team 1 that provisions with SCIM, and its requests.
import { sql } from 'kysely'
import type { Db } from '../../server/src/db/postgres.ts'
import { createKeyRing, mac } from '../../server/src/runtime/secrets.ts'
import { createApiToken, formatApiToken } from '../../server/src/session/api-token-format.ts'
import { productSecret } from './product.ts'

/** Of SAML, which has no secret. */
const settings = {
  entity_id: 'https://idp.example/saml',
  sign_on_url: 'https://idp.example/sso',
  certificates: [],
  certificates_expire: null,
  metadata_url: null,
  groups_claim: 'groups',
  second_factor_values: [],
}

/** Returns the token of a new provider with the domain bench.example, whose people are readers. */
export async function createScim(owner: Db): Promise<string> {
  await sql`delete from identity_providers`.execute(owner)
  await sql`delete from users`.execute(owner)
  const { rows } = await sql<{ id: number; team_id: number }>`
    insert into identity_providers (key, team_id, kind, name, status, settings, default_roles)
    select 'benchbenchaa', min(id), 'saml', 'Login', 'active', ${JSON.stringify(settings)}::jsonb, '{reader}' from teams
    returning id, team_id`.execute(owner)
  const { id, team_id: teamId } = rows[0]!
  await sql`
    insert into domains (team_id, domain, verified, provider_id) values (${teamId}, 'bench.example', now(), ${id})
    on conflict (team_id, domain) do update set provider_id = excluded.provider_id, verified = now()`.execute(
    owner,
  )
  const token = createApiToken('scim')
  const secretMac = mac(createKeyRing([productSecret]), 'scim-token', token.secret)
  await sql`
    insert into scim_tokens (id, provider_id, team_id, secret_mac) values (${token.id}, ${id}, ${teamId}, ${secretMac})`.execute(
    owner,
  )
  return formatApiToken(token)
}

export type ScimAnswer = { readonly id: string; readonly totalResults?: number }
export type ScimClient = (method: string, path: string, body?: object) => Promise<ScimAnswer>

/** `url` is without `/scim/v2`. Throws for an error. */
export const scimClient =
  (url: string, token: string): ScimClient =>
  async (method, path, body) => {
    const response = await fetch(`${url}/scim/v2${path}`, {
      method,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/scim+json' },
      ...(body ? { body: JSON.stringify(body) } : {}),
    })
    const text = await response.text()
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`)
    return (text === '' ? {} : JSON.parse(text)) as ScimAnswer
  }

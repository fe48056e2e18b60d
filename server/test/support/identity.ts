// Identity providers of teams in tests: rows without a real provider, and a browser that signs in with a real one.
import { sql } from 'kysely'
import { redirectUriOf, sealClientSecret } from '../../src/identity/open-provider.ts'
import { createTestKey } from '../../src/drivers/saml/testing-certificate.ts'
import type { TestApi, TestTeam } from '../api.ts'

/** Of an identity provider of SAML that nobody reaches. */
export const samlMetadata = {
  entityId: 'https://idp.example/saml',
  signOnUrl: 'https://idp.example/sso',
  certificate: createTestKey({ kind: 'ec' }).certificate,
}

export type TestProvider = { readonly id: number; readonly key: string; readonly redirectUri: string }

const letters = 'abcdefghijklmnopqrstuvwxyz234567'
let made = 0

const keyOf = (number: number): string => `testprovaa${letters[(number >> 5) & 31]}${letters[number & 31]}`

/** The keys of the first providers of a process, in their order: a real provider accepts their redirect URIs. */
export const firstKeys = Array.from({ length: 200 }, (_, at) => keyOf(at + 1))

function nextKey(): string {
  made += 1
  return keyOf(made)
}

export type ProviderOptions = {
  readonly issuer?: string
  readonly clientId?: string
  readonly clientSecret?: string
  readonly status?: 'draft' | 'active' | 'disabled'
  /** A verified domain of the team that is bound to it. */
  readonly domain?: string
  readonly secondFactor?: 'claim' | 'local' | 'trust'
  readonly defaultRoles?: readonly string[]
  /** Of SAML instead of OpenID Connect. */
  readonly saml?: { readonly entityId: string; readonly signOnUrl: string; readonly certificate: string }
  /** A provider with this key is kept. */
  readonly key?: string
  readonly id?: number
}

export async function addProvider(
  { database, config, shared }: TestApi,
  { teamId }: Pick<TestTeam, 'teamId'>,
  options: ProviderOptions = {},
): Promise<TestProvider> {
  const { owner } = database.postgres
  const {
    issuer = 'https://idp.example',
    clientId = 'pharos',
    clientSecret = 'a-secret-of-the-client',
    status = 'active',
    domain,
    secondFactor = 'claim',
    defaultRoles = ['reader'],
  } = options
  const { key = nextKey() } = options
  const common = { groups_claim: 'groups', second_factor_values: [] }
  const { saml } = options
  const settings = saml
    ? {
        entity_id: saml.entityId,
        sign_on_url: saml.signOnUrl,
        certificates: [saml.certificate],
        certificates_expire: '2036-01-01T00:00:00.000Z',
        metadata_url: null,
        ...common,
      }
    : { issuer, client_id: clientId, ...common }
  const { rows } = await sql<{ id: number }>`
    insert into identity_providers
      (id, key, team_id, kind, name, status, settings, secret_sealed, second_factor, default_roles, tested) overriding system value
    values (coalesce(${options.id ?? null}::bigint, nextval(pg_get_serial_sequence('identity_providers', 'id'))), ${key}, ${teamId}, ${saml ? 'saml' : 'oidc'}, 'Company login', ${status}, ${JSON.stringify(settings)}::jsonb,
      ${saml ? null : sealClientSecret(config.secret, key, clientSecret)}, ${secondFactor}, ${defaultRoles}, now())
    on conflict (key) do update set name = excluded.name, status = excluded.status returning id`.execute(
    owner,
  )
  const { id } = rows[0]!
  if (domain !== undefined)
    await sql`
      insert into domains (team_id, domain, verified, provider_id) values (${teamId}, ${domain}, now(), ${id})
      on conflict (team_id, domain) do update set provider_id = excluded.provider_id, verified = now()`.execute(
      owner,
    )
  return { id, key, redirectUri: redirectUriOf(shared.publicUrl, key) }
}

/** Turns the proof of a session into one of the provider, as if it had opened the session. */
export async function proveByProvider(
  { database }: TestApi,
  sessionId: string,
  provider: { readonly id: number },
): Promise<void> {
  await sql`
    update session_proofs set kind = 'provider', provider_id = ${provider.id}, expires = now() + interval '1 hour'
    where session_id = ${sessionId}`.execute(database.postgres.owner)
}

// An identity provider that sends people by SCIM: requests with a token, and the documented requests of Entra ID and Okta.
import type { TestApi } from '../api.ts'
import { mac } from '../../src/runtime/secrets.ts'
import { createApiToken, formatApiToken } from '../../src/session/api-token-format.ts'
import { insertScimToken } from '../../src/scim/scim-token.store.ts'

/** Turns SCIM on for the provider, and returns its token. */
export async function addScimToken(
  { database, config }: TestApi,
  { teamId }: { readonly teamId: number },
  provider: { readonly id: number },
  networks: readonly string[] = [],
): Promise<string> {
  const token = createApiToken('scim')
  const secretMac = mac(config.secret, 'scim-token', token.secret)
  await database.postgres.owner
    .transaction()
    .execute((trx) =>
      insertScimToken(trx, { id: token.id, teamId, providerId: provider.id, secretMac, networks }),
    )
  return formatApiToken(token)
}

export type ScimMethod = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

/** Calls `/scim/v2` with the token. */
export const scimCaller =
  ({ server }: TestApi, token: string) =>
  (method: ScimMethod, path: string, payload?: object | string, headers: Record<string, string> = {}) =>
    server.inject({
      method,
      url: `/scim/v2${path}`,
      headers: {
        authorization: `Bearer ${token}`,
        ...(payload === undefined ? {} : { 'content-type': 'application/scim+json' }),
        ...headers,
      },
      ...(payload === undefined
        ? {}
        : { payload: typeof payload === 'string' ? payload : JSON.stringify(payload) }),
    })

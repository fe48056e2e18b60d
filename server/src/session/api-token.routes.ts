// The HTTP side of API tokens: one line per operation.
import {
  listTokensRoute,
  getTokenRoute,
  createTokenRoute,
  updateTokenRoute,
  deleteTokenRoute,
} from '@pharos/contract/token'
import { handle, type Mounted } from '../http/mount.ts'
import { createToken, deleteToken, getToken, listTokens, updateToken, type TokenDeps } from './api-token.ts'

export function apiTokenRoutes(deps: TokenDeps): Mounted[] {
  return [
    handle(listTokensRoute, async (operation, { query }) => {
      const body = await listTokens(deps, operation, query)
      return { body, page: { ...query, count: body.count } }
    }),
    handle(getTokenRoute, (operation, { params }) => getToken(deps, operation, params.token_id)),
    handle(createTokenRoute, (operation, { body }) => createToken(deps, operation, body)),
    handle(updateTokenRoute, (operation, { params, body }) =>
      updateToken(deps, operation, params.token_id, body),
    ),
    handle(deleteTokenRoute, async (operation, { params }) => {
      await deleteToken(deps, operation, params.token_id)
      return {}
    }),
  ]
}

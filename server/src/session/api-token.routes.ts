// The HTTP side of API tokens: one line per operation.
import * as contract from '@pharos/contract/token'
import { handle, type Mounted } from '../http/mount.ts'
import { createToken, deleteToken, getToken, listTokens, updateToken, type TokenDeps } from './api-token.ts'

export function apiTokenRoutes(deps: TokenDeps): Mounted[] {
  return [
    handle(contract.listTokens, async (operation, { query }) => {
      const body = await listTokens(deps, operation, query)
      return { body, page: { ...query, count: body.count } }
    }),
    handle(contract.getToken, (operation, { params }) => getToken(deps, operation, params.token_id)),
    handle(contract.createToken, (operation, { body }) => createToken(deps, operation, body)),
    handle(contract.updateToken, (operation, { params, body }) =>
      updateToken(deps, operation, params.token_id, body),
    ),
    handle(contract.deleteToken, async (operation, { params }) => {
      await deleteToken(deps, operation, params.token_id)
      return {}
    }),
  ]
}

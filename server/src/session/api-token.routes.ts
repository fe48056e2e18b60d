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

export const apiTokenRoutes = (deps: TokenDeps): Mounted[] => [
  handle(listTokensRoute, listTokens, deps),
  handle(getTokenRoute, getToken, deps),
  handle(createTokenRoute, createToken, deps),
  handle(updateTokenRoute, updateToken, deps),
  handle(deleteTokenRoute, deleteToken, deps),
]

// The HTTP side of API tokens: one line per operation.
import {
  listTokensRoute,
  getTokenRoute,
  createTokenRoute,
  updateTokenRoute,
  deleteTokenRoute,
  rotateTokenRoute,
  transferTokenRoute,
} from '@pharos/contract/team/token'
import { handle, type Mounted } from '../http/mount.ts'
import {
  createToken,
  deleteToken,
  getToken,
  listTokens,
  rotateToken,
  transferToken,
  updateToken,
  type TokenDeps,
} from './api-token.ts'

export const apiTokenRoutes = (deps: TokenDeps): Mounted[] => [
  handle(listTokensRoute, listTokens, deps),
  handle(getTokenRoute, getToken, deps),
  handle(createTokenRoute, createToken, deps),
  handle(updateTokenRoute, updateToken, deps),
  handle(deleteTokenRoute, deleteToken, deps),
  handle(rotateTokenRoute, rotateToken, deps),
  handle(transferTokenRoute, transferToken, deps),
]

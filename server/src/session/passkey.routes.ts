// The HTTP side of passkeys: one line per operation.
import {
  createPasskeyOptionsRoute,
  createPasskeyRoute,
  createSignInOptionsRoute,
  deletePasskeyRoute,
  getPasskeyRoute,
  listPasskeysRoute,
  updatePasskeyRoute,
} from '@pharos/contract/session/passkey'
import { handle, handleGuest, type Mounted } from '../http/mount.ts'
import {
  createPasskey,
  createPasskeyOptions,
  createSignInOptions,
  deletePasskey,
  getPasskey,
  listPasskeys,
  updatePasskey,
  type OwnPasskeyDeps,
  type PasskeyOptionsDeps,
} from './passkey.ts'
import { withTokens, type CookieDeps } from './token-reply.routes.ts'

export const passkeyOperations = (deps: OwnPasskeyDeps & PasskeyOptionsDeps & CookieDeps): Mounted[] => [
  handleGuest(createSignInOptionsRoute, createSignInOptions, deps),
  handle(createPasskeyOptionsRoute, createPasskeyOptions, deps),
  handle(createPasskeyRoute, withTokens(createPasskey), deps),
  handle(listPasskeysRoute, listPasskeys, deps),
  handle(getPasskeyRoute, getPasskey, deps),
  handle(updatePasskeyRoute, updatePasskey, deps),
  handle(deletePasskeyRoute, withTokens(deletePasskey), deps),
]

// Creates the first account of an installation: the platform document of the team, the account and the provider's name, applied by the
// engine of `pharos apply`. Only who knows the setup code may, and once.
import { randomBytes } from 'node:crypto'
import type { createFirstAccountRoute, FirstAccount } from '@pharos/contract/operator/setup'
import type { BodyOf } from '@pharos/contract/route'
import { slugOf } from '@pharos/contract/slug'
import { writeAudit } from '../db/audit.ts'
import type { Db, Trx } from '../db/postgres.ts'
import { applyAs, documentFailure, noFiles } from '../platform/apply-document.ts'
import { lockPlatform, preparePlatform, readCurrent } from '../platform/engine/apply.ts'
import { rowsByKey } from '../platform/engine/define-kind.ts'
import { documentOf } from '../platform/engine/document.ts'
import type { Current } from '../platform/engine/kind.ts'
import { platformKinds } from '../platform/kinds/index.ts'
import { providerKind } from '../platform/kinds/provider.ts'
import { teamKind } from '../platform/kinds/team.ts'
import type { ClientLimiter } from '../runtime/client-limiter.ts'
import { fail } from '../runtime/error.ts'
import type { Log } from '../runtime/log.ts'
import type { KeyRing } from '../runtime/secrets.ts'
import { checkNewPassword, hashNewPassword, type NewPasswordDeps } from '../session/new-password.ts'
import type { RequestSource } from '../session/request-source.ts'
import { isSetupCode, setupCodeOf } from './setup-code.ts'
import { completeSetup, findCode, findSetupOpen, finishAccount, saveCode } from './setup.store.ts'

const validHours = 24

/** Returns the setup code, a new one if the last has expired; undefined if there is no first account to create. */
export async function readSetupCode(
  db: Db,
  ring: KeyRing,
): Promise<{ readonly code: string; readonly expires: Date } | undefined> {
  if (!(await findSetupOpen(db))) return undefined
  await saveCode(db, randomBytes(32).toString('base64url'), validHours)
  const stored = await findCode(db)
  return stored && { code: setupCodeOf(ring, stored.salt), expires: stored.expires }
}

export type SetupDeps = NewPasswordDeps & {
  readonly db: Db
  readonly ring: KeyRing
  readonly log: Pick<Log, 'warn'>
  /** Limits requests with a code. */
  readonly attempts: ClientLimiter
}

export const showSetup = async ({ db }: Pick<SetupDeps, 'db'>): Promise<{ open: boolean }> => ({
  open: await findSetupOpen(db),
})

type Request = BodyOf<typeof createFirstAccountRoute>

/** Throws `conflict` if there was an account, `invalid_token` for a wrong or expired code. */
export async function createFirstAccount(
  deps: SetupDeps,
  source: RequestSource,
  request: Request,
): Promise<FirstAccount> {
  deps.attempts.take(source.address)
  // Before the password is checked and hashed, which is slow.
  await requireCode(deps, deps.db, request.code, source)
  const providerNames = [...deps.providerNames, request.provider]
  await checkNewPassword({ ...deps, providerNames }, request.email, request.password, ['body', 'password'])
  const passwordHash = await hashNewPassword(deps, request.password)
  return deps.db.transaction().execute(async (trx) => {
    // Of two requests, and of a platform file with users, one is first.
    await lockPlatform(trx)
    await requireCode(deps, trx, request.code, source)
    if (!(await completeSetup(trx))) throw fail('conflict', 'setupClosed')
    await applyAccount(deps, trx, request, passwordHash, source)
    const { user_id: userId, team_id: teamId } = await finishAccount(trx, request.email)
    await writeAudit(trx, {
      teamId,
      actor: `user:${userId}`,
      action: 'setup.complete',
      target: `user:${userId}`,
      requestId: source.requestId,
      address: source.address,
    })
    return { email: request.email, team_id: teamId }
  })
}

async function requireCode(
  { ring, log }: SetupDeps,
  db: Db | Trx,
  given: string,
  { address }: RequestSource,
): Promise<void> {
  if (!(await findSetupOpen(db))) throw fail('conflict', 'setupClosed')
  const stored = await findCode(db)
  if (stored && isSetupCode(ring, stored.salt, given)) return
  log.warn({ address, has_expired: stored === undefined }, 'setup code refused')
  throw fail('invalid_token', 'setupCode')
}

/** Whoever has the setup code is the operator of the machine, as with `pharos apply`. */
async function applyAccount(
  { ring }: SetupDeps,
  trx: Trx,
  request: Request,
  passwordHash: string,
  { requestId, address }: RequestSource,
): Promise<void> {
  const explain = (error: unknown): never => {
    throw documentFailure(error, ([section, , field]) => [
      section === 'users' && field === 'email' ? 'email' : 'provider',
    ])
  }
  const options = { source: 'portal', prune: false, enforce: false } as const
  const current = await readCurrent({ kinds: [providerKind, teamKind] }, trx)
  const document = documentOf('request', accountDocument(request, passwordHash, current))
  const prepared = await preparePlatform(
    platformKinds,
    trx,
    document,
    { ring, readText: noFiles },
    options,
  ).catch(explain)
  await applyAs(trx, prepared, { actor: 'operator', requestId, address }).catch(explain)
}

const allModules = ['inventory', 'ipam', 'lighthouse', 'shield', 'dns']

/** A provider and a team that exist stay as they are: a platform file has named them. */
function accountDocument(
  { provider, email, first_name = '', last_name = '' }: Request,
  password_hash: string,
  current: Current,
): object {
  const slug = slugOf(provider) || 'provider'
  return {
    ...(rowsByKey(current, providerKind).size > 0 ? {} : { provider: { name: provider } }),
    ...(rowsByKey(current, teamKind).has(slug)
      ? {}
      : { teams: [{ slug, name: provider, modules: allModules }] }),
    users: [
      {
        email,
        first_name,
        last_name,
        password_hash,
        staff: true,
        teams: [{ team: slug, roles: ['admin'] }],
      },
    ],
  }
}

// Signing out at identity providers: where a browser signs out (RP-initiated), and what a provider states by its back channel. A statement ends the proofs of the
// provider; a session that has others stays.
import { writeAudit } from '../db/audit.ts'
import type { Operation } from '../operation/operation.ts'
import type { RequestSource } from '../session/request-source.ts'
import { SignInFailure, type LogoutStatement } from './identity-provider.ts'
import { openProvider, signedOutUri, type OpenProviderDeps } from './open-provider.ts'
import { claimAssertion, findSignInProvider, isSaml } from './provider.store.ts'
import { endStatedProofs, findProofProvider } from './sign-out.store.ts'
import type { Db, Trx } from '../db/postgres.ts'

export type SignOutDeps = OpenProviderDeps & { readonly db: Db }

/** A provider that does not answer keeps nobody from signing out here. */
export async function startSignOut(
  deps: SignOutDeps,
  { actor }: Operation,
): Promise<{ redirect: string | null }> {
  const none = { redirect: null }
  const proof = actor.kind === 'user' ? await findProofProvider(deps.db, actor.sessionId) : undefined
  const provider = proof && (await findSignInProvider(deps.db, { id: proof.provider_id }))
  if (provider?.status !== 'active' || isSaml(provider.settings)) return none
  if (provider.settings.sign_out_at_provider !== true) return none
  try {
    const redirect = await openProvider(deps, provider).signOutUrl?.(
      proof!.email,
      signedOutUri(deps.publicUrl),
    )
    return { redirect: redirect ?? null }
  } catch (error) {
    if (error instanceof SignInFailure) return none
    throw error
  }
}

/** Returns the number of accounts that were signed out. Throws SignInFailure. */
export async function acceptLogout(
  deps: SignOutDeps,
  { requestId, address }: RequestSource,
  key: string,
  token: string,
): Promise<number> {
  const provider = await findSignInProvider(deps.db, { key })
  if (!provider || isSaml(provider.settings)) throw new SignInFailure('issuer')
  const statement = await openProvider(deps, provider).readLogout?.(token)
  if (!statement) throw new SignInFailure('document')
  const { id, teamId } = provider
  return deps.db.transaction().execute(async (trx) => {
    // If the rest fails, the provider may send the token again.
    await requireNew(trx, key, statement)
    const users = await endStatedProofs(trx, id, statement)
    const entries = users.map((userId) => ({
      teamId,
      actor: `provider:${id}`,
      action: 'session.logout',
      target: `user:${userId}`,
      after: { provider: id },
      requestId,
      address,
    }))
    await writeAudit(trx, ...entries)
    return users.length
  })
}

async function requireNew(trx: Trx, key: string, { id, expires }: LogoutStatement): Promise<void> {
  if (!(await claimAssertion(trx, key, id, expires))) throw new SignInFailure('replayed')
}

// Which account an assertion belongs to: six rules, in their order. Pure; what no rule allows is refused.
import type { SignInReason } from '@pharos/contract/sign-in-reason'

/** What is known when the assertion arrives. */
export type LinkFacts = {
  /** The link of the subject, if there is one. It is suspended while the domain of its address is not verified for the team and bound to the provider. */
  readonly identity: { readonly account: AccountFacts; readonly isSuspended: boolean } | null
  readonly email: 'missing' | 'unverified' | 'stated'
  /** The domain of the address is verified for the team now, and bound to the provider. */
  readonly isDomainBound: boolean
  /** The account with the address. */
  readonly account: AccountFacts | null
}

export type AccountFacts = {
  readonly id: number
  /** Staff and demo accounts: no provider of a customer signs in to them. */
  readonly isReserved: boolean
  readonly isMember: boolean
  /** The account has a password, a passkey or another team. */
  readonly isOwned: boolean
}

export type LinkDecision =
  | { readonly kind: 'known' | 'link' | 'ask'; readonly userId: number }
  | { readonly kind: 'create' }
  | { readonly kind: 'refuse'; readonly reason: SignInReason }

const refuse = (reason: SignInReason): LinkDecision => ({ kind: 'refuse', reason })

/** `ask`: a link to the mailbox of the account decides. */
export function decideLink({ identity, email, isDomainBound, account }: LinkFacts): LinkDecision {
  if (identity && !identity.isSuspended) {
    const { id: userId, isReserved } = identity.account
    return isReserved ? refuse('not_assigned') : { kind: 'known', userId }
  }
  if (email === 'missing') return refuse('email_missing')
  if (email === 'unverified') return refuse('email_unverified')
  if (!isDomainBound) return refuse('domain_not_yours')
  // The subject is linked to one account and the address belongs to another.
  if (identity && identity.account.id !== account?.id) return refuse('linked_elsewhere')
  if (!account) return { kind: 'create' }
  if (account.isReserved) return refuse('not_assigned')
  const { id: userId, isMember, isOwned } = account
  return { kind: isMember || !isOwned ? 'link' : 'ask', userId }
}

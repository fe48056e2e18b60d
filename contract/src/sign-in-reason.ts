// Why a sign-in with the identity provider of a team failed: a closed list of codes. The person who signs in reads the sentence of the code;
// admins of the team read the code with the names of the claims, never their values.
import { Enumeration } from './scalar.ts'

const texts = {
  wrong_browser: 'The sign-in was started in another browser or tab. Start again from the sign-in page.',
  expired: 'The sign-in took too long or was completed before. Start again from the sign-in page.',
  issuer: 'The answer comes from another identity provider. Start again from the sign-in page.',
  audience: 'The identity provider answered for another application. Ask an admin of your team.',
  recipient: 'The identity provider sent its answer to another address. Ask an admin of your team.',
  signature: 'The answer of the identity provider is not signed by it. Ask an admin of your team.',
  algorithm: 'The identity provider signs with an algorithm that is not accepted. Ask an admin of your team.',
  document: 'The answer of the identity provider could not be read. Ask an admin of your team.',
  time: 'The clock of the identity provider differs too much. Ask an admin of your team.',
  replayed: 'The answer of the identity provider was used before. Start again from the sign-in page.',
  nonce: 'The answer of the identity provider belongs to another sign-in. Start again from the sign-in page.',
  email_missing: 'The identity provider sent no e-mail address. Ask an admin of your team.',
  email_unverified: 'The identity provider has not verified your e-mail address. Ask an admin of your team.',
  domain_not_yours:
    'Your e-mail address is not in a domain that the team has verified for this identity provider. Ask an admin of your team.',
  linked_elsewhere:
    'An account with your e-mail address exists. Follow the link that was sent to the address, then sign in again.',
  mfa_missing:
    'The team requires a second factor, and the identity provider did not report one. Ask an admin of your team.',
  groups_overflow:
    'You are in more groups than the identity provider sends. Ask an admin of your team to assign groups to the application.',
  idp_error: 'The identity provider refused the sign-in. Try again, or ask an admin of your team.',
  unavailable: 'The identity provider does not answer. Try again later.',
  not_assigned: 'You have no role in the team. Ask an admin of your team to assign you.',
} as const

export type SignInReason = keyof typeof texts
const signInReasons = Object.keys(texts) as [SignInReason, ...SignInReason[]]

export const SignInReasonName = Enumeration('SignInReason', signInReasons)

/** Returns the sentence of a code for the person who signs in. */
export const signInReasonText = (reason: SignInReason): string => texts[reason]

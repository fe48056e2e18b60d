// From the claims of an ID token to an assertion. Pure. TokenClaims are of a foreign system: every type is checked.
import { SignInFailure, type Assertion, type OidcSettings } from '../../identity/identity-provider.ts'
import { printableNames, textForPeople } from '../../identity/stated-text.ts'

export type TokenClaims = Readonly<Record<string, unknown>>

const googleIssuer = 'https://accounts.google.com'
const groupsMax = 5_000

/** Throws SignInFailure for a Google account of another company. */
export function assertionOf(claims: TokenClaims, settings: OidcSettings): Assertion {
  const names = printableNames(Object.keys(claims))
  const subject = claims['sub']
  if (typeof subject !== 'string' || subject === '' || Buffer.byteLength(subject) > 1000)
    throw new SignInFailure('document', { claims: names })
  // All companies share the issuer: `hd` names the company (Google, OpenID Connect).
  if (settings.issuer === googleIssuer && !settings.domains.includes(String(claims['hd']).toLowerCase()))
    throw new SignInFailure('domain_not_yours', { claims: names })
  const verified = claims['email_verified']
  return {
    subject,
    email: typeof claims['email'] === 'string' ? claims['email'] : null,
    emailVerified: verified === undefined ? undefined : verified === true || verified === 'true',
    names: {
      first: textForPeople(claims['given_name']),
      last: textForPeople(claims['family_name']),
      display: textForPeople(claims['name']),
    },
    groups: groupsOf(claims, settings.groupsClaim),
    secondFactor: hasSecondFactor(claims, settings.secondFactorValues),
    claims: names,
    idpSession: sessionOf(claims['sid']),
  }
}

/** `sid` (OpenID Connect Back-Channel Logout 1.0, 2.1). */
const sessionOf = (sid: unknown): string | undefined =>
  typeof sid === 'string' && sid !== '' && sid.length <= sidMax ? sid : undefined

/** An identifier that is longer cannot be named by a logout. */
export const sidMax = 500

/** Entra ID names groups that it does not send in `_claim_names`. */
function groupsOf(claims: TokenClaims, name: string): Assertion['groups'] {
  const elsewhere = claims['_claim_names']
  if (typeof elsewhere === 'object' && elsewhere !== null && Object.hasOwn(elsewhere, name)) return 'overflow'
  const value = claims[name]
  const list: readonly unknown[] = Array.isArray(value) ? value : typeof value === 'string' ? [value] : []
  return list.length > groupsMax ? 'overflow' : list.filter((one) => typeof one === 'string')
}

/** `mfa` is RFC 8176; other values are settings of the provider. */
function hasSecondFactor({ amr, acr }: TokenClaims, accepted: readonly string[]): boolean {
  const stated = [...(Array.isArray(amr) ? (amr as unknown[]) : []), acr]
  return stated.some((value) => value === 'mfa' || (typeof value === 'string' && accepted.includes(value)))
}

// From a signed Assertion to what it states, and whether it is for this sign-in (SAML core 2.5, profiles 4.1.4.3). Pure. It gets the bytes that are signed, and
// nothing else of the answer.
import { SignInFailure, type Assertion } from '../../identity/identity-provider.ts'
import { printableNames, textForPeople } from '../../identity/stated-text.ts'
import { bearer, nameIdFormats, namespaces } from './names.ts'
import { attributeOf, elementsOf, exactText, elementText, type XmlElement } from './xml.ts'

export type Expected = {
  readonly issuer: string
  /** Our entity id. */
  readonly audience: string
  /** Our assertion consumer service. */
  readonly recipient: string
  readonly requestId: string
  readonly now: number
  readonly groupsAttribute: string
  readonly secondFactorValues: readonly string[]
}

export type ReadAssertion = {
  readonly assertion: Assertion
  readonly id: string
  /** When it can no longer be used, in milliseconds. */
  readonly expires: number
}

const skewMs = 60_000
/** From its issue, even if it states an hour, as Entra ID does: a person brings it at once. */
const lifetimeMsMax = 5 * 60_000
const groupsMax = 5_000

/** Throws SignInFailure with the reason, and XmlError. */
export function readAssertion(assertion: XmlElement, expected: Expected): ReadAssertion {
  if (assertion.name !== 'Assertion' || assertion.namespace !== namespaces.assertion)
    throw new SignInFailure('document')
  if (attributeOf(assertion, 'Version') !== '2.0') throw new SignInFailure('document')
  const attributes = readAttributes(assertion)
  const claims = printableNames(['NameID', ...attributes.keys()])
  const failure = (reason: SignInFailure['reason']) => new SignInFailure(reason, { claims })
  if (elementText(one(assertion, 'Issuer')) !== expected.issuer) throw failure('issuer')
  const subject = one(assertion, 'Subject')
  const nameId = one(subject, 'NameID')
  const value = exactText(nameId)
  const format = attributeOf(nameId, 'Format')
  // A name with spaces around it is another name, and must not become that of somebody else.
  if (
    value === '' ||
    value !== value.trim() ||
    Buffer.byteLength(value) > 1000 ||
    format === nameIdFormats.transient
  )
    throw failure('document')
  const issued = timeOf(assertion, 'IssueInstant')
  if (issued === undefined) throw failure('document')
  const lastsUntil = issued + lifetimeMsMax
  if (isFuture(issued, expected.now) || isPast(lastsUntil, expected.now)) throw failure('time')
  const confirmed = checkConfirmations(subject, expected, failure)
  checkConditions(one(assertion, 'Conditions'), expected, failure)
  const statements = named(assertion, 'AuthnStatement')
  if (statements.length === 0) throw failure('document')
  for (const statement of statements)
    if (isPast(timeOf(statement, 'SessionNotOnOrAfter'), expected.now)) throw failure('time')
  return {
    id: attributeOf(assertion, 'ID')!,
    expires: Math.min(confirmed, lastsUntil) + skewMs,
    assertion: {
      subject: value,
      email: emailOf(attributes, format === nameIdFormats.email ? value : null),
      emailVerified: undefined,
      names: {
        first: textForPeople(firstOf(attributes, attributeNames.first)),
        last: textForPeople(firstOf(attributes, attributeNames.last)),
        display: textForPeople(firstOf(attributes, attributeNames.display)),
      },
      groups: groupsOf(attributes, expected.groupsAttribute),
      secondFactor: hasSecondFactor(statements, attributes, expected.secondFactorValues),
      claims,
    },
  }
}

type Fail = (reason: SignInFailure['reason']) => SignInFailure

/** Returns when the last acceptable confirmation expires. Throws the reason of the first one if none is acceptable. */
function checkConfirmations(subject: XmlElement, expected: Expected, failure: Fail): number {
  const confirmations = named(subject, 'SubjectConfirmation')
  const results = confirmations.map((one) => checkConfirmation(one, expected))
  const accepted = results.filter((result) => typeof result === 'number')
  if (accepted.length > 0) return Math.max(...accepted)
  throw failure(results.find((result) => typeof result === 'string') ?? 'document')
}

function checkConfirmation(
  confirmation: XmlElement,
  { recipient, requestId, now }: Expected,
): number | SignInFailure['reason'] {
  if (attributeOf(confirmation, 'Method') !== bearer) return 'document'
  const [data, ...others] = named(confirmation, 'SubjectConfirmationData')
  if (!data || others.length > 0) return 'document'
  if (attributeOf(data, 'Recipient') !== recipient) return 'recipient'
  // An answer to no request is one that anybody may have started.
  if (attributeOf(data, 'InResponseTo') !== requestId) return 'nonce'
  const end = timeOf(data, 'NotOnOrAfter')
  if (end === undefined) return 'document'
  if (isPast(end, now) || isFuture(timeOf(data, 'NotBefore'), now)) return 'time'
  return end
}

const knownConditions = ['AudienceRestriction', 'OneTimeUse', 'ProxyRestriction']

function checkConditions(conditions: XmlElement, { audience, now }: Expected, failure: Fail): void {
  if (isFuture(timeOf(conditions, 'NotBefore'), now)) throw failure('time')
  if (isPast(timeOf(conditions, 'NotOnOrAfter'), now)) throw failure('time')
  const isKnown = ({ name, namespace }: XmlElement) =>
    namespace === namespaces.assertion && knownConditions.includes(name)
  if (!elementsOf(conditions).every(isKnown)) throw failure('document')
  const restrictions = named(conditions, 'AudienceRestriction')
  const isOurs = (restriction: XmlElement) =>
    named(restriction, 'Audience').some((one) => elementText(one) === audience)
  if (restrictions.length === 0 || !restrictions.every(isOurs)) throw failure('audience')
}

const isPast = (time: number | undefined, now: number): boolean => time !== undefined && time + skewMs <= now
const isFuture = (time: number | undefined, now: number): boolean => time !== undefined && time - skewMs > now

const timePattern = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?Z$/

/** SAML times are UTC (SAML core 1.3.3). */
function timeOf(element: XmlElement, name: string): number | undefined {
  const text = attributeOf(element, name)
  if (text === undefined) return undefined
  const time = timePattern.test(text) ? Date.parse(text.replace(/(\.\d{3})\d+/, '$1')) : Number.NaN
  if (Number.isNaN(time)) throw new SignInFailure('document')
  return time
}

const named = (element: XmlElement, name: string): readonly XmlElement[] =>
  elementsOf(element).filter((child) => child.namespace === namespaces.assertion && child.name === name)

function one(element: XmlElement, name: string): XmlElement {
  const [found, ...others] = named(element, name)
  if (!found || others.length > 0) throw new SignInFailure('document')
  return found
}

type Attributes = ReadonlyMap<string, readonly string[]>

/** The values of attributes by their name. Values with elements, such as a nested NameID, count as none. */
function readAttributes(assertion: XmlElement): Attributes {
  const attributes = new Map<string, string[]>()
  for (const attribute of named(assertion, 'AttributeStatement').flatMap((one) => named(one, 'Attribute'))) {
    const name = attributeOf(attribute, 'Name') ?? ''
    const values = named(attribute, 'AttributeValue')
      .filter(({ children }) => children.every((child) => typeof child === 'string'))
      .map(exactText)
    attributes.set(name, [...(attributes.get(name) ?? []), ...values])
  }
  return attributes
}

const claim = 'http://schemas.xmlsoap.org/ws/2005/05/identity/claims/'
const microsoft = 'http://schemas.microsoft.com/'
/** As Entra ID and ADFS, LDAP (RFC 2798, eduPerson), and the usual settings of Okta, Google and Keycloak name them. */
const attributeNames = {
  email: [`${claim}emailaddress`, 'urn:oid:0.9.2342.19200300.100.1.3', 'email', 'mail', 'emailAddress'],
  first: [`${claim}givenname`, 'urn:oid:2.5.4.42', 'firstName', 'givenName', 'first_name'],
  last: [`${claim}surname`, 'urn:oid:2.5.4.4', 'lastName', 'surname', 'sn', 'last_name'],
  display: [
    `${microsoft}identity/claims/displayname`,
    'urn:oid:2.16.840.1.113730.3.1.241',
    'displayName',
    'name',
  ],
  methods: [`${microsoft}claims/authnmethodsreferences`],
  groupsElsewhere: [`${microsoft}claims/groups.link`],
} as const

const firstOf = (attributes: Attributes, names: readonly string[]): string | undefined =>
  names.map((name) => attributes.get(name)?.[0]).find((value) => value !== undefined && value !== '')

/** An attribute with several addresses states none: which one is the person's is not known. */
function emailOf(attributes: Attributes, fromNameId: string | null): string | null {
  const stated = attributeNames.email.map((name) => attributes.get(name)).find((values) => values?.length)
  if (stated === undefined) return fromNameId
  return new Set(stated).size === 1 ? stated[0]! : null
}

/** Entra ID sends a link instead of more than 150 groups. */
function groupsOf(attributes: Attributes, name: string): Assertion['groups'] {
  if (attributeNames.groupsElsewhere.some((one) => attributes.has(one))) return 'overflow'
  const groups = (attributes.get(name) ?? []).filter((group) => group !== '')
  return groups.length > groupsMax ? 'overflow' : groups
}

/** REFEDS MFA, and the value of Entra ID and ADFS; others are settings of the provider. */
const multiFactor = ['https://refeds.org/profile/mfa', `${microsoft}claims/multipleauthn`]

function hasSecondFactor(
  statements: readonly XmlElement[],
  attributes: Attributes,
  accepted: readonly string[],
): boolean {
  const contexts = statements
    .flatMap((statement) => named(statement, 'AuthnContext'))
    .flatMap((context) => named(context, 'AuthnContextClassRef'))
    .map(elementText)
  const methods = attributeNames.methods.flatMap((name) => attributes.get(name) ?? [])
  return [...contexts, ...methods].some((value) => multiFactor.includes(value) || accepted.includes(value))
}

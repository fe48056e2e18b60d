// The shape of a SAML Response, before any signature is verified: one Assertion, signatures only where they belong, no element that is not expected. Wrapped signatures
// need a second place for an Assertion or a signature (XSW 1 to 8), so the shape refuses them.
import { SignInFailure } from '../../identity/identity-provider.ts'
import { namespaces, success } from './names.ts'
import { allElements, attributeOf, elementsOf, type XmlElement } from './xml.ts'

export type CheckedResponse = {
  readonly response: XmlElement
  readonly assertion: XmlElement
  readonly responseSignature: XmlElement | undefined
  readonly assertionSignature: XmlElement | undefined
}

const isOf = (namespace: string, name: string) => (element: XmlElement) =>
  element.namespace === namespace && element.name === name

const isAssertion = isOf(namespaces.assertion, 'Assertion')
const isSignature = isOf(namespaces.signature, 'Signature')
const isStatus = isOf(namespaces.protocol, 'Status')
/** The children of a Response in their order (SAML core 3.2.2). */
const order = [
  isOf(namespaces.assertion, 'Issuer'),
  isSignature,
  isOf(namespaces.protocol, 'Extensions'),
  isStatus,
  isAssertion,
]

/** Names that have one meaning here; an element that has one in another namespace imitates it. */
const ofNamespace: Readonly<Record<string, string>> = {
  Assertion: namespaces.assertion,
  Response: namespaces.protocol,
  Signature: namespaces.signature,
  SignedInfo: namespaces.signature,
}

/** Throws SignInFailure: `idp_error` for an answer without success, `signature` for one without a signature. */
export function checkDocument(root: XmlElement): CheckedResponse {
  if (!isOf(namespaces.protocol, 'Response')(root)) throw new SignInFailure('document')
  if (attributeOf(root, 'Version') !== '2.0') throw new SignInFailure('document')
  const all = [...allElements(root)]
  checkNames(all)
  checkIds(all)
  const children = elementsOf(root)
  checkOrder(children)
  const status = children.filter(isStatus)
  if (status.length !== 1) throw new SignInFailure('document')
  const assertions = all.filter(isAssertion)
  if (statusOf(status[0]!) !== success)
    throw new SignInFailure(assertions.length === 0 ? 'idp_error' : 'document')
  const [assertion, second] = assertions
  if (!assertion || second || !children.includes(assertion)) throw new SignInFailure('document')
  const responseSignature = children.find(isSignature)
  const assertionSignature = elementsOf(assertion).find(isSignature)
  const signatures = [responseSignature, assertionSignature].filter((one) => one !== undefined)
  if (all.filter(isSignature).length !== signatures.length) throw new SignInFailure('document')
  if (signatures.length === 0) throw new SignInFailure('signature')
  return { response: root, assertion, responseSignature, assertionSignature }
}

function checkNames(all: readonly XmlElement[]): void {
  const imitates = ({ name, namespace }: XmlElement) =>
    Object.hasOwn(ofNamespace, name) && ofNamespace[name] !== namespace
  if (all.some(imitates)) throw new SignInFailure('document')
  const within = (name: string, allowed: (element: XmlElement) => boolean) =>
    all
      .filter((one) => one.namespace === namespaces.signature && one.name === name)
      .every((one) => [...allElements(one)].every(allowed))
  const isForeign = ({ namespace }: XmlElement) =>
    namespace !== namespaces.assertion && namespace !== namespaces.protocol
  if (!within('Signature', isForeign)) throw new SignInFailure('document')
}

/** Each id is of one element, however its attribute is written; Response and Assertion have one. */
function checkIds(all: readonly XmlElement[]): void {
  const ids = all.flatMap(({ attributes }) =>
    attributes.filter(({ name }) => name.toLowerCase() === 'id').map(({ value }) => value),
  )
  if (new Set(ids).size !== ids.length) throw new SignInFailure('document')
  const needsId = (one: XmlElement) => isAssertion(one) || isOf(namespaces.protocol, 'Response')(one)
  for (const one of all.filter(needsId))
    if (!/^[A-Za-z_][\w.-]{0,199}$/.test(attributeOf(one, 'ID') ?? '')) throw new SignInFailure('document')
}

function checkOrder(children: readonly XmlElement[]): void {
  let last = -1
  for (const child of children) {
    const place = order.findIndex((is) => is(child))
    if (place <= last) throw new SignInFailure('document')
    last = place
  }
}

function statusOf(status: XmlElement): string | undefined {
  const code = elementsOf(status).find(isOf(namespaces.protocol, 'StatusCode'))
  return code && attributeOf(code, 'Value')
}

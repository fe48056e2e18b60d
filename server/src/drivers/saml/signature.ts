// Verifies the enveloped signature of a Response or an Assertion (XML Signature 1.1, SAML core 5.4), and returns the bytes that are signed. Who reads them, and nothing
// else, reads what the key has signed, whatever surrounds it: the signature value is of the canonical SignedInfo, whose digest is of these bytes.
import { constants, createHash, verify, type KeyObject } from 'node:crypto'
import { SignInFailure } from '../../identity/identity-provider.ts'
import { canonicalXml } from './canonical.ts'
import { enveloped, exclusive, namespaces } from './names.ts'
import { attributeOf, elementsOf, parseXml, elementText, type XmlElement } from './xml.ts'

type SignatureMethod = {
  readonly hash: string
  readonly keyType: 'rsa' | 'ec'
  readonly isPss?: true
}

const more = 'http://www.w3.org/2001/04/xmldsig-more#'
const pss = 'http://www.w3.org/2007/05/xmldsig-more#'
const signatureMethods: Readonly<Record<string, SignatureMethod>> = Object.fromEntries(
  ['256', '384', '512'].flatMap((bits): [string, SignatureMethod][] => [
    [`${more}rsa-sha${bits}`, { hash: `sha${bits}`, keyType: 'rsa' }],
    [`${pss}sha${bits}-rsa-MGF1`, { hash: `sha${bits}`, keyType: 'rsa', isPss: true }],
    [`${more}ecdsa-sha${bits}`, { hash: `sha${bits}`, keyType: 'ec' }],
  ]),
)
const digestMethods: Readonly<Record<string, string>> = {
  'http://www.w3.org/2001/04/xmlenc#sha256': 'sha256',
  'http://www.w3.org/2001/04/xmldsig-more#sha384': 'sha384',
  'http://www.w3.org/2001/04/xmlenc#sha512': 'sha512',
}

/** Returns the canonical form of the element without its signature. Throws SignInFailure unless one of the keys has signed it. */
export function signedXml(element: XmlElement, signature: XmlElement, keys: readonly KeyObject[]): string {
  const [info, value] = partsOf(signature)
  const written = canonicalXml(info, { inclusive: readSignedInfo(info).inclusive })
  const { method } = readSignedInfo(info)
  if (!keys.some((key) => isSignedBy(key, method, written, bytesOf(value))))
    throw new SignInFailure('signature')
  // Read again from the bytes that the key has signed.
  const signed = readSignedInfo(parseXml(written))
  if (signed.uri !== `#${attributeOf(element, 'ID')}`) throw new SignInFailure('document')
  const bytes = canonicalXml(element, { inclusive: signed.transformInclusive, without: signature })
  const digest = createHash(signed.digestHash).update(bytes).digest()
  if (!digest.equals(signed.digest)) throw new SignInFailure('signature')
  return bytes
}

/** SignedInfo and SignatureValue. An Object is refused: it is not signed, and has nothing to do here. */
function partsOf(signature: XmlElement): readonly [XmlElement, XmlElement] {
  const [info, value, keyInfo, ...more] = namedChildren(signature, [
    'SignedInfo',
    'SignatureValue',
    'KeyInfo',
  ])
  if (!info || !value || more.length > 0 || (keyInfo && keyInfo.name !== 'KeyInfo'))
    throw new SignInFailure('document')
  return [info, value]
}

type SignedInfo = {
  readonly method: SignatureMethod
  readonly inclusive: readonly string[]
  readonly uri: string
  readonly transformInclusive: readonly string[]
  readonly digestHash: string
  readonly digest: Buffer
}

function readSignedInfo(info: XmlElement): SignedInfo {
  const children = namedChildren(info, ['CanonicalizationMethod', 'SignatureMethod', 'Reference'])
  const [canonicalization, method, reference] = children
  if (children.length !== 3) throw new SignInFailure('document')
  const referenced = namedChildren(reference!, ['Transforms', 'DigestMethod', 'DigestValue'])
  if (referenced.length !== 3) throw new SignInFailure('document')
  const [transforms, digestMethod, digestValue] = referenced
  const steps = namedChildren(transforms!, ['Transform', 'Transform'])
  if (steps.length !== 2 || algorithmOf(steps[0]!) !== enveloped) throw new SignInFailure('algorithm')
  // Some libraries give InclusiveNamespaces to this transform too, which has no use for it.
  if (
    !elementsOf(steps[0]!).every(({ name }) => name === 'InclusiveNamespaces') ||
    elementsOf(method!).length > 0
  )
    throw new SignInFailure('algorithm')
  return {
    method: ofTable(signatureMethods, method!),
    inclusive: inclusiveOf(canonicalization!),
    uri: attributeOf(reference!, 'URI') ?? '',
    transformInclusive: inclusiveOf(steps[1]!),
    digestHash: ofTable(digestMethods, digestMethod!),
    digest: bytesOf(digestValue!),
  }
}

/** The elements within, which must be of the namespace of signatures and have these names, in this order; the last may be missing. */
function namedChildren(element: XmlElement, names: readonly string[]): readonly XmlElement[] {
  const found = elementsOf(element)
  const isUnknown = ({ name, namespace }: XmlElement, at: number) =>
    name !== names[at] || namespace !== namespaces.signature
  const hasText = element.children.some((one) => typeof one === 'string' && one.trim() !== '')
  if (found.length > names.length)
    throw new SignInFailure(element.name === 'Transforms' ? 'algorithm' : 'document')
  if (hasText || found.some(isUnknown)) throw new SignInFailure('document')
  return found
}

const algorithmOf = (element: XmlElement): string => attributeOf(element, 'Algorithm') ?? ''

function ofTable<T>(table: Readonly<Record<string, T>>, element: XmlElement): T {
  const algorithm = algorithmOf(element)
  if (!Object.hasOwn(table, algorithm)) throw new SignInFailure('algorithm')
  return table[algorithm]!
}

const isInclusive = ({ name, namespace }: XmlElement): boolean =>
  name === 'InclusiveNamespaces' && namespace === exclusive

/** The prefixes of InclusiveNamespaces. Throws SignInFailure for anything but exclusive canonicalization. */
function inclusiveOf(method: XmlElement): readonly string[] {
  const children = elementsOf(method)
  if (algorithmOf(method) !== exclusive || children.length > 1 || !children.every(isInclusive))
    throw new SignInFailure('algorithm')
  const prefixes = (children[0] && attributeOf(children[0], 'PrefixList')) ?? ''
  return prefixes
    .split(' ')
    .filter((one) => one !== '')
    .map((one) => (one === '#default' ? '' : one))
}

function bytesOf(element: XmlElement): Buffer {
  const text = elementText(element).replace(/[ \t\n\r]/g, '')
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(text)) throw new SignInFailure('document')
  return Buffer.from(text, 'base64')
}

function isSignedBy(key: KeyObject, method: SignatureMethod, written: string, value: Buffer): boolean {
  if (key.asymmetricKeyType !== method.keyType) return false
  // RFC 4050: r and s one after the other.
  const options =
    method.keyType === 'ec'
      ? ({ key, dsaEncoding: 'ieee-p1363' } as const)
      : method.isPss
        ? { key, padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: constants.RSA_PSS_SALTLEN_DIGEST }
        : { key, padding: constants.RSA_PKCS1_PADDING }
  return verify(method.hash, Buffer.from(written), options, value)
}

// Certificates with which an identity provider signs. Only their keys count in a sign-in: providers go on to sign with expired ones, and a sign-in must not end at
// midnight. The dates are checked when an admin enters them, and shown.
import { X509Certificate } from 'node:crypto'

/** Why a certificate is not accepted, as a condition of the catalogue of messages. */
export type CertificateObjection =
  | 'certificateUnreadable'
  | 'certificateExpired'
  | 'certificateWeak'
  | 'certificateKey'

const rsaBitsMin = 2048
const curves = ['prime256v1', 'secp384r1', 'secp521r1']

/** From PEM, or base64 with or without line ends, to base64 of DER; as it is if it is neither. */
export const bareCertificate = (text: string): string =>
  text.replace(/-----(?:BEGIN|END) CERTIFICATE-----/g, '').replace(/\s/g, '')

export function objectionToCertificate(certificate: string, now: Date): CertificateObjection | undefined {
  const parsed = parse(certificate)
  if (!parsed) return 'certificateUnreadable'
  if (parsed.validToDate <= now) return 'certificateExpired'
  const { asymmetricKeyType: type, asymmetricKeyDetails: { modulusLength, namedCurve } = {} } =
    parsed.publicKey
  if (type === 'rsa') return modulusLength! < rsaBitsMin ? 'certificateWeak' : undefined
  return type === 'ec' && curves.includes(namedCurve!) ? undefined : 'certificateKey'
}

/** Null if none can be read. */
export function lastExpiry(certificates: readonly string[]): Date | null {
  const ends = certificates.map((one) => parse(one)?.validToDate.getTime()).filter((end) => end !== undefined)
  return ends.length === 0 ? null : new Date(Math.max(...ends))
}

function parse(certificate: string): X509Certificate | undefined {
  try {
    return new X509Certificate(Buffer.from(certificate, 'base64'))
  } catch {
    return undefined
  }
}

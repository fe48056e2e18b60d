// security.txt of the installation (RFC 9116): where researchers report a vulnerability to the operator. Without the setting
// `security_contact` there is no such file.
import type { FastifyInstance } from 'fastify'

export type SecurityTxtDeps = {
  /** A URI; null without a contact. */
  readonly contact: string | null
  readonly now: () => Date
}

/** Adds the file. */
export function addSecurityTxt(server: FastifyInstance, { contact, now }: SecurityTxtDeps): void {
  if (contact === null) return
  server.get(path, async (_request, reply) =>
    reply
      .header('content-type', 'text/plain; charset=utf-8')
      .header('content-security-policy', "default-src 'none'; frame-ancestors 'none'")
      .header('cache-control', 'no-cache')
      .send(securityTxt(contact, server.publicUrl, now())),
  )
}

const path = '/.well-known/security.txt'

/** RFC 9116 recommends less than a year. The setting is as current as the process, so that a copy may be used for a quarter. */
const daysValid = 90

/** `Canonical` must be an https URL (section 2.5.2). */
function securityTxt(contact: string, publicUrl: string, now: Date): string {
  const expires = new Date(now)
  expires.setUTCDate(expires.getUTCDate() + daysValid)
  const fields = [
    `Contact: ${contact}`,
    `Expires: ${expires.toISOString().slice(0, 10)}T00:00:00Z`,
    ...(publicUrl.startsWith('https:') ? [`Canonical: ${publicUrl}${path}`] : []),
  ]
  return fields.map((field) => `${field}\n`).join('')
}

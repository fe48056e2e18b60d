// The sender of a request about a session, as far as it is known without a credential.
import type { IncomingHttpHeaders } from 'node:http'

export type Origin = { readonly requestId: string; readonly address: string }
export type Visitor = Origin & { readonly userAgent: string }

const userAgentLengthMax = 500

/** The User-Agent header, cut to what is stored; empty if there is none. */
export const userAgentOf = (headers: IncomingHttpHeaders): string =>
  (headers['user-agent'] ?? '').slice(0, userAgentLengthMax)

// The source of a request about a session, before a credential is known.
import type { IncomingHttpHeaders } from 'node:http'

export type RequestSource = { readonly requestId: string; readonly address: string }
export type ClientSource = RequestSource & { readonly userAgent: string }

const userAgentLengthMax = 500

/** Returns the User-Agent header, truncated to the stored length; empty if missing. */
export const userAgentOf = (headers: IncomingHttpHeaders): string =>
  (headers['user-agent'] ?? '').slice(0, userAgentLengthMax)

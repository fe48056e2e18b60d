// The page to which identity providers of OpenID Connect send logout tokens (Back-Channel Logout 1.0), outside of the API.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { requireIdentity, requireUtf8 } from '../http/body-type.ts'
import type { ClientLimiter } from '../runtime/client-limiter.ts'
import { SignInFailure } from './identity-provider.ts'
import { acceptLogout, type SignOutDeps } from './sign-out.ts'

export type LogoutPageDeps = SignOutDeps & { readonly clients: ClientLimiter }

const tokenBytesMax = 16 * 1024

type LogoutRequest = { Params: { key: string }; Body: string | null }

export function addLogoutPage(server: FastifyInstance, deps: LogoutPageDeps): void {
  server.register(async (pages) => {
    pages.removeAllContentTypeParsers()
    pages.addContentTypeParser(
      /^application\/x-www-form-urlencoded(;.*)?$/i,
      { parseAs: 'buffer', bodyLimit: tokenBytesMax },
      ({ headers }, bytes, done) => {
        requireIdentity(headers['content-encoding'])
        requireUtf8(headers['content-type'])
        const [token, ...others] = new URLSearchParams(bytes.toString('latin1')).getAll('logout_token')
        done(null, token === undefined || others.length > 0 ? null : token)
      },
    )
    pages.post<LogoutRequest>(
      '/sso/oidc/:key/logout',
      { onRequest: async ({ ip }) => void deps.clients.take(ip), bodyLimit: tokenBytesMax },
      (request, reply) => answer(deps, request, reply),
    )
  })
}

/** 2.8: 200 whether or not a session was open, 400 for a token that is not valid. */
async function answer(
  deps: LogoutPageDeps,
  { params: { key }, body, id: requestId, ip: address }: FastifyRequest<LogoutRequest>,
  reply: FastifyReply,
): Promise<FastifyReply> {
  reply.header('cache-control', 'no-store')
  try {
    if (body === null || !/^[a-z2-7]{12}$/.test(key)) throw new SignInFailure('document')
    await acceptLogout(deps, { requestId, address }, key, body)
    return reply.send()
  } catch (error) {
    if (!(error instanceof SignInFailure)) throw error
    const problem = { error: 'invalid_request', error_description: error.reason }
    return reply.status(error.reason === 'unavailable' ? 503 : 400).send(problem)
  }
}
